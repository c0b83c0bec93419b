import type { RequestOrder } from '../../messages/index.ts';
import type { WalltimeGain } from '../../queue/index.ts';
import { movedBy, type Instant, type ProcessorCount } from '../../shared/index.ts';
import { findMisshape, findRefusal } from './admission.ts';
import { getRequest } from './apply.ts';
import type { ClusterInput } from './inputs.ts';
import { findUse } from './plan-requests.ts';
import { commandFailed, findGain, findScoreChange, getScore } from './scores.ts';
import { getKey, roundWalltime, getWalltimeEnd, type ClusterRequest, type ClusterState } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * Begins a life: running requests are dead, and waiting ones are planned again.
 *
 * A promise that still lies ahead is kept; one that passed while the cluster was down is replaced by the first hole
 * that the kept ones leave, in the order of arrival. Then the policy makes use of the processors that the dead left.
 */
export function beginLife(turn: Turn, { away = 0, nodesAway }: ClusterInput & { kind: 'ClusterStarted' }): void {
  const { state, now } = turn;
  const { processors, clusterNodes: nodes } = state.options;
  const running = [
    ...state.plan.running.keys(),
    ...[...state.insideIds].filter((id) => getRequest(state, id).status !== 'queued'),
  ];
  for (const id of running)
    turn.change({ kind: 'RequestEnded', requestId: id, reason: 'MUT_CLUSTER_RESTARTED', at: now });
  const promises = listPromises(turn);
  turn.change({
    kind: 'ClusterStarted',
    processors: processors - away,
    at: now,
    ...(away > 0 ? { away } : {}),
    ...(nodes === undefined ? {} : { nodes }),
    ...(nodesAway === undefined ? {} : { nodesAway }),
  });
  for (const { id, width } of [...state.plan.waiting.values()]) {
    const { slot } = getRequest(state, id).order;
    if (width > processors || findMisshape(state.options, width, slot) !== undefined)
      turn.change({ kind: 'RequestEnded', requestId: id, reason: 'MUT_WIDTH_MAX', at: now });
  }
  replan(turn, promises);
}

/** Notes that processors are away, or back. */
export function noteAway(turn: Turn, { count, nodes }: ClusterInput & { kind: 'ProcessorsAway' }): void {
  const { processorsAway, nodesAway } = turn.state;
  if (count !== processorsAway || !isSameList(nodes ?? [], nodesAway))
    turn.change({ kind: 'ProcessorsAway', count, ...(nodes === undefined ? {} : { nodes }) });
}

function isSameList(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}

/**
 * Sets the capacity of the plan to the available processors.
 *
 * Those of nodes that are away are not available, but a running request holds its own until it has ended, which one on
 * a lost node will soon. Promises are kept if possible; a request that is wider than all that is left waits without
 * one. Cost: O(1), or O(n x segments) after a change.
 */
export function fitCapacity(turn: Turn): void {
  const { state, now } = turn;
  const left = state.options.processors - state.processorsAway;
  const { plan } = state;
  const processors = plan.kind === 'nodes' ? left : Math.max(state.processorsBusy, left);
  if (plan.kind === 'nodes' ? isSameList([...plan.away], state.nodesAway) : processors === plan.capacity) return;
  const promises = listPromises(turn);
  // A due request that waits for processors to be really free remains due.
  for (const { id } of state.plan.findDue(now)) promises.set(id, now);
  turn.change({ kind: 'CapacityChanged', processors, at: now });
  replan(turn, promises);
}

/**
 * The clock was set: promises and the ends of what runs move along with it; reservations are at the times that people
 * agreed on.
 */
export function followClock(turn: Turn, { by }: ClusterInput & { kind: 'ClockStepped' }): void {
  const { state, now } = turn;
  const promises = listPromises(turn);
  for (const [id, promised] of promises)
    promises.set(id, promised === undefined ? undefined : Math.max(now, movedBy(promised, by)));
  turn.change({ kind: 'ClockStepped', by, at: now });
  // The alarm was set by the clock as it was.
  state.wakeAt = undefined;
  replan(turn, promises);
}

/** What those that wait were promised. Cost: O(n). */
export function listPromises({ state }: Turn): Map<number, Instant | undefined> {
  return new Map([...state.plan.waiting.values()].map(({ id, startsAt }) => [id, startsAt]));
}

