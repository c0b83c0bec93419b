import type {
  AllocationRequest,
  Demand,
  DrainingStatus,
  JobDependency,
  JobReservation,
  JobSpec,
  JobStatus,
  MachineFacts,
  OutputSpec,
  ReplicationCap,
  RequestReservation,
  ReservedStatus,
  ResourceStatus,
  SchedulerName,
  TaskStatus,
  Verification,
} from '../../messages/index.ts';
import type { Cause, Reason } from '../../reasons/index.ts';
import type { Requirements } from '../../requirements/index.ts';
import type { Assignment, FreeResources, ResourceCapacity, ResourceRequest } from '../../resources/index.ts';
import type { RevisedInput } from '../../resumption/index.ts';
import type { Slowness, TimeCurve } from '../../times/index.ts';
import type {
  Bytes,
  Duration,
  IndexSet,
  Instant,
  JobId,
  MachineId,
  ProcessorCount,
  ProcessorMillis,
  ProviderId,
  ReplicaId,
  RequestId,
  TaskIndex,
  UserId,
} from '../../shared/index.ts';
import type { ReplicaEnding } from './changes.ts';
import type { Dependencies } from './workflow/dependencies.ts';
import type { GrantedLease } from './leases/leases.ts';
import type { PlacementRule } from '../../workflow/index.ts';
import { createStoredContents, type StoredContents } from './results/stored-contents.ts';
import { type BrokerOptions, defaultBrokerOptions } from './options.ts';
import { createChoosing, type Choosing } from './site-selection/choosing.ts';
import type { JobSiteSelection } from './site-selection/read-site-selection.ts';
import type { TrustRecord } from './trust/trust-evidence.ts';

/**
 * All that a broker knows. *Of the moment* marks what is not promised: it is neither journaled nor in snapshots, and a
 * restarted broker learns it again.
 */
export interface BrokerState {
  readonly options: BrokerOptions;
  /** Every job ever accepted, in that order. */
  readonly jobs: Map<JobId, BrokerJob>;
  /** Those that have not ended, in the order in which they are served (`isServedBefore`). */
  readonly openJobs: Map<JobId, BrokerJob>;
  /** Of the moment: the last of those, as far as that is known without looking. */
  lastServed: BrokerJob | undefined;
  /** Jobs by user and the id that the client chose, where it chose one. */
  readonly jobsByClientId: Map<string, BrokerJob>;
  /** By job: the open jobs that wait for it. */
  readonly dependents: Map<JobId, Set<BrokerJob>>;
  /** Of those, the ones that do not only wait for its end, but for its start or for its tasks. */
  readonly earlyDependents: Map<JobId, Set<BrokerJob>>;
  /** Open jobs that begin or expire at a later time. */
  readonly timedJobs: Set<BrokerJob>;
  readonly providers: Map<ProviderId, BrokerProvider>;
  /** Those that have joined and are not lost, in the order of joining. */
  readonly machines: Map<MachineId, BrokerMachine>;
  /** Those that a machine has, by all that is known. */
  readonly replicas: Map<ReplicaId, BrokerReplica>;
  /** Gangs of which a member is on a machine, by id, in the order of placing. */
  readonly gangs: Map<number, BrokerGang>;
  /** Of the moment: those that are over and whose members have not been asked to end. */
  readonly brokenGangs: Set<BrokerGang>;
  /** Replicas that succeeded on their machine and whose result is not settled, in the order of their success. */
  readonly successes: Map<ReplicaId, Success>;
  /** All that providers ever reported, by `<provider>/<request>`. */
  readonly requests: Map<string, AllocationRequest>;
  /** Reservations that can no longer be used, by their key, as requests inside them reported. */
  readonly overReservations: Map<string, OverReservation>;
  /**
   * The present intervals of reservations that have moved since their claims were signed, by their key, as requests
   * inside them last reported.
   */
  readonly movedReservations: Map<string, MovedWindow>;
  /**
   * Of the moment: by when machines must confirm the ends of replicas that they were asked to end or to give back,
   * the earliest first. Only those that hold their task open.
   */
  readonly awaitedEnds: Map<ReplicaId, Instant>;
  /** Of the moment: when each request was last seen at its manager, by the same keys. */
  readonly requestsSeen: Map<string, Instant>;
  /** What machines have done for their trust, by identity; it outlives jobs and their presence. */
  readonly records: Map<string, TrustRecord>;
  /** Machines that get nothing new until they are undrained, by identity. */
  readonly drainedMachines: Map<string, DrainedMachine>;
  /** By `<provider>/<request>`; `<provider>/` for its time-shared machines. */
  readonly accounts: Map<string, LedgerAccount>;
  /** Of the moment. */
  readonly stored: StoredContents;
  /** Of the moment. */
  readonly planning: Planning;
  /** Of the moment. */
  readonly choosing: Choosing;
  /** Counted from 1, as `nextReplicaId`. */
  nextJobId: JobId;
  nextReplicaId: ReplicaId;
  /** Of the moment, as the next two: when the demand of providers was last computed. */
  demandsAt: Instant;
  /** When that is found out again without any input; Infinity where nothing but an input can change it. */
  demandsDue: Instant;
  /** What the driver's timer is set to; Infinity when it is not. */
  wakeAt: Instant;
}

