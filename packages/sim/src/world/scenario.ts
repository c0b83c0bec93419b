import type { FirstRequestLimits } from '@mutirao/core/machines/provider';
import type { DependencyCondition, ReplicationCap, SchedulerName } from '@mutirao/core/messages';
import type { BucOrder } from '@mutirao/core/queue';
import type { BudgetLeft } from '@mutirao/core/requests';
import type { LeadRule } from '@mutirao/core/reservations';
import type { GpuShare } from '@mutirao/core/resources';
import type { Bytes, Duration, ProcessorCount } from '@mutirao/core/shared';

/** Where a reservation is from some moment on: its user renegotiated it, or its manager moved it. */
export interface ReservationMove {
  /** After the world's start; the reservation has not begun by then, nor begins before. */
  readonly after: Duration;
  /** After the world's start, as below. */
  readonly startsAfter: Duration;
  readonly duration: Duration;
  readonly count: ProcessorCount;
}

/** A reservation of a cluster that its user's job runs inside of. */
export interface ReservationPlan {
  /** Index of the cluster. */
  readonly cluster: number;
  /** After the world's start. */
  readonly startsAfter: Duration;
  readonly duration: Duration;
  readonly count: ProcessorCount;
  /** When it is cancelled, after the world's start; left out for never. */
  readonly cancelledAfter?: Duration;
  /** Its claim was changed by a letter, and is refused where it is verified. */
  readonly isForged?: boolean;
  /** In the order in which they come; left out for none. */
  readonly moves?: readonly ReservationMove[];
}

/** A bag of tasks, or a workflow, that a user will submit. */
export interface JobPlan {
  /** After the world's start. */
  readonly submittedAfter: Duration;
  readonly taskCount: number;
  /** Work of a task, on a machine of speed 1: uniform from `1 - spread` to `1 + spread` times the mean. */
  readonly meanTaskTime: Duration;
  /** In [0, 1). */
  readonly spread: number;
  readonly replicasMax: number;
  readonly failuresMax: number;
  /** It is stopped when this number of its tasks has failed; left out, never. */
  readonly failedTasksMax?: number;
  /** The number of tasks, from the front, that fail wherever they run. */
  readonly brokenTaskCount: number;
  /** Of any run of another task to fail by chance; in [0, 1). */
  readonly failureProbability: number;
  /** Files that all tasks share. */
  readonly inputCount: number;
  readonly hasOutput: boolean;
  /** Whether results are checked at home, where those of a lying machine are refused. */
  readonly isChecked: boolean;
  /** The votes that each of its results needs; left out, or 0, results are not voted on. */
  readonly voteCount?: number;
  /** Its results are taken when they are so credible, which goes before votes; left out, or 0, not by that. */
  readonly credibility?: number;
  /** When its user cancels it; left out for never. */
  readonly cancelledAfter?: Duration;
  /** When its user cancels some of its tasks; left out for never. */
  readonly tasksCancelledAfter?: Duration;
  /** Most that runs of it at once; left out, no limit. */
  readonly runningMax?: number;
  /** Left out, 0. */
  readonly priority?: number;
  /** When its user changes both of these; left out for never. */
  readonly updatedAfter?: Duration;
  /** When its user holds all its tasks, to release them a while after; left out for never. */
  readonly heldAfter?: Duration;
  /** What must become of the plan before it, before its tasks start; left out for nothing, as for the first plan. */
  readonly awaits?: DependencyCondition;
  /** From its submission on, when its tasks may start and by when they must have; left out for any time. */
  readonly beginsAfter?: Duration;
  readonly expiresAfter?: Duration;
  /** When its user retries failed or cancelled tasks; left out for never. */
  readonly retriedAfter?: Duration;
  /** Left out, the broker's default; so below. */
  readonly scheduler?: SchedulerName;
  readonly replicationCap?: ReplicationCap;
  /** Left out, its tasks run wherever there is a machine. */
  readonly reservation?: ReservationPlan;
  /**
   * Each task waits for up to this many of those before it; left out, or 0, it is a bag. Not with votes, which may take
   * results back.
   */
  readonly predecessorsMax?: number;
  /**
   * The width of its tasks, which are gangs; left out, or 0, they take one processor each. Not with votes; one provider
   * must be able to offer that many at once.
   */
  readonly gangProcessors?: ProcessorCount;
  /**
   * Which provider its gangs join, as `--site-selection` has it; left out, each goes wherever there is room. Only in
   * worlds with such jobs, providers report the state of their queues.
   */
  readonly siteSelection?: string;
  /**
   * What each of its tasks asks for in addition to processors, of a gang each member; left out for nothing. A machine
   * of a lab must have it.
   */
  readonly asks?: {
    readonly memory: Bytes;
    readonly gpus: GpuShare;
    readonly licences: number;
    /**
     * The peak memory of each: if it exceeds the request, the replica is ended, and the task gets twice as much. Left
     * out, at most the request.
     */
    readonly peak?: Bytes;
  };
}

