import { isOfReservation, type AllocationRequest, type ReservationName } from '../../../messages/index.ts';
import { areSameReasons } from '../../../reasons/index.ts';
import { clockTolerance, ownInstant, type Duration } from '../../../shared/index.ts';
import type { GetInput } from '../inputs.ts';
import { isSameSlot } from '../../../resources/index.ts';
import { requestKey } from '../ledger/ledger-accounts.ts';
import { getWindow } from '../reservations/reserved-place.ts';
import type { BrokerState, MovedWindow } from '../state.ts';
import { commit, type Turn } from '../turn.ts';

/** Notes the requests that a provider reports, if anything but the time of seeing changed. */
export function onRequestsChanged(turn: Turn, { providerId, requests: reported }: GetInput<'RequestsChanged'>): void {
  const provider = turn.state.providers.get(providerId);
  if (provider === undefined) return;
  const requests = reported.map((request) => requestInOwnClock(request, provider.clockOffset));
  for (const { requestId, seenAt } of requests) turn.state.requestsSeen.set(requestKey(providerId, requestId), seenAt);
  const changed = requests.filter(
    (request) => !isSame(turn.state.requests.get(requestKey(providerId, request.requestId)), request),
  );
  if (changed.length > 0) commit(turn, { kind: 'RequestsChanged', providerId, requests: changed });
}

function requestInOwnClock(request: AllocationRequest, offset: Duration): AllocationRequest {
  if (Math.abs(offset) <= clockTolerance) return request;
  const { seenAt, submittedAt, startedAt, endedAt } = request;
  return {
    ...request,
    seenAt: ownInstant(seenAt, offset),
    submittedAt: ownInstant(submittedAt, offset),
    startedAt: ownInstant(startedAt, offset),
    endedAt: ownInstant(endedAt, offset),
  };
}

/** Notes the status of reservations, and which of them have moved. */
export function onReservationStatuses(turn: Turn, { providerId, statuses }: GetInput<'StatusesReported'>): void {
  const { state } = turn;
  const provider = state.providers.get(providerId);
  if (provider === undefined || !provider.isConnected) return;
  provider.statuses = statuses;
  for (const { reservation, startsAt, endsAt, amount } of statuses) {
    const window = { startsAt, endsAt, amount };
    const known = findKnownWindow(state, reservation);
    if (known !== undefined && !isSameWindow(known, window))
      commit(turn, { kind: 'ReservationMoved', reservation, window });
  }
}

/** The known interval of a reservation; undefined if no open job has one of that name. Cost: O(open jobs). */
function findKnownWindow(state: BrokerState, name: ReservationName): MovedWindow | undefined {
  for (const { reservation } of state.openJobs.values())
    if (reservation !== undefined && isOfReservation(reservation, name)) return getWindow(state, reservation);
  return undefined;
}

const comparedFields = [
  'managerRequestId',
  'width',
  'walltime',
  'status',
  'submittedAt',
  'startedAt',
  'endedAt',
  'heuristic',
  'endCode',
] as const;

function isSame(known: AllocationRequest | undefined, reported: AllocationRequest): boolean {
  if (known === undefined) return false;
  return (
    comparedFields.every((field) => known[field] === reported[field]) &&
    isSameSlot(known.slot, reported.slot) &&
    isSamePlace(known.reservation, reported.reservation) &&
    areSameReasons(known.reasons, reported.reasons)
  );
}

function isSamePlace(known: AllocationRequest['reservation'], reported: AllocationRequest['reservation']): boolean {
  return known?.overCode === reported?.overCode && isSameWindow(known?.movedTo, reported?.movedTo);
}

function isSameWindow(known: MovedWindow | undefined, reported: MovedWindow | undefined): boolean {
  return (
    known?.startsAt === reported?.startsAt && known?.endsAt === reported?.endsAt && known?.amount === reported?.amount
  );
}