/** A job that another one waits for still. */
export interface AwaitedJob extends JobDependency {
  /** Those of the waiting tasks that wait for it; all of the job unless each waits for its own. */
  readonly waiting: IndexSet;
}

/** What of a job is kept from starting, and until when it may start. */
export interface Gates {
  readonly awaited: AwaitedJob[];
  /** None of its tasks is started before; undefined once that has come, or where nothing was said. */
  beginAt: Instant | undefined;
  /** What has not started by then is cancelled; undefined once that has come, or where nothing was said. */
  expireAt: Instant | undefined;
}

/** A bag of tasks, or a workflow. Tasks that were never placed exist only as members of `ready` and `waiting` sets. */
export interface BrokerJob extends Gates {
  readonly jobId: JobId;
  readonly userId: UserId;
  readonly clientJobId: string;
  readonly label: string;
  readonly submittedAt: Instant;
  /** Grows while the job is open. */
  taskCount: number;
  /** It takes more tasks and does not end; false once it was closed or cancelled. */
  takesTasks: boolean;
  /** What was appended under which key of its user's, until it ends. */
  readonly appends: Map<string, Append>;
  /** Those of its tasks of which nothing else is said; of a gang, those of all members. */
  readonly processors: ProcessorCount;
  /** Each task may have its processors from several machines of one provider. */
  readonly isGang: boolean;
  /** Its last gang that was placed; 0 before the first. */
  lastGangId: ReplicaId;
  /** Of the moment: gangs of it that ended before they started, since one did. */
  failedGangStarts: number;
  /** Of the moment: no gang of it is placed before. */
  gangsPausedUntil: Instant;
  readonly replicasMax: number;
  readonly failuresMax: number;
  readonly deadline: Instant | undefined;
  /** Of two jobs, the one of the higher priority is served first, unless the other has waited for long. */
  priority: number;
  /** Most of its replicas that are at machines at once; undefined where its user sets no limit. */
  runningMax: number | undefined;
  /** Replicas of it that are at machines, of a gang its leader alone. */
  onMachines: number;
  readonly scheduler: SchedulerName;
  readonly replicationCap: ReplicationCap;
  /** As in the spec. */
  readonly verification: Verification | undefined;
  /** As in the spec. */
  readonly reservation: JobReservation | undefined;
  /** Why its reservation is over; undefined while it is not, and where it has none. */
  reservationOver: LeftReservation | undefined;
  /**
   * Undefined once every task has finished, since nothing of it can run again; its `JobAccepted` in the journal has it.
   */
  spec: JobSpec | undefined;
  /** Paths of its inputs that were read again when it was retried, as `spec` has them while it is there. */
  revisedInputs: readonly RevisedInput[];
  /** As in the spec; empty when that is undefined. */
  groups: GroupSpan[];
  /**
   * One per kind of machine wanted, then one for each provider at which tasks of it are placed; empty when the spec is
   * undefined.
   */
  queues: readonly TaskQueue[];
  /** Of its queues those of groups, by the kind of machine wanted. */
  readonly queuesByKind: Map<string, TaskQueue>;
  /** The user's setting for where its tasks are placed; undefined if there is none. */
  readonly siteSelection: JobSiteSelection | undefined;
  /** Those of its tasks that are placed and have not ended. */
  readonly assigned: Map<TaskIndex, TaskAssignment>;
  /** What its tasks wait for; undefined for a bag, and when the spec is. */
  dependencies: Dependencies | undefined;
  status: JobStatus;
  /** Empty unless its user cancelled it. */
  cancelReason: Cause;
  /** 0 while a task is open. */
  endedAt: Instant;
  /** Tasks that were placed at least once and have not ended. */
  readonly tasks: Map<TaskIndex, OpenTask>;
  /** These three are disjoint; all are empty when every task has finished and the job has ended. */
  readonly finished: IndexSet;
  readonly failed: IndexSet;
  readonly cancelled: IndexSet;
  /** All its tasks are held, and so is what is appended. */
  isHeld: boolean;
  /** Tasks that are not started until they are released, whatever they are now. */
  readonly held: IndexSet;
  /** Tasks that would be ready and are held, or wait for another job or a time. */
  readonly parked: IndexSet;
  /** Replicas ever placed. */
  replicaCount: number;
  /** Replicas that failed. */
  failureCount: number;
  /** By identity: the finished tasks whose result the machine voted for; empty unless the job votes. */
  readonly supports: Map<string, IndexSet>;
  /**
   * Tasks whose result rests on a machine that was caught after the job was over, or after others had begun to read it;
   * they are finished still.
   */
  readonly doubtful: IndexSet;
  /** Votes for accepted results beyond the first of each task, and votes against them. */
  extraVoteCount: number;
  /** Run times of replicas that succeeded, and of those that were cut off before they could end. */
  readonly times: TimeCurve;
  /** Peak memory of replicas that succeeded, and of those that were ended for it, in KiB, as times are kept. */
  readonly memoryPeaks: TimeCurve;
  /** The memory that its tasks ask for by what was measured; undefined where they ask for what its spec says. */
  chosenMemory: Bytes | undefined;
  /** What it held of each account. */
  readonly shares: Map<LedgerAccount, LedgerShare>;
  /**
   * All tasks of which two replicas or more run or wait for a verdict, or one was given up; some that had them may
   * still be among them.
   */
  readonly withSibling: Set<OpenTask>;
}

