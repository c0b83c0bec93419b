export type { GangHeld, GangMember, GangPlace, StartGang } from './gang.ts';
export {
  keyOfContent, schedulerNames, type Content, type InputSource, type InputSpec, type JobSpec, type JobStatus, type Limits, type OutputSpec, type ReplicationCap, type Root, type SchedulerName,
  type Resumption, type TakenTask, type TaskEdge, type TaskGroup, type TaskStatus, type Values, type Verification,
} from './job.ts';
export type { KeptMachine, KeptMachineState, MachineReach } from './kept-machine.ts';
export type { Lease, LeaseGroup, LeaseOutline, LeaseOutlineGroup } from './lease.ts';
export { identityOf } from './machine.ts';
export type {
  InputFile, MachineFacts, MachineReport, Outcome, OutputContent, OutputFile, ReplicaEnd, ReplicaStart, StagingTimes, StartReplicas,
  TaskTemplate, TaskTimes, WorkFolder,
} from './machine.ts';
export type {
  DrainingStatus, AllocationRequest, Demand, HonouredReservation, QueueListing, QueuedRequest, QueueRanking, RequestCandidate, RequestOrder, RequestStatus, ReservedWindow, ResourceLimits, SiteReservation, TimeQuantiles,
} from './provider.ts';
export { isSameWindow } from './provider.ts';
export type { FreedProcessors, QueueStanding, QueueSummary, QueueSums, ResourceStanding } from './resource-standing.ts';
export type {
  AfterReservation, Alternative, ClaimContents, ClaimedReservation, JobReservation, Outage, PlacementRefusal, RequestReservation, ReservationName, ReservationRecord, ReservationStanding,
  ReservationStatus, ReservationWish, ReservedDemand, ResourceDimension, ResourceId, ResourceRecord, ResourceRules, ResourceState, Timing, TogetherDecision, TogetherLink,
  WishedAmount,
} from './reservation.ts';
export { describeAhead, type AheadStatus, type AheadView, type HeldAhead } from './held-ahead.ts';
export { isOfReservation, nameReservation, reservationKey } from './reservation.ts';