/**
 * Places waiting requests that have no place: at their promised start, if it still lies ahead and fits, or else in the
 * first hole that the kept promises leave.
 */
export function replan(turn: Turn, promises: ReadonlyMap<number, Instant | undefined>): void {
  const {
    state: {
      plan,
      options: { policy },
    },
    now,
  } = turn;
  if (policy.promises) keepPromises(turn, promises);
  for (const { id, startsAt } of [...plan.waiting.values()]) {
    if (startsAt === undefined) policy.onSubmitted(plan, id, now, turn.place);
  }
  policy.onEnded(plan, now, turn.place);
}

function keepPromises(turn: Turn, promises: ReadonlyMap<number, Instant | undefined>): void {
  const { plan } = turn.state;
  for (const request of [...plan.waiting.values()]) {
    const promised = promises.get(request.id) ?? -Infinity;
    if (promised >= turn.now && plan.fits(request, promised)) turn.place(request.id, promised);
  }
}

/**
 * Queues a request, or finds the one that the same order made before, or refuses it. Also replies the gain of a tighter
 * walltime, if it is known.
 */
export function admitRequest(turn: Turn, { replyTo, order }: ClusterInput & { kind: 'AllocationRequested' }): void {
  const { state } = turn;
  const known =
    order.clientRequestId === '' ? undefined : state.requestsByKey.get(getKey(order.userId, order.clientRequestId));
  const refusal = known === undefined ? findRefusal(state, order) : undefined;
  if (refusal !== undefined) {
    turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: false, ...refusal } });
    return;
  }
  const requestId = known?.id ?? state.nextRequestId;
  const gain = known === undefined ? queueRequest(turn, requestId, order) : undefined;
  turn.commands.push({
    kind: 'Reply',
    replyTo,
    reply: { ok: true, value: { requestId, ...(gain === undefined ? {} : { gain }) } },
  });
}

/** Returns what a tighter walltime would have gained a request that has to wait. */
function queueRequest(turn: Turn, requestId: number, asked: RequestOrder): WalltimeGain | undefined {
  const {
    state,
    state: { options, plan },
    now,
  } = turn;
  // A reservation's time is not a multiple of the walltime granularity, and requests inside it do not queue.
  if (asked.reservationId !== undefined) {
    turn.change({ kind: 'RequestQueued', requestId, order: asked, at: now });
    return undefined;
  }
  const order = { ...asked, walltime: roundWalltime(asked.walltime, options.walltimeGranularity) };
  const gain = findGain(state, order, now);
  turn.change({
    kind: 'RequestQueued',
    requestId,
    order,
    at: now,
    ...(options.order === undefined ? {} : { score: getScore(state, order.userId).score }),
  });
  options.policy.onSubmitted(plan, requestId, now, turn.place);
  return (plan.getWaiting(requestId).startsAt ?? Infinity) > now ? gain : undefined;
}

/**
 * Takes a queued request out, or kills the processes of a running one; an ended one stays as it is. An id that was
 * never given is refused.
 */
export function releaseRequest(turn: Turn, { replyTo, requestId }: ClusterInput & { kind: 'ReleaseRequested' }): void {
  const request = turn.state.requests.get(requestId);
  if (requestId >= turn.state.nextRequestId) {
    turn.commands.push({
      kind: 'Reply',
      replyTo,
      reply: { ok: false, code: 'MUT_NOT_FOUND', fault: { code: 'request-not-found', requestId } },
    });
    return;
  }
  if (request?.status === 'queued') endRequest(turn, request, 'MUT_RELEASED');
  if (request?.status === 'running') reportToEnd(turn, request, 'MUT_RELEASED');
  turn.commands.push({ kind: 'Reply', replyTo, reply: { ok: true, value: {} } });
}