/** Tasks that were appended to an open job by one call. */
export interface Append {
  readonly firstTaskIndex: TaskIndex;
  readonly taskCount: number;
}

/** When a reservation is that has moved. */
export type MovedWindow = NonNullable<RequestReservation['movedTo']>;

/** Why a reservation can no longer be used. */
export interface OverReservation {
  readonly code: string;
  readonly reason: Reason;
}

/** What became of a job when its reservation was over. */
export interface LeftReservation extends OverReservation {
  /** Its tasks wait until they are retried; else they went on wherever there is a machine. */
  readonly waits: boolean;
  readonly at: Instant;
}

/** The span of a group's tasks in their job. */
export interface GroupSpan {
  readonly groupIndex: number;
  readonly firstTaskIndex: TaskIndex;
  readonly count: number;
  readonly queue: TaskQueue;
}

/** The ready tasks of a job that the same machines can run. */
export interface TaskQueue {
  readonly job: BrokerJob;
  readonly requirements: Requirements;
  readonly noOp: boolean;
  /** Those that each task holds at least. */
  readonly processors: ProcessorCount;
  /** Those that one can use at most. */
  readonly processorsMax: ProcessorCount;
  /** What each task holds in addition, of a gang each member; undefined for nothing. */
  resources: ResourceRequest | undefined;
  /** As its job: its tasks are placed as gangs, and nothing else places them. */
  readonly isGang: boolean;
  readonly scheduler: SchedulerName;
  /** Which request of its group this is: 0 for the first, n for its n-th alternative. */
  readonly alternative: number;
  /** Queues of the same ready tasks for each alternative, in order; empty where there are none, and of these themselves. */
  readonly alternatives: readonly TaskQueue[];
  /** How long a task is said to take with this request; undefined where nobody says, or there is no alternative. */
  readonly statedTime: Duration | undefined;
  readonly ready: IndexSet;
  /** Ready tasks that may already run without a report. Empty except while replicas are placed. */
  readonly heldBack: IndexSet;
  /** Ready ones that may be placed now, no more than what the job may still run at once. */
  readonly readyCount: number;
  /**
   * The queue of its group, of which this is the part that is placed at one provider; undefined for such a queue
   * itself.
   */
  readonly source: TaskQueue | undefined;
  /**
   * The queue of its group, of which this has the tasks that ask for more memory since theirs was too little; undefined
   * for such a queue itself, and for parts.
   */
  readonly grownFrom: TaskQueue | undefined;
  /** Of a group's queue, those of its tasks that ask for more memory by now, by that memory. */
  readonly grown: Map<Bytes, TaskQueue>;
  /**
   * Where its tasks may run: at one provider, nowhere before they are placed (of the moment), or wherever a machine is.
   */
  place: BrokerProvider | 'undecided' | undefined;
  /** Of the moment: which machines were found to match. */
  matches: WeakMap<MachineFacts, boolean>;
}

