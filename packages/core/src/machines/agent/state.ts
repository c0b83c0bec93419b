import type { Cause } from '../../reasons/index.ts';
import type {
  Content,
  GangMemberReady,
  GangMember,
  MachineReport,
  Outcome,
  ReplicaEnd,
  ReplicaStart,
  ReplicaUsage,
  TaskTemplate,
} from '../../messages/index.ts';
import { FreeResources, type Assignment, type ResourceCapacity } from '../../resources/index.ts';
import type { Bytes, Duration, Instant, ProcessorCount, ReplicaId } from '../../shared/index.ts';

/** How an agent is set up. */
export interface AgentOptions {
  readonly processors: ProcessorCount;
  /** What tasks hold in addition to processors; left out for nothing. */
  readonly capacity?: ResourceCapacity;
  /** No replica is started while this many ended ones wait for their acknowledgement. */
  readonly unacknowledgedMax: number;
  /** As above, counted in bytes of output. */
  readonly unacknowledgedBytesMax: Bytes;
  /** Between asking a task to end and killing it. */
  readonly killGrace: Duration;
  readonly endHold: EndHold;
  /** A replica that ends sooner is not reported as started. */
  readonly startedDelay: Duration;
  /** While enough replicas wait, ends are gathered into one report per interval. */
  readonly reportInterval: Duration;
  /** Most that contents of running and waiting replicas may hold together. */
  readonly contentBytesMax: Bytes;
  /** Contents are requested for this many waiting replicas, from the front of the queue. */
  readonly prefetchMax: number;
  /** How long a runner without a task stays; left out where this machine keeps no runners. */
  readonly runnerIdleMax?: Duration;
}

/**
 * How long the end of a process is held back before it is reported.
 *
 * What shuts a machine or an allocation down may signal every process of it at once. A task may then end before the
 * agent has its own signal, and its end
 * looks like any other. If the agent must stop while an end is held back, it drops the end and gives the replica back.
 */
export interface EndHold {
  readonly longest: Duration;
  /**
   * Every end is held for `longest`: in an allocation, which its manager may end at any moment. Otherwise an end is
   * held for a hundredth of its run time at
   * most, so that the latency of short tasks stays; only a process that a signal has ended is held for `longest`.
   */
  readonly isForAll: boolean;
}

/** The end of a process that is held back. */
export interface UnsureEnd {
  readonly end: ReplicaEnd;
  /** When it can be reported. */
  readonly sureAt: Instant;
}

/**
 * `placed` waits for processors and contents; `staging` has processors and its inputs are being put in place; `held`,
 * of members of gangs only, has both and
 * waits for the others; `running` has a process; `ending` has none any more and its outputs are being collected.
 */
export type HeldStatus = 'dispatched' | 'staging' | 'held' | 'running' | 'ending';

/** Why the agent ends a replica; reported as its end afterwards. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly reason: string;
  readonly detail: Cause;
}

/** A replica that has not ended. */
export interface HeldReplica {
  readonly template: TaskTemplate;
  readonly start: ReplicaStart;
  status: HeldStatus;
  /** Its contents are asked for or here, and counted in `contents`. */
  isAsked: boolean;
  /** Its contents that are not here yet, where they are asked for. */
  missingCount: number;
  /** Processors it holds; empty while `placed`. Its process runs on the first. */
  slots: readonly number[];
  /** Its resources in addition to processors; undefined while `placed`, and if it requests none. */
  assignment: Assignment | undefined;
  /** The runner that takes it; undefined while `placed`, and for one with a process of its own. */
  runner: ResidentRunner | undefined;
  /** Of the gang that it is a member of, once that has started; empty before, and for all others. */
  members: readonly GangMember[];
  /** 0 while `placed`, `staging` or `held`. */
  startedAt: Instant;
  /** When its contents were asked for; 0 before, and where none was missing. */
  inputsAskedAt: Instant;
  /** When the last of them arrived; 0 before. */
  inputsHereAt: Instant;
  /** When its inputs began to be put in place; 0 before, and without inputs. */
  inputsPlacingAt: Instant;
  /** When its process ended; 0 before, and without a process. */
  processEndedAt: Instant;
  /** When its outputs began to be collected; 0 before, and without outputs. */
  commandEndedAt: Instant;
  /** Set once it must end for another reason than its own. */
  verdict: Verdict | undefined;
  /** When to ask it to end or, once it has been asked, to kill it; undefined for never. Only while `running`. */
  deadline: Instant | undefined;
  /** How its process ended; undefined before. */
  result: ProcessResult | undefined;
}