/** What a resource manager does wrong. Each is a probability in [0, 1), of a call or of a request. */
export interface ManagerFaults {
  readonly listingFails: number;
  /** A listing is an old one. */
  readonly listingLags: number;
  /** A listing leaves out a request. */
  readonly listingLies: number;
  readonly startsLate: number;
  /** A request holds its processors and no agent ever comes. */
  readonly startsNothing: number;
  /** A request's command is started twice. */
  readonly startsTwice: number;
}

/** A request of a local user. */
export interface LocalPlan {
  /** After the world's start. */
  readonly after: Duration;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** At most the walltime. */
  readonly runTime: Duration;
}

/** A node of a cluster; GPUs as whole devices. */
export interface ClusterNodePlan {
  readonly processors: ProcessorCount;
  readonly memory: Bytes;
  readonly gpus: number;
}

/** A cluster, with a provider at its front-end. */
export interface ClusterPlan {
  readonly processors: ProcessorCount;
  /** Its nodes, with those processors together, memory and GPUs; left out if it gives only processors. */
  readonly nodes?: readonly ClusterNodePlan[];
  readonly requestsMax: number;
  readonly widthMax: ProcessorCount;
  readonly walltimeMax: Duration;
  readonly compression: 'start-now' | 'reinsert';
  /** The order of its queue by scores; left out for that of arrival. */
  readonly order?: BucOrder;
  readonly heuristic: string;
  /** What a heuristic that watches the queue may ask for, and give up, within an hour; left out, as usual. */
  readonly perHour?: BudgetLeft;
  /** Bounds on requests while no task has ended; left out, none. */
  readonly firstRequests?: FirstRequestLimits;
  /** Requests of local users in an hour; 0 for none. */
  readonly localPerHour: number;
  /** Requests of further local users, each of one user. */
  readonly local?: readonly LocalPlan[];
  /**
   * Its manager knows nothing of reservations, and its provider asks for their processors ahead by this rule; left out,
   * its manager honours them.
   */
  readonly holding?: LeadRule;
  /**
   * Whether its manager hints at each change of the queue, as the embedded one does; left out, the queue is only read
   * again and again.
   */
  readonly isWatched?: boolean;
  /** How often a node is lost in an hour, with up to all of the processors; left out, never. */
  readonly nodeLossesPerHour?: number;
  /**
   * Its manager signals every process of an allocation that it ends, tasks before agents; left out, it signals agents
   * alone.
   */
  readonly signalsTasks?: boolean;
  /**
   * How often in an hour its manager takes an allocation away by SIGKILL, and lists that only some time later; left
   * out, never.
   */
  readonly preemptionsPerHour?: number;
  /** Speeds of its nodes: uniform from `1 - spread` to `1 + spread`. */
  readonly speedSpread: number;
  readonly faults: ManagerFaults;
}

/** A time in which a machine is down. */
export interface DownTime {
  /** After the world's start. */
  readonly after: Duration;
  readonly duration: Duration;
}

/** How a machine spoils results. */
export interface SabotagePlan {
  /** Of each result to be wrong, in [0, 1]. */
  readonly probability: number;
  /** Its wrong results are those of all others that collude; else no two of them are the same. */
  readonly colludes: boolean;
  /** Its agent uses another name after each start. */
  readonly renames: boolean;
}

/** A machine of a lab. */
export interface LabMachinePlan {
  readonly processors: ProcessorCount;
  readonly speed: number;
  /** Its results are wrong, and only a check at home shows it. */
  readonly isLiar: boolean;
  /** What it has in addition, GPUs as whole devices; left out for nothing. */
  readonly has?: { readonly memory: Bytes; readonly gpus: number; readonly licences: number };
  /** What its results are while things go wrong; left out, it is honest. */
  readonly sabotage?: SabotagePlan;
  /** When it is down while things go wrong, as a log of failures says; in order. */
  readonly downs?: readonly DownTime[];
}