/** The provider that a task was assigned to, from the assignment to its end. */
export interface TaskAssignment {
  readonly provider: BrokerProvider;
  /** In which it waits, when it does. */
  readonly queue: TaskQueue;
  readonly at: Instant;
  /** When it should start there, as was expected at its assignment; undefined if that was not known. */
  readonly startsBy: Instant | undefined;
  /** Why there. */
  readonly reason: Cause;
}

/** A task that was placed at least once and has not ended. */
export interface OpenTask {
  readonly index: TaskIndex;
  /**
   * `ready` has no replicas; `running` has some and no success; `verifying` has a success. An ended one is in no job's
   * `tasks`.
   */
  status: TaskStatus;
  /** On machines now, the eldest first; no two on one machine. Of a gang its leader alone. */
  readonly replicas: BrokerReplica[];
  /** In the order of success; the first one's result is being settled. Undefined when there was none. */
  successes: Success[] | undefined;
  /** Of the moment: the success that is being brought home where the task is voted on. */
  accepting: Success | undefined;
  /** Its user cancelled it alone: all its replicas are being ended, and it is cancelled with the last. */
  isCancelled?: true;
  /** A replica of it has begun, whatever became of it; left out where none has. */
  hasStarted?: true;
  failureCount: number;
  /** Its memory request after it was ended for using more than it had; left out if it never was. */
  grown?: GrownMemory;
  /** Replicas that were lost with their machine or broken by it. */
  lossCount: number;
  /** Of those, the ones with machines of allocations whose end is not known yet; left out if there are none. */
  unjudged?: readonly UnjudgedLoss[];
  /** Of the losses, the ones that ended for a reason that may be the task's fault or the machine's. */
  doubtCount: number;
  /**
   * Replicas that had nearly all of the longest walltime that there is, and were cut by the end of their allocation.
   */
  walltimeCutCount: number;
  /**
   * Replicas that ran and whose machine was taken away by a shutdown or a preemption; none of them is among the losses.
   */
  stopCount: number;
  /** Where it failed last; empty when it did not. */
  avoidMachineId: MachineId;
  /** When that was. */
  avoidSince: Instant;
}

/** The memory that a task asks for in place of what its group says. */
export interface GrownMemory {
  readonly memory: Bytes;
  /** How often it was given more. */
  readonly count: number;
}

/** A machine that its user drains. */
export interface DrainedMachine {
  readonly identity: string;
  /** Its name when that was said. */
  readonly machineId: MachineId;
  readonly since: Instant;
  readonly reason: string;
}