/** Notes the end of a process; with the last one the request ends. */
export function noteExit(
  turn: Turn,
  { requestId, processIndex, exitStatus, reason, words }: ClusterInput & { kind: 'ProcessExited' },
): void {
  const request = turn.state.requests.get(requestId);
  if (request === undefined || !request.livingProcesses.has(processIndex)) return; // Of a former life, or a repeated report.
  if (reason !== undefined && request.status === 'running') reportToEnd(turn, request, reason);
  turn.change({
    kind: 'ProcessExited',
    requestId,
    processIndex,
    exitStatus,
    ...(words === undefined ? {} : { words }),
  });
  if (request.livingProcesses.size > 0) return;
  const { lastWords } = request;
  const failure = lastWords === undefined ? commandFailed : `${commandFailed}, its last words: ${lastWords}`;
  const ownReason = request.hasFailed ? failure : '';
  endRequest(turn, request, request.status === 'ending' ? request.endReason : ownReason);
}

/** Kills the processes of requests that reached their walltime. Cost: O(running). */
export function endWalltimes(turn: Turn): void {
  for (const id of [...turn.state.plan.running.keys(), ...turn.state.insideIds]) {
    const request = getRequest(turn.state, id);
    if (request.status === 'running' && getWalltimeEnd(turn.state, request) <= turn.now)
      reportToEnd(turn, request, 'MUT_WALLTIME_ENDED');
  }
}

/**
 * Starts the requests whose place has begun, as far as processors are really free. Cost: O(due).
 *
 * A request at its walltime holds its processors until its processes have ended, some moments later; the request that
 * was promised them waits for that, and its walltime counts from the promise. If it lost half of it, it gets a new
 * place.
 *
 * @param aside processors that are free and set aside.
 */
export function startDueRequests(turn: Turn, aside: ProcessorCount): void {
  const { state, now } = turn;
  for (const { id, walltime, startsAt = now } of state.plan.findDue(now)) {
    if (2 * (now - startsAt) >= walltime) turn.place(id, state.plan.findEarliestPlace(state.plan.getWaiting(id), now));
    const request = getRequest(state, id);
    if ((request.startsAt ?? Infinity) <= now && isReallyFree(state, request, aside)) startRequest(turn, request);
  }
}

function isReallyFree(state: ClusterState, { order, parts = [] }: ClusterRequest, aside: ProcessorCount): boolean {
  const { plan } = state;
  if (plan.kind === 'nodes') return findUse(plan, state).isFree(parts);
  return state.processorsBusy + aside + order.width <= plan.capacity;
}

/** Starts a request. @param startsAt now, for one inside a reservation. */
export function startRequest(turn: Turn, request: ClusterRequest, startsAt?: Instant): void {
  const {
    id,
    order: { width, slot, command, environment, workingDirectory },
    parts = [],
  } = request;
  const { plan } = turn.state;
  const granted = plan.kind === 'nodes' ? { grants: findUse(plan, turn.state).assign(parts, slot) } : {};
  turn.change({ kind: 'RequestStarted', requestId: id, ...(startsAt === undefined ? {} : { startsAt }), ...granted });
  turn.commands.push({
    kind: 'StartProcesses',
    requestId: id,
    width,
    command,
    environment,
    workingDirectory,
    walltimeEnd: getWalltimeEnd(turn.state, request),
    ...granted,
  });
}

/** When the next walltime ends or the next place begins; Infinity for never. Cost: O(running + inside). */
export function getNextEvent(turn: Turn): Instant {
  const {
    state,
    state: { plan, requests },
  } = turn;
  let next = plan.nextStartAfter(turn.now);
  for (const id of [...plan.running.keys(), ...state.insideIds]) {
    const request = requests.get(id);
    if (request?.status === 'running') next = Math.min(next, getWalltimeEnd(state, request));
  }
  return next;
}

/** Kills the processes of a running request; it ends when they have. */
export function reportToEnd(turn: Turn, request: ClusterRequest, reason: string): void {
  turn.change({ kind: 'RequestEnding', requestId: request.id, reason });
  turn.commands.push({ kind: 'KillProcesses', requestId: request.id });
}

/** Ends a request and makes use of what it leaves. */
export function endRequest(turn: Turn, request: ClusterRequest, reason: string): void {
  const scoreChange = findScoreChange(turn.state, request, reason, turn.now);
  turn.change({ kind: 'RequestEnded', requestId: request.id, reason, at: turn.now });
  if (scoreChange !== undefined) turn.change(scoreChange);
  turn.state.options.policy.onEnded(turn.state.plan, turn.now, turn.place);
}
