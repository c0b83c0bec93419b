import type { ResourceRequest } from '../resources/index.ts';
import type { Bytes, Duration, IndexRange, Instant, JobId, ProcessorCount, TaskIndex } from '../shared/index.ts';
import type { JobReservation } from './reservation.ts';

/** Where on a GridMachine a path begins: the replica's fresh folder, or the user's folder that outlives it. */
export type Root = 'playpen' | 'storage';

/** A file's content, known by what it holds. */
export interface Content {
  /** SHA-256 in lower-case hexadecimal, 64 digits. */
  readonly sha256: string;
  readonly size: Bytes;
  /**
   * Whose content it is, where an agent keeps those of several users apart; left out for the owner's. An agent sets it
   * for itself; it does not travel.
   */
  readonly shelf?: string;
}

/** Names a content among those of all shelves of a machine. */
export function keyOfContent({ sha256, shelf }: Pick<Content, 'sha256' | 'shelf'>): string {
  return shelf === undefined ? sha256 : `${shelf}/${sha256}`;
}

/**
 * Where a task's input comes from: a path on the home machine, an uploaded content, or what another task of the job
 * writes.
 */
export type InputSource =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'content'; readonly content: Content }
  /** `path` is that of an output of that task, as its group says it; the task waits for it. */
  | { readonly kind: 'output'; readonly taskIndex: TaskIndex; readonly path: string };

/** A file (or folder) that a task needs before it starts: JDF's `put` (root playpen) and `store` (root storage). */
export interface InputSpec {
  /** Paths may hold `{}`, `{#}` and JDF's `$JOB`, `$TASK`, `$PROC`. */
  readonly source: InputSource;
  readonly root: Root;
  /** On the machine, relative to the root. */
  readonly path: string;
  /** A requirements expression; empty holds everywhere. */
  readonly condition: string;
  /** The content when the job was submitted; left out if the path depends on the task or the machine. */
  readonly fingerprint?: string;
  /**
   * Fingerprints of inputs that changed when the job was retried, with the tasks that ran with each, the earliest
   * first; left out if none changed.
   */
  readonly former?: readonly { readonly fingerprint: string; readonly tasks: readonly IndexRange[] }[];
}

/** A file (or folder) to bring home: JDF's `get`. */
export interface OutputSpec {
  readonly root: Root;
  /** On the machine, relative to the root. */
  readonly path: string;
  /** On the home machine, absolute after submission; empty keeps the content as a blob at the broker. */
  readonly localPath: string;
  readonly condition: string;
}

/** The values of a task group, one per task. */
export type Values =
  /** first, first + step, ...; kept as three numbers however many tasks there are. */
  | { readonly kind: 'range'; readonly first: number; readonly count: number; readonly step: number }
  | { readonly kind: 'list'; readonly values: readonly string[] };

/** A program that stays on a machine and takes tasks as frames, one after another. */
export interface Runner {
  /** A line for /bin/sh -c. */
  readonly command: string;
  readonly protocolVersion: number;
}

/** The version of the frames between an agent and its runners. */
export const runnerProtocolVersion = 1;

/** Another request that a task can do with, in place of all that its group asks for. */
export interface AlternativeRequest {
  readonly processors: ProcessorCount;
  /** What it holds in addition; left out for nothing. */
  readonly resources?: ResourceRequest;
  /** How long the task is said to take with it; left out where nobody says. */
  readonly expectedTime?: Duration;
}

/** The most alternatives that a group may have. */
export const alternativesMax = 8;