/** A loss that does not count if its allocation turns out to have been taken away. */
export interface UnjudgedLoss {
  /** See `requestKey`. */
  readonly requestKey: string;
  readonly at: Instant;
  /** Whether the replica had begun. */
  readonly hasRun: boolean;
}

/** One run of a task on a machine, or a member of a gang. */
export interface BrokerReplica {
  readonly replicaId: ReplicaId;
  readonly job: BrokerJob;
  /**
   * Ended already when this is an aborting sibling of the winner. Of a replica that was let go, a stand-in that has
   * ended: the task itself goes on without it.
   */
  task: OpenTask;
  readonly machine: BrokerMachine;
  /** What it holds there: as many as were chosen when it was placed; of a gang each member has a part. */
  readonly processors: ProcessorCount;
  /** What it holds there in addition, once it has that; undefined for nothing. */
  readonly resources: ResourceRequest | undefined;
  /** Which request of its group that is: 0 for the first, n for its n-th alternative. */
  readonly alternative: number;
  /** Its resources; undefined while it waits for them at its machine, and if it requests none. */
  assignment: Assignment | undefined;
  /** Undefined but in a gang. */
  readonly member: GangMembership | undefined;
  readonly dispatchedAt: Instant;
  /** 0 until its machine reports it; by the machine's clock. */
  startedAt: Instant;
  /** `aborting` when its result is no longer wanted and its machine has not reported its end. */
  status: 'dispatched' | 'running' | 'aborting';
  /**
   * Its disposition when it ends; undefined unless it is aborting. `retried`: it is cancelled, and its task goes on,
   * because it was retried since. `served`: its gang's leader ended well.
   */
  abortDisposition: 'surplus' | 'cancelled' | 'retried' | 'served' | undefined;
  /** Its provider started it from its lease; such ones may be more than the job allows. */
  readonly isAdopted: boolean;
  /** Of the moment: it was asked back, should it not have started. */
  isWithdrawing: boolean;
  /** Of the moment: its end is decided in this very step and about to be applied. */
  isEnding: boolean;
}

/**
 * One run of a task on processors of several machines of one provider. Its members are replicas, one for each machine:
 * the task only knows the leader, which runs its command and whose end is the end of the task.
 */
export interface BrokerGang {
  /** The id of its leader's replica. */
  readonly gangId: ReplicaId;
  readonly job: BrokerJob;
  /** As of its members. */
  task: OpenTask;
  /** By rank; on different machines of one provider. Those that have ended are no longer in it. */
  readonly members: BrokerReplica[];
  /** How many of them are held. */
  heldCount: number;
  /** `gathered` until all were held. */
  status: 'gathered' | 'started';
  readonly dispatchedAt: Instant;
  /** The end of the member that ended first, after which the others are ended too; undefined while all are there. */
  brokenBy: FirstEnd | undefined;
}

/** How the member of a gang ended that ended first. */
export interface FirstEnd extends Pick<ReplicaEnding, 'disposition' | 'outcome' | 'reason' | 'detail'> {
  readonly machineId: MachineId;
  /** The allocation of that machine; empty where it is of none, and left out in snapshots of earlier releases. */
  readonly requestId?: RequestId;
}

/** What a replica is in its gang. */
export interface GangMembership {
  readonly gang: BrokerGang;
  /** 0 is the leader. */
  readonly rank: number;
  /** What it said of itself when it was held; undefined before. */
  held: HeldMember | undefined;
}

/** A member that has its processors and waits for the others. */
export interface HeldMember {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly at: Instant;
}

/** A replica that succeeded on its machine, whose outputs and check are not settled. */
export interface Success {
  readonly job: BrokerJob;
  readonly task: OpenTask;
  readonly machineId: MachineId;
  /** Of the machine. */
  readonly identity: string;
  /** The digest for votes; undefined until it is known, and without votes. */
  digest: string | undefined;
  /** Of the machine, which may be gone meanwhile. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Without standard output and error, which are in the records. */
  readonly ending: ReplicaEnding;
  /** The outputs that were asked of that machine, in the order of `ReplicaStart.outputs`. */
  readonly outputSpecs: readonly OutputSpec[];
  readonly account: LedgerAccount;
  /** What it held, already set aside in the account. */
  readonly charge: ProcessorMillis;
}

