import type { QueueListing } from '../../messages/index.ts';
import type { ProviderChange } from './changes.ts';
import { isWatching } from './heuristic.ts';
import { getClientRequestId, type KnownBroker, type ProviderState } from './state.ts';
import type { Turn } from './turn.ts';

/** Changes after which a plan for what is asked for may be another. */
const ownKinds: ReadonlySet<ProviderChange['kind']> = new Set([
  'RequestStarted',
  'RequestRequeued',
  'RequestEnded',
  'LimitsChanged',
  'DemandBegan',
  'HeuristicSwitched',
  'HeuristicSwitchForgotten',
  'RefusalsForgotten',
  'TasksCutOff',
  'DrainingEnded',
]);

/** Notes for which brokers a heuristic that watches the queue must decide, and why; a note stays until it has. */
export function noteTriggers(turn: Turn): void {
  const { state, now, changes } = turn;
  if (!isWatching(state)) return;
  const isOwn = changes.some(({ kind }) => ownKinds.has(kind));
  for (const broker of state.brokers.values()) {
    const { watch } = broker;
    if (isOwn || isDemandNew(broker) || hasLearnt(broker)) watch.trigger = 'own';
    // A review considers everything, an event of the queue only what could start at once.
    else if (now >= watch.reviewAt && watch.trigger !== 'own') watch.trigger = 'review';
    else if (turn.hasFreed === true) watch.trigger ??= 'queue';
  }
}

/**
 * Whether a listing shows less of others than the one before: then one of our requests may start earlier. Cost:
 * O(listed).
 */
export function hasFreed(state: ProviderState, before: QueueListing, after: QueueListing): boolean {
  if (after.processorsFree > before.processorsFree) return true;
  const prefix = getClientRequestId(state, '');
  const living = new Set(
    after.requests.filter(({ status }) => status !== 'ended').map(({ managerRequestId }) => managerRequestId),
  );
  return before.requests.some(
    ({ status, managerRequestId, clientRequestId }) =>
      status !== 'ended' && !living.has(managerRequestId) && !clientRequestId.startsWith(prefix),
  );
}

/** What of a demand is decided by, whichever way it changes. */
const watchedFields = ['processors', 'gangProcessors', 'deadline', 'statedTime'] as const;

/**
 * More is wanted than when it was asked, or much less, or something else, or others have learnt how long tasks take.
 */
function isDemandNew({ demand, watch: { demand: asked } }: KnownBroker): boolean {
  if (demand === undefined || demand === asked) return false;
  if (asked === undefined) return demand.pendingTasks > 0;
  return (
    demand.pendingTasks > asked.pendingTasks ||
    4 * demand.pendingTasks <= 3 * asked.pendingTasks ||
    watchedFields.some((field) => demand[field] !== asked[field]) ||
    (demand.taskTimes !== undefined && asked.taskTimes === undefined)
  );
}

/** Whether completed tasks have become a quarter more. */
function hasLearnt({ taskTimes: { count }, watch: { endedCount } }: KnownBroker): boolean {
  return count >= Math.ceil((endedCount * 5) / 4) + 1;
}