/** Tasks that share all but a value. */
export interface TaskGroup {
  readonly values: Values;
  /** A line for /bin/sh -c; `{}` stands for the task's value and `{#}` for its index. */
  readonly command: string;
  /** The machine answers at once and starts nothing: measures the way there and back. */
  readonly noOp: boolean;
  readonly inputs: readonly InputSpec[];
  readonly outputs: readonly OutputSpec[];
  /**
   * Run at home after a replica succeeds; status 0 accepts the result. A template, as the command is. Empty accepts.
   */
  readonly check: string;
  /** A requirements expression; empty holds everywhere. */
  readonly requirements: string;
  /** How long a task takes by its job file; left out if that does not say. */
  readonly expectedTime?: Duration;
  /** Processors that each of its tasks holds at least; left out, as many as the job says. */
  readonly processors?: ProcessorCount;
  /**
   * The most that one can use, no fewer than at least: how many it gets is chosen when it is placed. Left out, no more
   * than at least.
   */
  readonly processorsMax?: ProcessorCount;
  /**
   * The resources of each of its tasks in addition to processors; left out, those of the job. It replaces all of these.
   */
  readonly resources?: ResourceRequest;
  /** Takes its tasks on machines that keep runners; on others the command runs. Left out for none. */
  readonly runner?: Runner;
  /** What each can do with instead, in the order of preference; left out for nothing else. At most `alternativesMax`. */
  readonly alternatives?: readonly AlternativeRequest[];
}

/** That a task begins only when another one of its job has finished. */
export interface TaskEdge {
  readonly from: TaskIndex;
  readonly to: TaskIndex;
  /** The bytes that the first one writes and the other one reads; left out if unknown. Only plans use it. */
  readonly data?: Bytes;
}

/** A task of which an earlier one's result is taken, so that it does not run. */
export interface TakenTask {
  readonly taskIndex: TaskIndex;
  /** The job and task that ran, whose records have the result. */
  readonly jobId: JobId;
  readonly fromTaskIndex: TaskIndex;
}

/** What of an earlier job is not run again. */
export interface Resumption {
  readonly jobId: JobId;
  /** By index; what they wait for is among them. */
  readonly tasks: readonly TakenTask[];
}

/** The least that `memoryGrowth` may be. */
export const memoryGrowthMin = 1.1;
/** The most. */
export const memoryGrowthMax = 16;
/** The least that the priority of a job may be; without one it has 0. */
export const priorityMin = -1000;
/** Likewise the most. */
export const priorityMax = 1000;
/** Most that a job may be allowed to run at once. */
export const runningMaxMost = 1_000_000;

/** Bounds on one replica; 0 means none. */
export interface Limits {
  readonly runTimeMax: Duration;
  readonly memoryMax: Bytes;
  /** Standard output and standard error together. */
  readonly outputMax: Bytes;
}

/** How the tasks of a job come to machines; each is a file of `core/bag`. */
export type SchedulerName = 'workqueue' | 'wqr' | 'storage-affinity' | 'sufferage' | 'min-min' | 'plan';

/** All of them, the default first. */
export const schedulerNames: readonly SchedulerName[] = [
  'wqr',
  'workqueue',
  'storage-affinity',
  'sufferage',
  'min-min',
  'plan',
];

/**
 * What replicas of a job may cost in addition to its results: `none` sets no limit; `idle` allows them only on
 * processors that would idle until their allocation ends; `share` allows losers a percentage of the accepted
 * processor-time.
 */
export type ReplicationCap =
  | { readonly kind: 'none' | 'idle' }
  /** In per cent of the processor-time that accepted replicas used; 0 to 1000. */
  | { readonly kind: 'share'; readonly percent: number };

/**
 * How a job's results are verified before they are taken: `none` accepts each without a check; `check` requires a check
 * of every task group; `vote` accepts the result of more than half of `count` machines; `credibility` accepts a result
 * that is right with probability `threshold`, by the records of the machines.
 */
export type Verification =
  | { readonly kind: 'none' }
  | { readonly kind: 'check' }
  /** 1 to 15. */
  | { readonly kind: 'vote'; readonly count: number }
  /** In (0, 1): with 0.99, 99 results of 100 should be right. */
  | { readonly kind: 'credibility'; readonly threshold: number };

/**
 * What must become of another job before tasks are started: `started`, a task of it has begun (or it has ended);
 * `ended`, whatever became of it; `succeeded`, all its tasks have finished; `failed`, it ended in another way; `each`,
 * the task of the same index has finished, for that task alone.
 */
export type DependencyCondition = (typeof dependencyConditions)[number];

/** All of them. */
export const dependencyConditions = ['started', 'ended', 'succeeded', 'failed', 'each'] as const;

/** A job that another one waits for. */
export interface JobDependency {
  readonly jobId: JobId;
  readonly condition: DependencyCondition;
}

