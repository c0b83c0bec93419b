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
  const own = [...state.machines.values()].filter(({ facts }) => facts.requestId === request.requestId);
  const times = own.flatMap(({ busySince }) => busySince.filter((at) => at < now).map((at) => now - at));
  if (times.length > 0)
    commit(turn, { kind: 'TasksCutOff', brokerId: broker.brokerId, groups: groupTasks(times), at: now });
}