/** A resident process that takes tasks of one job and one user, one after another. */
export interface ResidentRunner {
  /** Tasks with the same key may share it. */
  readonly key: string;
  /** Processors that it takes tasks with; its process is on the first. Others may take them while it is idle. */
  readonly slots: readonly number[];
  /** What it and its tasks hold in addition to processors, also while it is idle; undefined for nothing. */
  readonly assignment: Assignment | undefined;
  /** Since when it has had no task; undefined while it has one. */
  idleSince: Instant | undefined;
}

/** What a process left. */
export interface ProcessResult {
  /** As a shell reports it: 128 + its number for a signal, which a program may also return by itself. */
  readonly exitStatus: number;
  /** The signal that ended it, where one is known to have; left out otherwise. */
  readonly signal?: number | undefined;
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
  readonly outputTruncated: boolean;
  /** What it wrote to both, kept or not. */
  readonly outputBytes: Bytes;
  /** What its processes used; left out where that was not measured. */
  readonly usage?: ReplicaUsage;
}

/** A content that replicas need. */
export interface HeldContent {
  readonly content: Content;
  isHere: boolean;
  /** Replicas that need it, at least one. */
  readonly users: Set<ReplicaId>;
}

/** Everything that an agent knows. Nothing of it is promised beyond its own life, so nothing is journaled. */
export interface AgentState {
  readonly options: AgentOptions;
  /** All replicas that have not ended, by id. */
  readonly replicas: Map<ReplicaId, HeldReplica>;
  /** Those that are `placed`, in the order in which they came. */
  readonly queue: HeldReplica[];
  /** Processors that no replica holds; the last one is taken first. */
  readonly freeSlots: number[];
  /** What no replica holds in addition to processors. */
  readonly freeResources: FreeResources;
  /** Runners that have been started and not ended; those in use are also their replicas'. */
  runners: ResidentRunner[];
  /** By `keyOfContent`; only what a replica needs. */
  readonly contents: Map<string, HeldContent>;
  /** Sum of the sizes of `contents`. */
  contentBytes: Bytes;
  /** Replicas in `queue` whose contents have not been asked for. */
  unaskedCount: number;
  /** Whether a provider listens. */
  isAttached: boolean;
  isDraining: boolean;
  /** The command `Leave` was given. */
  hasLeft: boolean;
  /** Started replicas whose start may still have to be reported, in the order of their starts; some have ended. */
  readonly unreportedStarts: HeldReplica[];
  /** Members that listen and are in no report yet; each is `held`. */
  unreportedHolds: GangMemberReady[];
  /** Ends that are held back; none of them is in `unreportedEnds`. */
  unsureEnds: UnsureEnd[];
  /** No end in `unsureEnds` can be reported before it; Infinity without any. */
  earliestSure: Instant;
  /** Ends that are in no report yet. */
  unreportedEnds: ReplicaEnd[];
  /** Sent and not acknowledged, in the order of their sequences. */
  readonly reports: MachineReport[];
  /** Replicas whose ends are untold or unacknowledged. */
  readonly endedIds: Set<ReplicaId>;
  /** Bytes of output in those ends. */
  endedBytes: Bytes;
  nextSequence: number;
  /** When the last report was made. */
  reportedAt: Instant;
  /** No replica has a deadline before it; Infinity when none has any. */
  earliestDeadline: Instant;
  /** What the last WakeAt asked for; undefined once it has passed. */
  wakeAt: Instant | undefined;
}

/** An agent that holds nothing and is not attached. */
export function createAgentState(options: AgentOptions): AgentState {
  return {
    options,
    replicas: new Map(),
    queue: [],
    freeSlots: Array.from({ length: options.processors }, (_, index) => options.processors - 1 - index),
    freeResources: new FreeResources(options.capacity),
    runners: [],
    contents: new Map(),
    contentBytes: 0,
    unaskedCount: 0,
    isAttached: false,
    isDraining: false,
    hasLeft: false,
    unreportedStarts: [],
    unreportedHolds: [],
    unsureEnds: [],
    earliestSure: Infinity,
    unreportedEnds: [],
    reports: [],
    endedIds: new Set(),
    endedBytes: 0,
    nextSequence: 1,
    reportedAt: 0,
    earliestDeadline: Infinity,
    wakeAt: undefined,
  };
}

/** Replicas that an agent reports when it attaches: held ones, and ended ones that are not acknowledged yet. */
export function listHeldReplicas(state: AgentState): ReplicaId[] {
  return [...state.replicas.keys(), ...state.endedIds];
}

/** The slot that names a replica's process and its runner: the first that it holds; -1 while it is `placed`. */
export function getSlot({ slots }: Pick<HeldReplica, 'slots'>): number {
  return slots[0] ?? -1;
}

/** Whether an agent has a replica, as `listHeldReplicas`. */
export function isHeldReplica(state: AgentState, replicaId: ReplicaId): boolean {
  return state.replicas.has(replicaId) || state.endedIds.has(replicaId);
}
