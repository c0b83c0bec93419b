export type { Content, InputSource, InputSpec, JobSpec, Limits, OutputSpec, Root, TaskGroup, Values } from './job.ts';
export type {
  InputFile, MachineFacts, MachineReport, Outcome, OutputContent, OutputFile, ReplicaEnd, ReplicaStart, StartReplicas,
  TaskTemplate, TaskTimes,
} from './machine.ts';
export type {
  AllocationRequest, Demand, QueueListing, QueuedRequest, RequestStatus, ResourceLimits,
} from './provider.ts';
