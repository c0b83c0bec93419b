import { type JobId, type MachineId, type TaskIndex, unreachable } from '../../shared/index.ts';
import type { BrokerChange, ChangeOf, ReplicaEnding } from './changes.ts';

/** What users who watch may hear of: lower-case facts about a noun. */
export type JobEventType =
  | 'job.accepted' | 'job.cancelled' | 'job.finished' | 'job.failed'
  | 'tasks.started' | 'tasks.verifying' | 'tasks.finished' | 'tasks.failed' | 'tasks.cancelled' | 'tasks.retried'
  | 'replicas.failed' | 'replicas.lost' | 'replicas.surplus' | 'replicas.withdrawn';

/** A fact about a job and some of its tasks. */
export interface JobEvent {
  readonly type: JobEventType;
  readonly jobId: JobId;
  /** Empty where the whole job is meant. */
  readonly taskIndexes: readonly TaskIndex[];
  /** Empty where none is meant. */
  readonly machineId: MachineId;
  /** A code or the user's words; empty where nothing went wrong. */
  readonly reason: string;
}

/**
 * The events that a change tells; none for changes of machines, providers and requests, and none for `ReplicasStarted`, which
 * names replicas and not tasks.
 *
 * `job.cancelled` comes when its user cancels it and again when its last replica has ended. Pure: a change of the journal gives
 * the same events at any time.
 */
export function eventsOf(change: BrokerChange): JobEvent[] {
  switch (change.kind) {
    case 'JobAccepted': return [jobEvent('job.accepted', change.jobId, '')];
    case 'JobCancelled': return [jobEvent('job.cancelled', change.jobId, change.reason)];
    case 'JobEnded': return [jobEvent(`job.${change.status}`, change.jobId, '')];
    case 'TasksRetried': return [{ ...jobEvent('tasks.retried', change.jobId, ''), taskIndexes: change.taskIndexes }];
    case 'ReplicasPlaced': return [{ ...jobEvent('tasks.started', change.jobId, ''), taskIndexes: change.taskIndexes, machineId: change.machineId }];
    case 'ReplicaVerifying': return [endingEvent('tasks.verifying', change, [change.ending])];
    case 'ReplicasEnded': return endEvents(change);
    case 'ReplicasStarted':
    case 'ProviderAdded':
    case 'MachineJoined':
    case 'MachineLost':
    case 'RequestsChanged': return [];
    default: return unreachable(change);
  }
}

function jobEvent(type: JobEventType, jobId: JobId, reason: string): JobEvent {
  return { type, jobId, taskIndexes: [], machineId: '', reason };
}

function endingEvent(
  type: JobEventType, change: ChangeOf<'ReplicasEnded'> | ChangeOf<'ReplicaVerifying'>, endings: readonly ReplicaEnding[],
): JobEvent {
  return {
    type, jobId: change.jobId, taskIndexes: endings.map((ending) => ending.taskIndex), machineId: change.machineId,
    reason: endings[0]?.reason ?? '',
  };
}

/** One event per type and reason: first what became of replicas, then what that made of their tasks. */
function endEvents(change: ChangeOf<'ReplicasEnded'>): JobEvent[] {
  const groups = new Map<string, { type: JobEventType; endings: ReplicaEnding[] }>();
  const add = (type: JobEventType | undefined, ending: ReplicaEnding) => {
    if (type === undefined) return;
    const key = `${type} ${ending.reason}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { type, endings: [ending] });
    else group.endings.push(ending);
  };
  for (const ending of change.endings) {
    add(replicaEventType(ending), ending);
    add(taskEventType(ending), ending);
  }
  return [...groups.values()].map(({ type, endings }) => endingEvent(type, change, endings));
}

function replicaEventType({ fate }: ReplicaEnding): JobEventType | undefined {
  return fate === 'accepted' || fate === 'cancelled' ? undefined : `replicas.${fate}`;
}

function taskEventType({ fate, taskStatus }: ReplicaEnding): JobEventType | undefined {
  if (fate === 'accepted') return 'tasks.finished';
  // A sister that ends after her task has ended tells nothing new of it.
  if (fate === 'surplus') return undefined;
  return taskStatus === 'failed' || taskStatus === 'cancelled' ? `tasks.${taskStatus}` : undefined;
}
