import type { ProvisioningState, Provisioning, ReservationRecord, ReservationStatus } from '@mutirao/core/messages';
import { readSavedReasons, type Cause, type Reason } from '@mutirao/core/reasons';

/** A reservation as the journal writes it: short, for there are millions. */
export type ReservationRow = readonly [
  id: number,
  resourceId: string,
  userId: string,
  status: ReservationStatus,
  start: number,
  end: number,
  amount: number,
  resources: readonly number[] | 0,
  earliestStart: number,
  latestEnd: number | null,
  holdUntil: number,
  requestedAt: number,
  claimedAt: number,
  endedAt: number,
  revision: number,
  reason: Cause,
  clientRequestId: string,
  claimKey: string,
  together?: readonly [groupId: string, manager: string, reservationId: number] | null,
  requestFingerprint?: number | null,
  ahead?: AheadRow,
];

type AheadRow = readonly [
  status: ProvisioningState,
  heldCount: number,
  askedCount: number,
  askAt: number,
  expectedAt: number,
  chance: number | null,
  /** Early journals hold sentences. */
  reasons: readonly Reason[] | string,
];

const none: readonly number[] = [];

/** Writes a reservation. */
export function toRow(reservation: ReservationRecord): ReservationRow {
  const {
    place,
    resourceId,
    status,
    holdUntil,
    requestedAt,
    claimedAt,
    endedAt,
    revision,
    reason,
    clientRequestId,
    claimKey,
    together,
    requestFingerprint,
    ahead,
  } = reservation;
  const row = [
    place.id,
    resourceId,
    place.userId,
    status,
    place.start,
    place.end,
    place.amount,
    place.resources.length === 0 ? 0 : place.resources,
    place.earliestStart,
    place.latestEnd ?? null,
    holdUntil,
    requestedAt,
    claimedAt,
    endedAt,
    revision,
    reason,
    clientRequestId,
    claimKey,
  ] as const;
  const link = together === undefined ? null : ([together.groupId, together.manager, together.reservationId] as const);
  if (ahead !== undefined)
    return [
      ...row,
      link,
      requestFingerprint ?? null,
      [
        ahead.status,
        ahead.heldCount,
        ahead.askedCount,
        ahead.askAt,
        ahead.expectedAt,
        ahead.chance ?? null,
        ahead.reasons,
      ],
    ];
  if (requestFingerprint !== undefined) return [...row, link, requestFingerprint];
  return link === null ? row : [...row, link];
}

/**
 * Reads what `rowOf` wrote. @param keep gives the one text of its kind, so that what many rows say is in memory once.
 */
export function findReservation(
  row: ReservationRow,
  keep: (text: string) => string = (text) => text,
): ReservationRecord {
  const [
    id,
    resourceId,
    userId,
    status,
    start,
    end,
    amount,
    resources,
    earliestStart,
    latestEnd,
    holdUntil,
    requestedAt,
    claimedAt,
    endedAt,
    revision,
    reason,
    clientRequestId,
    claimKey,
    together,
    requestFingerprint,
    ahead,
  ] = row;
  return {
    place: {
      id,
      userId: keep(userId),
      start,
      end,
      amount,
      resources: resources === 0 ? none : resources,
      earliestStart,
      latestEnd: latestEnd ?? undefined,
    },
    resourceId: keep(resourceId),
    status: keep(status) as ReservationStatus,
    holdUntil,
    requestedAt,
    claimedAt,
    endedAt,
    revision,
    reason: typeof reason === 'string' ? keep(reason) : reason,
    clientRequestId,
    claimKey,
    ...(requestFingerprint === undefined || requestFingerprint === null ? {} : { requestFingerprint }),
    ...(together === undefined || together === null
      ? {}
      : { together: { groupId: together[0], manager: together[1], reservationId: together[2] } }),
    ...(ahead === undefined ? {} : { ahead: findAhead(ahead) }),
  };
}

function findAhead([status, heldCount, askedCount, askAt, expectedAt, chance, saved]: AheadRow): Provisioning {
  const reasons = typeof saved === 'string' ? readSavedReasons(saved === '' ? [] : [saved]) : saved;
  return { status, heldCount, askedCount, askAt, expectedAt, chance: chance ?? undefined, reasons };
}
