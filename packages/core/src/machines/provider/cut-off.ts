import { groupTasks } from '../../requests/index.ts';
import { isWatched } from './heuristic.ts';
import { isOfDemand, type OwnRequest } from './state.ts';
import { commit, type Turn } from './turn.ts';

/**
 * Notes how long the tasks have run that a request's end cuts off; of heuristics that learn from it only. Cost:
 * O(machines).
 */
export function noteCutOff(turn: Turn, request: OwnRequest): void {
  const { state, now } = turn;
  const broker = state.brokers.get(request.brokerId);
  if (
    broker === undefined ||
    request.status !== 'running' ||
    !isWatched(state, request.heuristic) ||
    !isOfDemand(broker, request)
  )
    return;
  const busy = [...state.machines.values()].filter(
    ({ facts, busySince }) => facts.requestId === request.requestId && busySince > 0 && busySince < now,
  );
  const times = busy.map(({ busySince }) => now - busySince);
  if (times.length > 0)
    commit(turn, { kind: 'TasksCutOff', brokerId: broker.brokerId, groups: groupTasks(times), at: now });
}
