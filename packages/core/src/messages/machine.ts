import type { Cause } from '../reasons/index.ts';
import { emptyCapacity, type ResourceCapacity, type ResourceRequest } from '../resources/index.ts';
import type { Bytes, Duration, Instant, MachineId, ProcessorCount, ReplicaId, RequestId } from '../shared/index.ts';
import type { GangMemberReady, GangMembership } from './gang.ts';
import type { Content, Limits, Root, Runner } from './job.ts';
import type { ReservationName } from './reservation.ts';

/** What a GridMachine is. */
export interface MachineFacts {
  readonly machineId: MachineId;
  /** Names the agent's process: a restarted agent has another incarnation and holds nothing of the former one's. */
  readonly incarnation: string;
  readonly processors: ProcessorCount;
  /** For requirements; names in lower case, values as the owner states them. */
  readonly attributes: Readonly<Record<string, string>>;
  /** End of its allocation; undefined for a machine that stays. */
  readonly until: Instant | undefined;
  /** The request that it was allocated by; empty for a time-shared machine. */
  readonly requestId: RequestId;
  /**
   * Identifies the host under any name, as far as the agent can determine; left out or empty, the machine is known by
   * its name alone.
   */
  readonly identity?: string | undefined;
  /**
   * Marks of the home folders that it says to read, for its incarnation alone; left out where there are none, and by
   * brokers.
   */
  readonly homeMarks?: readonly string[];
  /**
   * The reservation that its request runs inside: only jobs inside the same one run on it. Left out for one of no
   * reservation.
   */
  readonly reservation?: ReservationName;
  /** It can be a member of a gang, and its provider passes on what that needs; left out where not. */
  readonly takesGangs?: true;
  /**
   * Tasks of no other user run on it; left out for a machine of all users. Empty from an agent: the owner of its
   * provider.
   */
  readonly onlyUser?: string;
  /**
   * How long the agent delays the report of each task's end; left out for no delay. Its queue must last for that time
   * too.
   */
  readonly reportDelay?: Duration;
  /** What it has in addition to processors; left out by agents of earlier releases. */
  readonly capacity?: ResourceCapacity;
}

/** What identifies a machine whatever its name is: its identity, or its name if it has no identity. */
export function getIdentity({ identity = '', machineId }: Pick<MachineFacts, 'identity' | 'machineId'>): string {
  return identity === '' ? machineId : identity;
}

const mebibyte = 2 ** 20;

/**
 * What a machine has for tasks that ask for more than processors. Memory that its agent does not state is that of its
 * attribute `mem`, in MiB; where neither is known it has none for those that ask.
 */
export function getCapacity({
  capacity = emptyCapacity,
  attributes,
}: Pick<MachineFacts, 'capacity' | 'attributes'>): ResourceCapacity {
  if (capacity.memory > 0) return capacity;
  const mebibytes = Number(attributes['mem'] ?? '');
  return Number.isFinite(mebibytes) && mebibytes > 0
    ? { ...capacity, memory: Math.floor(mebibytes * mebibyte) }
    : capacity;
}

/** A file that a replica needs before it starts. */
export interface InputFile {
  readonly root: Root;
  readonly path: string;
  readonly content: Content;
  readonly mode: number;
}

/** A file or folder to bring home after a replica ends. */
export interface OutputFile {
  readonly root: Root;
  readonly path: string;
  /** Another task reads it: the machine keeps the output in case that task runs there. Left out if no task reads it. */
  readonly keep?: true;
}

/** Shared by the replicas of one batch. */
export interface TaskTemplate {
  readonly jobId: number;
  readonly userId: string;
  readonly command: string;
  readonly noOp: boolean;
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly processors: ProcessorCount;
  /** What each holds in addition to processors; left out for nothing. */
  readonly resources?: ResourceRequest;
  /**
   * A random text of the broker's process, for which machines that read its home folder prove it; left out where it
   * shares none.
   */
  readonly homeChallenge?: string;
  /**
   * Proof, for that text and one incarnation, that the broker has the key of its folder for outputs; left out where
   * there is none.
   */
  readonly dropProof?: string;
  /** Where the command starts; left out, in the playpen. */
  readonly workFolder?: WorkFolder;
  /** A resident program that takes the tasks, where the machine keeps one; left out for none. */
  readonly runner?: Runner;
  /** Its submitter is not the owner of the machine's provider. An agent sets it for itself; it does not travel. */
  readonly isForeign?: true;
}

