import type { Segment } from '../../profile/index.ts';
import {
  RequestPlan,
  type NodeGrant,
  type NodePart,
  type NodePlan,
  type PlannedRequest,
  type ReservationBlock,
} from '../../queue/index.ts';
import { invariant } from '../../shared/index.ts';
import { getRequest } from './apply.ts';
import { findUse } from './plan-requests.ts';
import { getReservationBlock, type ClusterRequest, type ClusterState } from './state.ts';

/** @throws {InvariantError} when the state contradicts itself. Cost: O(requests x segments). */
export function checkInvariants(state: ClusterState): void {
  checkCounts(state);
  checkScores(state);
  checkPlan(state);
  invariant(
    state.endedIds.length <= state.options.endedMax,
    () => `${state.endedIds.length} ended requests are remembered`,
  );
  for (const request of state.requests.values()) checkRequest(state, request);
}

function checkScores({ scores }: ClusterState): void {
  for (const [userId, { score, countedCount, precisionMean }] of scores) {
    invariant(
      score >= 0 && score <= 100 && countedCount > 0 && precisionMean >= 0 && precisionMean <= 1,
      () => `${userId} has the score ${score} of ${countedCount} requests with a precision of ${precisionMean}`,
    );
  }
}

function checkCounts({ requests, processorsBusy, processorsAway, options, livingCounts, plan }: ClusterState): void {
  let busy = 0;
  const living = new Map<string, number>();
  for (const { status, order } of requests.values()) {
    if (status === 'running' || status === 'ending') busy += order.width;
    if (status !== 'ended') living.set(order.userId, (living.get(order.userId) ?? 0) + 1);
  }
  invariant(
    busy === processorsBusy && busy <= options.processors,
    () => `${busy} processors are busy, ${processorsBusy} counted, of ${options.processors}`,
  );
  const { capacity } = plan;
  invariant(
    plan.kind === 'nodes' || capacity === Math.max(busy, options.processors - processorsAway),
    () =>
      `${capacity} processors are planned with, ${processorsAway} of ${options.processors} being away and ${busy} busy`,
  );
  invariant(living.size === livingCounts.size, 'living requests are counted for a user who has none');
  for (const [userId, count] of living)
    invariant(livingCounts.get(userId) === count, () => `${userId} has ${count} living requests`);
}

function checkPlan(state: ClusterState): void {
  const { plan } = state;
  if (plan.kind === 'nodes') checkNodes(state, plan);
  else checkProcessors(state, plan);
}

/** On no node more is given of anything than it has, nor anything twice. */
function checkNodes(state: ClusterState, plan: NodePlan): void {
  plan.check();
  findUse(plan, state);
  for (const id of [...plan.running.keys(), ...plan.waiting.keys()]) {
    const { parts = [], startsAt, grants } = getRequest(state, id);
    invariant(
      (startsAt === undefined) === (parts.length === 0) && isDeepEqual(parts, plan.getParts(id)),
      () => `request ${id} has another part of nodes than the plan`,
    );
    invariant(
      plan.running.has(id) === (grants !== undefined) && (grants === undefined || isOfParts(grants, parts)),
      () => `request ${id} was granted something else than it has in the plan`,
    );
  }
}

function isDeepEqual(one: readonly NodePart[], other: readonly NodePart[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function isOfParts(grants: readonly NodeGrant[], parts: readonly NodePart[]): boolean {
  return parts.every(({ node, processors, gpus }) => {
    const own = grants.filter((grant) => grant.node === node);
    const devices = own.flatMap((grant) => grant.gpus);
    return (
      own.reduce((sum, { processorIds }) => sum + processorIds.length, 0) === processors &&
      Object.entries(gpus).every(([kind, count]) => devices.filter((device) => device.kind === kind).length === count)
    );
  });
}

function checkProcessors({ options, reservations }: ClusterState, plan: RequestPlan): void {
  const { profile } = plan;
  const rebuilt = new RequestPlan(profile.capacity, profile.from);
  const put = ({ id, width, walltime, startsAt }: PlannedRequest): void => {
    const mayLack = plan.waiting.has(id) && (!options.policy.promises || width > profile.capacity);
    invariant(startsAt !== undefined || mayLack, () => `request ${id} has no place`);
    rebuilt.add(id, width, walltime);
    if (startsAt !== undefined) rebuilt.place(id, startsAt);
  };
  for (const request of plan.running.values()) put(request);
  for (const reservation of reservations.values()) rebuilt.blockReservation(getReservationBlock(reservation));
  for (const request of plan.waiting.values()) put(request);
  invariant(
    areSame([...rebuilt.reservationBlocks.values()], [...plan.reservationBlocks.values()], isSameWall),
    'the reservationBlocks are not those of the reservations',
  );
  invariant(
    areSame([...rebuilt.profile.segments()], [...profile.segments()], isSameSegment),
    'the profile is not what the requests leave',
  );
}

function areSame<T>(ones: readonly T[], others: readonly T[], isSame: (one: T, other: T) => boolean): boolean {
  return ones.length === others.length && ones.every((one, index) => isSame(one, others[index] as T));
}

function isSameWall(one: ReservationBlock, other: ReservationBlock): boolean {
  return one.id === other.id && one.start === other.start && one.end === other.end && one.count === other.count;
}

function isSameSegment(one: Segment, other: Segment): boolean {
  return one.start === other.start && one.end === other.end && one.free === other.free;
}

function checkRequest(state: ClusterState, request: ClusterRequest): void {
  const { id, status, livingProcesses, endedAt, order } = request;
  invariant(getRequest(state, id) === request, () => `request ${id} is filed elsewhere`);
  invariant((status === 'ended') === (endedAt !== 0), () => `request ${id} is ${status} and ended at ${endedAt}`);
  invariant(
    (status === 'running' || status === 'ending') === livingProcesses.size > 0,
    () => `request ${id} is ${status} with ${livingProcesses.size} processes`,
  );
  invariant(
    (status !== 'ended' && order.reservationId !== undefined) === state.insideIds.has(id),
    () => `request ${id} is ${status} and of reservation ${order.reservationId}`,
  );
  if (order.reservationId === undefined) checkPlanned(state, request);
  else checkInside(state, request, order.reservationId);
}

function checkInside(state: ClusterState, { id, status, startsAt }: ClusterRequest, reservationId: number): void {
  if (status === 'queued' || status === 'running')
    invariant(
      state.reservations.has(reservationId),
      () => `request ${id} is ${status} inside reservation ${reservationId}, which is none`,
    );
  if (status !== 'ended')
    invariant(
      (status === 'queued') === (startsAt === undefined),
      () => `request ${id} is ${status} and started at ${startsAt}`,
    );
}

function checkPlanned(state: ClusterState, { id, status, startsAt }: ClusterRequest): void {
  const planned = state.plan.waiting.get(id) ?? state.plan.running.get(id);
  invariant(
    (status === 'queued') === state.plan.waiting.has(id),
    () => `request ${id} is ${status}, the plan thinks otherwise`,
  );
  invariant(
    (status === 'running' || status === 'ending') === state.plan.running.has(id),
    () => `request ${id} is ${status}, the plan thinks otherwise`,
  );
  invariant(
    planned === undefined || planned.startsAt === startsAt,
    () => `request ${id} is placed at ${startsAt}, the plan has ${planned?.startsAt}`,
  );
}