/** A provider that the broker was configured to use. */
export interface BrokerProvider {
  readonly providerId: ProviderId;
  address: string;
  /** It is used no more and counts for nothing, until it is added again. */
  isRemoved: boolean;
  readonly machines: Map<MachineId, BrokerMachine>;
  /** The leases whose replicas may come back, the present one last; their sequences count up. */
  readonly leases: GrantedLease[];
  /** Sequence of the last lease that it said to keep; 0 before the first. */
  confirmedLease: number;
  /** What the machines of its allocations have been like; undefined before the first. */
  pattern: MachinePattern | undefined;
  /** Of the moment, as all below. */
  isConnected: boolean;
  /** What its resource is called at its reservation manager; empty where it honours no reservations. */
  resourceId: string;
  /** It goes on with a lease while we are away; older releases do not. */
  takesLeases: boolean;
  /** It has reported all machines that it had when it connected. */
  isSynced: boolean;
  /** Its lease was sent on this connection. */
  isLeaseReported: boolean;
  /** Identities of caught machines, as they were sent to it with its lease. */
  quarantineReported: readonly string[];
  /** When its lease was last reviewed. */
  leaseSeenAt: Instant;
  /** When the connection was lost (or the broker restarted); undefined while it is connected. */
  awaySince: Instant | undefined;
  /**
   * Until when the broker waits for it to report what it holds, after its connection was lost or the broker restarted;
   * undefined after its initial sync.
   */
  listeningUntil: Instant | undefined;
  /** It has connected since it last settled, or ever: another connection before it settles is waited for no longer. */
  isListening: boolean;
  lastError: string;
  /** How far its clock is ahead of the broker's, on this connection. */
  clockOffset: Duration;
  /** The status of the reservations with demand inside, as it last reported on this connection. */
  statuses: readonly ReservedStatus[];
  /**
   * What its resource is and the state of its queue, as it last reported on this connection; undefined before, and for
   * releases that do not report it.
   */
  resource: ReceivedResource | undefined;
  /** Until when the broker waits for that report; undefined if it does not. */
  resourceAwaitedUntil: Instant | undefined;
  /**
   * Since when and why its owner drains it, as it reported on this connection, by our own clock; undefined while it
   * takes work.
   */
  draining: DrainingStatus | undefined;
  /** The demand that was last sent to it on this connection. */
  demand: Demand | undefined;
  demandAt: Instant;
  /** Since when it has a share of the tasks that nothing covers; undefined while it has none. */
  shareSince: Instant | undefined;
  /** A gang was placed there while tasks of a job before its own waited: some of those come first now. */
  owesTurn: boolean;
}

/** The state of a resource, and when it was received. */
export interface ReceivedResource {
  readonly resourceStatus: ResourceStatus;
  readonly receivedAt: Instant;
}

/** What the machines of a provider's allocations have been like so far. */
export interface MachinePattern {
  /** The most that one had. */
  readonly processors: ProcessorCount;
  /** The most that one had of each resource in addition; left out by earlier releases. */
  readonly capacity?: ResourceCapacity;
  /** The least memory of a slot that was requested and not given; left out where each had what was requested. */
  readonly memoryRefused?: Bytes;
  /** What all of them stated alike. */
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * Names under which they stated different things, or only some of them anything; in the order in which that was seen.
   */
  readonly varying: readonly string[];
}

