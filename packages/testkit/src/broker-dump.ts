import type { BrokerState, TaskQueue } from '@mutirao/core/machines/broker';
import { IndexSet } from '@mutirao/core/shared';

/**
 * What is of the moment, or laid out again from the spec: no promise, so neither a replay nor a snapshot brings it
 * back.
 */
const ofTheMoment = new Set([
  'options',
  'planning',
  'wakeAt',
  'lastServed',
  'demandsAt',
  'demandsDue',
  'requestsSeen',
  'matches',
  'isWithdrawing',
  'awaitedEnds',
  'isEnding',
  'isConnected',
  'listeningUntil',
  'isListening',
  'awaySince',
  'lastError',
  'demand',
  'demandAt',
  'shareSince',
  'isAnnounced',
  'groups',
  'breakages',
  'accepting',
  'quarantinedUntil',
  'allowance',
  'isStopping',
  'shutdownCount',
  'standardOutput',
  'standardError',
  'choosing',
  'resource',
  'resourceAwaitedUntil',
  'queue',
  'source',
  'place',
  'resourceId',
  'takesLeases',
  'isSynced',
  'isLeaseReported',
  'quarantineReported',
  'leaseSeenAt',
  'isGone',
]);

/** References that lead back into the graph are cut down to a name. */
const nameOf: Readonly<Record<string, string>> = {
  job: 'jobId',
  task: 'index',
  provider: 'providerId',
  account: 'key',
  machine: 'joinedAt',
  requirements: 'text',
  spec: 'label',
};

/**
 * All promised state of a broker as text, field by field and independent of `snapshot`: two states that promise the
 * same give
 * the same text.
 */
export function dumpBroker(state: BrokerState): string {
  return JSON.stringify(state, (key: string, value: unknown) => {
    if (ofTheMoment.has(key)) return undefined;
    if (value instanceof IndexSet) return [...value.ranges()].map(({ first, count }) => [first, count]);
    if (value instanceof Map)
      return isIndex(key)
        ? [...value.entries()].map(([name, job]) => [name, job.jobId])
        : [...value].map(([name, entry]) => [nameIn(name), entry]);
    if (Array.isArray(value)) return listOf(key, value);
    return typeof value === 'object' && value !== null ? cut(key, value as Record<string, unknown>) : value;
  });
}

function listOf(key: string, list: readonly unknown[]): unknown {
  if (key === 'queues')
    return (list as TaskQueue[])
      .filter(({ source }) => source === undefined)
      .map((queue) => getWhole(queue, list as TaskQueue[]));
  return key === 'replicas' || key === 'successes'
    ? list.map((entry) => replicaIdIn(entry as Parameters<typeof replicaIdIn>[0]))
    : list;
}

/** A queue with what is placed of it; where that is, the job says. */
function getWhole(queue: TaskQueue, all: readonly TaskQueue[]): TaskQueue {
  const ready = IndexSet.fromRanges(queue.ready.ranges());
  for (const part of all) if (part.source === queue) ready.addAll(part.ready);
  return { ...queue, ready };
}

/** Maps that lead to the jobs once more. */
function isIndex(key: string): boolean {
  return key === 'openJobs' || key === 'jobsByClientId';
}

/** An object as its name where it leads back, otherwise with its fields in the order of the alphabet. */
function cut(key: string, value: Record<string, unknown>): unknown {
  const name = nameOf[key];
  if (name !== undefined) return value[name];
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Replicas of a task, or its successes. */
function replicaIdIn(value: {
  readonly replicaId?: number;
  readonly ending?: { readonly replicaId: number };
}): number | undefined {
  return value.replicaId ?? value.ending?.replicaId;
}

/** Maps are keyed by names, or by accounts. */
function nameIn(key: unknown): unknown {
  return typeof key === 'object' && key !== null && 'key' in key ? key.key : key;
}