/** Machines of the user's own, behind one provider. */
export interface LabPlan {
  readonly machines: readonly LabMachinePlan[];
  /** How long they stay up: Weibull. Left out, for ever. */
  readonly upTime?: { readonly mean: Duration; readonly shape: number };
  readonly downTime: Duration;
}

/** Faults by the hour, each of one process, host or pair of hosts that chance picks. */
export interface FaultPlan {
  readonly crashesPerHour: number;
  /** A host falls: what its processes wrote and did not sync may be gone. */
  readonly fallsPerHour: number;
  readonly pausesPerHour: number;
  readonly pauseMax: Duration;
  readonly cutsPerHour: number;
  readonly cutMax: Duration;
  /** A connection breaks. */
  readonly breaksPerHour: number;
  readonly fullDisksPerHour: number;
  /** Clocks are wrong by up to this, either way, and by another amount after each start. */
  readonly skewMax: Duration;
  /** The clock of a host is set while its processes run; never when left out. */
  readonly clockStepsPerHour?: number;
  /**
   * The broker's journal is gone, and its user submits all jobs again to one that knows nothing; never when left out.
   */
  readonly journalLossesPerHour?: number;
}

/** What providers go on with while home is asleep, and when it is. */
export interface LeasePlan {
  /** For how long after home went away providers may start what they were leased. */
  readonly horizon: Duration;
  /** How often home falls asleep: it receives and sends nothing, and goes on where it was. */
  readonly sleepsPerHour: number;
  readonly sleepMax: Duration;
  /** Additional sleeps, during the storm. */
  readonly sleeps?: readonly DownTime[];
  /** Most bytes of reports that a provider keeps; left out, as usual. */
  readonly keptBytesMax?: number;
}

/** A world: its users' jobs, its resources, and its faults. The same scenario, the same run. */
export interface Scenario {
  readonly version: 1;
  /** All rng follows from it. */
  readonly seed: string;
  readonly jobs: readonly JobPlan[];
  readonly clusters: readonly ClusterPlan[];
  readonly labs: readonly LabPlan[];
  readonly network: {
    readonly delayMax: Duration;
    readonly lossProbability: number;
    readonly duplicateProbability: number;
  };
  readonly faults: FaultPlan;
  /** How often the user switches the request heuristic of a cluster's provider; left out, never. */
  readonly heuristicSwitchesPerHour?: number;
  /** How often the owner of a provider drains it, for a while, or says so again; left out, never. */
  readonly drainsPerHour?: number;
  /**
   * Of what a machine does for a task, staging or collecting, to fail in the storm, as on a full disk; in [0, 1), left
   * out, none.
   */
  readonly choreFailureProbability?: number;
  /**
   * Of a task that must end to be stuck in the kernel, where no signal ends it while the storm lasts; in [0, 1),
   * left out, none.
   */
  readonly stuckTaskProbability?: number;
  /** When the reservation manager is away, and neither reports changes nor answers; left out, never. */
  readonly managerAways?: readonly DownTime[];
  /** Left out, the broker leases nothing, and home does not sleep. */
  readonly lease?: LeasePlan;
  /** Longest time from an input to the turn that takes it. */
  readonly turnDelayMax: Duration;
  /** How long things may go wrong; then everything is mended, and all must come to its end. */
  readonly stormDuration: Duration;
}

/** Whether the machines of a lab go down by nothing but the faults of their world. */
export function staysUp({ upTime, machines }: LabPlan): boolean {
  return upTime === undefined && machines.every(({ downs = [] }) => downs.length === 0);
}

/** The places that a reservation ever has, first its own. */
export function listPlaces(plan: ReservationPlan): readonly Omit<ReservationMove, 'after'>[] {
  return [plan, ...(plan.moves ?? [])];
}

/** Whether home ever falls asleep. */
export function hasSleeps(lease: LeasePlan | undefined): boolean {
  return lease !== undefined && (lease.sleepsPerHour > 0 || (lease.sleeps ?? []).length > 0);
}

/** Nothing goes wrong. */
export const calmFaults: FaultPlan = {
  crashesPerHour: 0,
  fallsPerHour: 0,
  pausesPerHour: 0,
  pauseMax: 0,
  cutsPerHour: 0,
  cutMax: 0,
  breaksPerHour: 0,
  fullDisksPerHour: 0,
  skewMax: 0,
};

/** A manager that does what it says. */
export const honestManager: ManagerFaults = {
  listingFails: 0,
  listingLags: 0,
  listingLies: 0,
  startsLate: 0,
  startsNothing: 0,
  startsTwice: 0,
};