/** A GridMachine. */
export interface BrokerMachine {
  readonly provider: BrokerProvider;
  facts: MachineFacts;
  readonly joinedAt: Instant;
  /** In the order of placing, which is that in which the machine starts them. */
  readonly replicas: Map<ReplicaId, BrokerReplica>;
  /** Those of its facts. */
  processors: ProcessorCount;
  /** Sum over `replicas`. */
  heldProcessors: ProcessorCount;
  /** The rest of its other resources after the assignments of its replicas. */
  resources: FreeResources;
  /** Replicas that wait there for something else than processors, in the order of placing. */
  readonly short: Set<BrokerReplica>;
  /** Of the moment: how many of its processors may be held, as it was when replicas were last placed. */
  allowance: ProcessorCount;
  readonly account: LedgerAccount;
  /** What its replicas were charged; never more than its presence. */
  charged: ProcessorMillis;
  finishedCount: number;
  failedCount: number;
  /** Run times of its replicas, of whatever jobs, as a job keeps them. */
  readonly times: TimeCurve;
  /** How its run times compare with those of the same jobs elsewhere. */
  slowness: Slowness;
  /** Of the moment, as all below: its provider announced it on this connection. */
  isAnnounced: boolean;
  /** It is reported only for what was kept of it: its agent is gone. */
  isGone: boolean;
  /** Reports of broken replicas since it last ended one otherwise. */
  breakages: number;
  /**
   * The job whose task last ended there for a reason that may be the task's fault or the machine's, since it last ended
   * one otherwise; 0 for none.
   */
  doubtedJobId: JobId;
  /** Nothing is placed before. */
  quarantinedUntil: Instant;
  /** Whether the reason is that it, or another machine of its allocation, is stopping. */
  isStopping: boolean;
  /** How often it reported a stop and stayed, since a replica there last ended by itself. */
  shutdownCount: number;
}

/** What the replicas on one allocation, or on a provider's time-shared machines, made of their time. */
export interface LedgerAccount extends LedgerShare {
  readonly key: string;
  readonly providerId: ProviderId;
  /** Empty for time-shared machines. */
  readonly requestId: RequestId;
  /** Presence of machines that are gone; that of the others runs on. */
  departed: ProcessorMillis;
  /** Of successes that are not settled. */
  unsettled: ProcessorMillis;
}

/** Processor-time by what it was good for. */
export interface LedgerShare {
  used: ProcessorMillis;
  losers: ProcessorMillis;
  killed: ProcessorMillis;
}

/**
 * The broker's basis for planning: the present plan, and corrections of the times in job files by ended tasks. Nothing
 * of it is promised: a restarted broker plans again.
 */
export interface Planning {
  /** Undefined while nothing is planned. */
  plan: GridPlan | undefined;
  /** Why the plan must be made again; undefined while it need not. */
  staleBecause: Reason | undefined;
  /** By job whose file states times: what its runs took, at par, compared with what was stated for them. */
  readonly calibrations: WeakMap<BrokerJob, Calibration>;
  /** How runs on a machine compare with what was expected of them, where files state times. */
  readonly paces: WeakMap<BrokerMachine, Slowness>;
  /** When tasks that run are expected to end, by `foreseenKey`. */
  readonly foreseen: Map<string, Foreseen>;
  /**
   * When the first of these is late by more than its bound; Infinity without any. Never later than that, and sometimes
   * sooner.
   */
  lateAt: Instant;
}

/** Sums over the runs of a job that ended well. */
export interface Calibration {
  readonly taken: Duration;
  readonly stated: Duration;
}

/** When a task is expected to end, and how far off that may be before the plan is made again. */
export interface Foreseen {
  readonly job: BrokerJob;
  readonly index: TaskIndex;
  readonly end: Instant;
  readonly bound: Duration;
}

/** The plan of one task. */
export interface PlannedTask {
  readonly queue: TaskQueue;
  readonly index: TaskIndex;
  readonly machine: BrokerMachine;
  readonly start: Instant;
  readonly end: Instant;
  readonly rule: PlacementRule;
  readonly heldBy: 'arrival' | 'processor' | 'data';
  /** The task whose data or end was waited for. */
  readonly behind: { readonly job: BrokerJob; readonly index: TaskIndex } | undefined;
  /** The best other machine, and when the task would have ended there. */
  readonly runnerUp: { readonly machine: BrokerMachine; readonly end: Instant } | undefined;
}