/** Jobs that one job may wait for. */
export const dependenciesMax = 1000;

/** Tasks as their user states them, defaults filled in: a bag, or a workflow where some wait for others. */
export interface JobSpec {
  readonly label: string;
  /** Tasks are numbered through the groups, in order. Not empty, unless the job is open. */
  readonly groups: readonly TaskGroup[];
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  /** Processors that each task holds, 1 or more. */
  readonly processors: ProcessorCount;
  /** What each task holds in addition to processors, of a gang each member; left out for nothing. */
  readonly resources?: ResourceRequest;
  /**
   * A task that is ended for using more memory than it asked for runs again with this many times as much, up to the
   * largest machine; above 1. Left out, such an end is a failure like any other.
   */
  readonly memoryGrowth?: number;
  /**
   * The memory of the first requests of its tasks is where to start: once some have ended well, each asks for what
   * nearly all of them used, and never for more than a machine has. Left out, they ask for what they say.
   */
  readonly memoryAuto?: true;
  /**
   * Each task may have them from several machines of one provider, as a gang; left out if one machine must have them
   * all.
   */
  readonly gang?: true;
  /** Most replicas of one task that run at once, 1 to 16. */
  readonly replicasMax: number;
  /** Failures of a task before it is given up, 1 to 100. */
  readonly failuresMax: number;
  /** Most of its tasks that run at once, replicas counted one by one; left out, as many as there are machines for. */
  readonly runningMax?: number;
  /** From `priorityMin` to `priorityMax`; left out, 0. */
  readonly priority?: number;
  /** None of its tasks is started until they are released. */
  readonly isHeld?: true;
  /** Earlier jobs of the same user that its tasks wait for, all of them; left out for none. */
  readonly after?: readonly JobDependency[];
  /** None of its tasks is started before; left out, at once. */
  readonly beginAt?: Instant;
  /** What has not started by then is cancelled; left out, nothing is. */
  readonly expireAt?: Instant;
  /** The job is stopped when this number of its tasks has failed; left out, it never is. */
  readonly failedTasksMax?: number;
  /** Absolute; where `check` runs. */
  readonly homeDirectory: string;
  readonly deadline: Instant | undefined;
  /** Left out, `wqr`. */
  readonly scheduler?: SchedulerName;
  /**
   * `STRATEGY[:A]` of core's site selection, or `none`: which resource tasks join that take several processors. Left
   * out, as the grid does by default.
   */
  readonly siteSelection?: string;
  /** Left out, none. */
  readonly replicationCap?: ReplicationCap;
  /** Left out, the checks that there are decide. */
  readonly verification?: Verification | undefined;
  /**
   * Absolute after submission: the folder where outputs are gathered in few files. Left out, each is a file of its own.
   */
  readonly gatherFolder?: string;
  /**
   * Outputs of several tasks may go to one place at home: it is meant. Left out, such a job is refused at its
   * submission.
   */
  readonly sharedPlaces?: true;
  /**
   * Absolute after submission: the folder that its tasks start in, on machines that have the same folder. Inputs and
   * outputs in the playpen are files of it. Left out, each task has an empty folder.
   */
  readonly workFolder?: string;
  /** What its tasks wait for, without cycles; left out, or empty, they wait for nothing: the job is a bag. */
  readonly edges?: readonly TaskEdge[];
  /**
   * Its tasks run inside this reservation, and nowhere else while it lasts unless it is the job's own. Left out,
   * wherever there is a machine.
   */
  readonly reservation?: JobReservation;
  /** What the job reused when it was submitted; left out if it did not resume another. */
  readonly resumes?: Resumption;
  /** It takes more tasks and does not end until it is closed; left out, it has all its tasks from the start. */
  readonly open?: true;
}

/** The status of a task; `waiting` until its dependencies are done. */
export type TaskStatus = 'waiting' | 'ready' | 'running' | 'verifying' | 'finished' | 'failed' | 'cancelled';

/** What a job is; `cancelled` from the moment its user says so, though its replicas end later. */
export type JobStatus = 'running' | 'finished' | 'failed' | 'cancelled';
