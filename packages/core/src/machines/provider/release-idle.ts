import type { RequestId } from '../../shared/index.ts';
import { getRequests } from './brokers.ts';
import { decidingHeuristic, isWatching } from './heuristic.ts';
import { countBusy, servesSlot, widthOfTasks } from './slots.ts';
import { isServing, type KnownBroker } from './state.ts';
import { releaseRequest } from './submission.ts';
import type { Turn } from './turn.ts';

/**
 * If the heuristic asks for it: releases a running request on which no task has run, and for whose processors none
 * waited, during the idle time. That time allows for late reports of started tasks, and for machines that take a moment
 * to attach.
 */
export function releaseIdle(turn: Turn): void {
  const { state, now } = turn;
  const { idleSince } = state;
  if (!isWatching(state) || decidingHeuristic(state).releasesIdle !== true) {
    idleSince.clear();
    return;
  }
  const idle = new Set([...state.brokers.values()].flatMap((broker) => listIdleRequests(turn, broker)));
  for (const requestId of idleSince.keys()) if (!idle.has(requestId)) idleSince.delete(requestId);
  for (const requestId of idle) {
    const since = idleSince.get(requestId) ?? now;
    idleSince.set(requestId, Math.min(since, now));
    const request = state.requests.get(requestId);
    if (request === undefined || now < since + state.config.idleRelease) continue;
    idleSince.delete(requestId);
    const isUnused = request.taskTime === 0;
    releaseRequest(turn, request, { code: 'released-idle', idleMs: now - since }, { isUnused });
  }
}

/**
 * Running requests of a broker without a running task, if all its demand runs already; and those that hold none of the
 * slots that its tasks need, for which they would only keep the nodes. Cost: O(machines).
 */
function listIdleRequests({ state }: Turn, broker: KnownBroker): RequestId[] {
  const { demand, connectionId, brokerId } = broker;
  if (connectionId === 0 || demand === undefined || demand.pendingTasks === 0) return [];
  const busy = new Set<RequestId>();
  let busyCount = 0;
  for (const machine of state.machines.values()) {
    if (machine.brokerId !== brokerId || machine.busySince.length === 0) continue;
    const request = state.requests.get(machine.facts.requestId);
    busy.add(machine.facts.requestId);
    busyCount += countBusy(machine, widthOfTasks(request ?? {}, demand));
  }
  const otherProcessors = demand.otherProcessors ?? 0;
  const isCovered = demand.pendingTasks * demand.processors + otherProcessors <= busyCount;
  return getRequests(state, brokerId)
    .filter((request) => request.status === 'running' && isServing(request) && !busy.has(request.requestId))
    .filter((request) => isCovered || (otherProcessors === 0 && !servesSlot(request, demand.slot)))
    .map(({ requestId }) => requestId);
}