/** What was planned together. */
export interface GridPlan {
  readonly madeAt: Instant;
  readonly because: Reason;
  /** The algorithm whose plan it is. */
  readonly scheduler: string;
  /** Machines that were planned with, in their order. */
  readonly machines: readonly BrokerMachine[];
  /** Queues whose tasks could be planned. */
  readonly queues: ReadonlySet<TaskQueue>;
  /**
   * By machine: tasks that will begin there, by the planned start; those that have begun are removed when they are
   * reached.
   */
  readonly lanes: ReadonlyMap<BrokerMachine, PlannedTask[]>;
  /** What has not begun, by job and index. */
  readonly tasks: ReadonlyMap<BrokerJob, Map<TaskIndex, PlannedTask>>;
  /**
   * Tasks that were planned in detail and that no machine could take: none stays long enough, or they keep away from
   * those that do.
   */
  readonly unplaced: ReadonlyMap<BrokerJob, ReadonlySet<TaskIndex>>;
  /** When each job is expected to end, what was not planned in detail included. */
  readonly ends: ReadonlyMap<BrokerJob, Instant>;
  /** Tasks that are planned and have not begun. */
  leftCount: number;
  /** When this few tasks are left, those behind them must be planned, too; 0 if there are none. */
  readonly leftMin: number;
  /** No other plan is made before. */
  readonly notBefore: Instant;
}

/** Nothing is planned, nothing learnt. */
function createPlanning(): Planning {
  return {
    plan: undefined,
    staleBecause: undefined,
    calibrations: new WeakMap(),
    paces: new WeakMap(),
    foreseen: new Map(),
    lateAt: Infinity,
  };
}

/** A broker that knows nothing yet. */
export function createBrokerState(options: Partial<BrokerOptions> = {}): BrokerState {
  const all = { ...defaultBrokerOptions, ...options };
  return {
    options: all,
    choosing: createChoosing(all.siteSelection),
    jobs: new Map(),
    openJobs: new Map(),
    lastServed: undefined,
    dependents: new Map(),
    earlyDependents: new Map(),
    timedJobs: new Set(),
    jobsByClientId: new Map(),
    providers: new Map(),
    machines: new Map(),
    replicas: new Map(),
    gangs: new Map(),
    brokenGangs: new Set(),
    awaitedEnds: new Map(),
    successes: new Map(),
    records: new Map(),
    drainedMachines: new Map(),
    requests: new Map(),
    overReservations: new Map(),
    movedReservations: new Map(),
    requestsSeen: new Map(),
    accounts: new Map(),
    stored: createStoredContents(),
    planning: createPlanning(),
    nextJobId: 1,
    nextReplicaId: 1,
    demandsAt: -Infinity,
    demandsDue: Infinity,
    wakeAt: Infinity,
  };
}

/** What a job has whose user says nothing of it, and one that an earlier release wrote down. */
export const schedulingDefaults: Pick<BrokerJob, 'scheduler' | 'replicationCap'> = {
  scheduler: 'wqr',
  replicationCap: { kind: 'none' },
};

/** The key of a job among those of its user, where the client chose an id. */
export function clientKey(userId: UserId, clientJobId: string): string {
  return `${userId}\n${clientJobId}`;
}

/** Whether a machine is present, as far as its provider reported. */
export function isHere({ isAnnounced, isGone }: Pick<BrokerMachine, 'isAnnounced' | 'isGone'>): boolean {
  return isAnnounced && !isGone;
}

/** Whether a task is over; should it run again, it is another one. */
export function hasEnded({ status }: Pick<OpenTask, 'status'>): boolean {
  return status === 'finished' || status === 'failed' || status === 'cancelled';
}

/** A task that has ended, for what machines still run of it; should it run again, it is another one. */
export function createEndedTask(index: TaskIndex, status: TaskStatus): OpenTask {
  return { ...createOpenTask(index), status };
}

/** A task that is placed for the first time. */
export function createOpenTask(index: TaskIndex): OpenTask {
  return {
    index,
    status: 'ready',
    replicas: [],
    successes: undefined,
    accepting: undefined,
    failureCount: 0,
    lossCount: 0,
    doubtCount: 0,
    stopCount: 0,
    walltimeCutCount: 0,
    avoidMachineId: '',
    avoidSince: 0,
  };
}
