import {
  countIn,
  type Duration,
  type IndexRange,
  IndexSet,
  type JobId,
  type ReplicaId,
  type TaskIndex,
} from '../../../shared/index.ts';

/** How much of the bag providers may go on with while the broker is away. */
export interface LeaseRules {
  /** For how long after the broker went away a provider may start leased replicas; 0 leases nothing. */
  readonly horizon: Duration;
  /** Most replicas of one lease. */
  readonly replicasMax: number;
  /** Least time between two leases for one provider. */
  readonly interval: Duration;
  /** Tasks of a job that are leased for each processor while nothing is known of their times. */
  readonly unknownPerSlot: number;
}

/** Leases that a provider may have without having confirmed the last; no more are granted before it does. */
export const unconfirmedMax = 4;

/**
 * Leased tasks of one job, with their replica ids: `firstReplicaId + i` is for the i-th task from the end of the
 * ranges.
 */
export interface LeasedTasks {
  readonly jobId: JobId;
  readonly groupIndex: number;
  readonly firstReplicaId: ReplicaId;
  /** Ascending, disjoint. */
  readonly taskRanges: readonly IndexRange[];
}

/** What a provider was leased. */
export interface GrantedLease {
  readonly sequence: number;
  readonly horizon: Duration;
  readonly parts: readonly LeasedTasks[];
  /** Ids that have come back with a machine; the others still may. */
  readonly adopted: Set<ReplicaId>;
  /** The same tasks by job, for looking them up. */
  readonly tasksByJob: ReadonlyMap<JobId, IndexSet>;
}

/** A lease that nothing has come back of. */
export function openLease({
  sequence,
  horizon,
  parts,
}: Pick<GrantedLease, 'sequence' | 'horizon' | 'parts'>): GrantedLease {
  const tasksByJob = new Map<JobId, IndexSet>();
  for (const { jobId, taskRanges } of parts) {
    let tasks = tasksByJob.get(jobId);
    if (tasks === undefined) tasksByJob.set(jobId, (tasks = new IndexSet()));
    for (const { first, count } of taskRanges) tasks.addRange(first, count);
  }
  return { sequence, horizon, parts, adopted: new Set(), tasksByJob };
}

/** The task that a leased id is for; undefined for an id of another lease. */
export function findLeasedTask(
  { parts }: GrantedLease,
  replicaId: ReplicaId,
): { readonly jobId: JobId; readonly taskIndex: TaskIndex } | undefined {
  for (const { jobId, firstReplicaId, taskRanges } of parts) {
    let offset = replicaId - firstReplicaId;
    if (offset < 0 || offset >= countIn(taskRanges)) continue;
    for (let at = taskRanges.length - 1; at >= 0; at--) {
      const { first, count } = taskRanges[at] as IndexRange;
      if (offset < count) return { jobId, taskIndex: first + count - 1 - offset };
      offset -= count;
    }
  }
  return undefined;
}

/** The id that a task was leased under; undefined for a task that is not of the lease. */
export function findLeasedId(
  { parts, tasksByJob }: GrantedLease,
  jobId: JobId,
  index: TaskIndex,
): ReplicaId | undefined {
  if (tasksByJob.get(jobId)?.has(index) !== true) return undefined;
  for (const { jobId: leasedJobId, firstReplicaId, taskRanges } of parts) {
    if (leasedJobId !== jobId) continue;
    let offset = 0;
    for (let at = taskRanges.length - 1; at >= 0; at--) {
      const { first, count } = taskRanges[at] as IndexRange;
      if (index >= first && index < first + count) return firstReplicaId + offset + first + count - 1 - index;
      offset += count;
    }
  }
  return undefined;
}

/** The tasks of a part with their ids, in the order of the ids. */
export function getStarts({
  firstReplicaId,
  taskRanges,
}: LeasedTasks): { readonly replicaId: ReplicaId; readonly taskIndex: TaskIndex }[] {
  const starts: { replicaId: ReplicaId; taskIndex: TaskIndex }[] = [];
  let replicaId = firstReplicaId;
  for (const { first, count } of taskRanges.toReversed()) {
    for (let index = first + count - 1; index >= first; index--)
      starts.push({ replicaId: replicaId++, taskIndex: index });
  }
  return starts;
}