/** A folder at home, and what shows whether the same path on another machine is the same folder. */
export interface WorkFolder {
  readonly path: string;
  readonly inode: string;
  /** Means something on the same host only. */
  readonly device: string;
  /** The type of its file system, in hexadecimal. */
  readonly fileSystem: string;
  /** Identifies the host and its last boot when the file system was inspected; empty if not known. */
  readonly bootId: string;
  /** It is on the file system of the home folder. */
  readonly isBesideHome: boolean;
}

/** One replica of a batch. */
export interface ReplicaStart {
  readonly replicaId: ReplicaId;
  readonly taskIndex: number;
  readonly value: string;
  readonly inputs: readonly InputFile[];
  readonly outputs: readonly OutputFile[];
  /**
   * It is a member of a gang, alone in its batch, and runs nothing before all members are held; left out for a task
   * that runs on one machine.
   */
  readonly gang?: GangMembership;
  /**
   * Outputs are brought only on success: after a failure the task runs again, and its outputs are of no use. Left out
   * if they may be needed.
   */
  readonly onSuccessOnly?: true;
}

/** Starts these replicas in order, as processors become free. */
export interface StartReplicas {
  readonly template: TaskTemplate;
  readonly replicas: readonly ReplicaStart[];
}

/**
 * How a replica ended: `succeeded` (status 0, outputs there), `failed` (another status, or an output missing),
 * `cancelled`
 * (on request), `limited` (run time, memory or output), `broken` (the machine could not run it; says nothing about the
 * task).
 */
export type Outcome = 'succeeded' | 'failed' | 'cancelled' | 'limited' | 'broken';

/** A file that came out of a replica. */
export interface OutputContent {
  /** Position in `ReplicaStart.outputs`. */
  readonly outputIndex: number;
  /** Below that output where it is a folder; empty for a file. */
  readonly path: string;
  readonly content: Content;
  readonly mode: number;
  /** The bytes, when there are few; otherwise undefined and `transferId` says under which name they were pushed. */
  readonly inline: Uint8Array | undefined;
  readonly transferId: string;
  /**
   * Or else the name of the file that holds them, in the folder that the broker offers to those who share its file
   * system; left out where there is none.
   */
  readonly droppedName?: string;
}

/** The end of a replica as its machine reports it. */
export interface ReplicaEnd {
  readonly replicaId: ReplicaId;
  readonly outcome: Outcome;
  /** As a shell reports it; 128 + number for a signal. */
  readonly exitStatus: number;
  /** 0 when it never started. */
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  /** A code of the error registry; empty for success. */
  readonly reason: string;
  readonly detail: Cause;
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
  readonly outputTruncated: boolean;
  readonly outputs: readonly OutputContent[];
  /** Left out where it had neither inputs nor outputs to bring. */
  readonly staging?: StagingTimes;
  /** Left out where it was not measured. */
  readonly usage?: ReplicaUsage;
}

/** What a replica used while it ran. */
export interface ReplicaUsage {
  /** The most memory that its processes had together. */
  readonly memoryPeak: Bytes;
  /** Of all its processes. */
  readonly processorTime: Duration;
}

/** When the files of a replica were on their way, by the clock of its machine. */
export interface StagingTimes {
  /** Its inputs were asked for; 0 where it has none, or all were in use on that machine already. */
  readonly inputsAskedAt: Instant;
  /** When the last of them arrived; 0 if one never came. */
  readonly inputsHereAt: Instant;
  /** Its processors were its own and its inputs began to be put in place; 0 where it has none, or never got so far. */
  readonly inputsPlacingAt: Instant;
  /**
   * Its command ended: from then until its end its outputs were gathered and brought home. 0 where it has none to
   * bring.
   */
  readonly commandEndedAt: Instant;
}

/** What happened on a machine since its last report; repeated with the same sequence until acknowledged. */
export interface MachineReport {
  /** Counts from 1 in each incarnation. */
  readonly sequence: number;
  /** Only replicas that still run when the report leaves. */
  readonly started: readonly { readonly replicaId: ReplicaId; readonly startedAt: Instant }[];
  readonly ended: readonly ReplicaEnd[];
  /** Members of gangs that are held since; left out where there are none. */
  readonly gangMemberReady?: readonly GangMemberReady[];
}

/** Observed run times of a provider's tasks. */
export interface TaskTimes {
  readonly longest: Duration;
  readonly mean: Duration;
  readonly count: number;
}
