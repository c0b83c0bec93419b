import { allowedQuota, findQuotaExcess, type QuotaUse } from '../../quotas/index.ts';
import type { Refusal } from '../../reasons/index.ts';
import type { Extent, ReservationRequest } from '../../reservations/index.ts';
import type { Duration, UserId } from '../../shared/index.ts';
import type { ReservationsState, ResourceEntry } from './state.ts';
import type { Turn } from './turn.ts';

const hour: Duration = 3_600_000;

/**
 * Why a user may not reserve that much, or so far ahead; undefined if it is allowed.
 *
 * @param replaced what the reservation takes that this one replaces.
 */
export function findQuotaFault(
  { state, now }: Turn,
  entry: ResourceEntry,
  { userId, extent, earliestStart = now }: ReservationRequest,
  replaced = 0,
): Refusal | undefined {
  const { quotas } = state.options;
  // The owner of a resource decides about it.
  if (quotas === undefined || userId === entry.resource.ownerId) return undefined;
  const used = Math.max(0, (entry.workByUser.get(userId) ?? 0) - replaced) / (entry.resource.total * hour);
  const { work, duration } = measure(extent);
  const ahead = (Math.max(earliestStart, now) + duration - now) / hour;
  const excess =
    findQuotaExcess(quotas, userId, { name: 'reserved-hours', used, more: work / (entry.resource.total * hour) }) ??
    findQuotaExcess(quotas, userId, { name: 'reserved-ahead', used: 0, more: ahead });
  return excess === undefined
    ? undefined
    : { code: 'MUT_USER_QUOTA', fault: { ...excess.fault, resourceId: entry.resource.id } };
}

/** The most that a user has reserved at a resource, and the quota. Cost: O(resources). */
export function listReservationQuotas(
  { options: { quotas }, resources }: ReservationsState,
  userId: UserId,
): QuotaUse[] {
  if (quotas === undefined) return [];
  const used = [...resources.values()].map(
    ({ workByUser, resource: { total } }) => (workByUser.get(userId) ?? 0) / (total * hour),
  );
  return [
    { name: 'reserved-hours', used: Math.max(0, ...used), allowed: allowedQuota(quotas, userId, 'reserved-hours') },
    { name: 'reserved-ahead', used: 0, allowed: allowedQuota(quotas, userId, 'reserved-ahead') },
  ];
}

/** How much a request takes, as amount times milliseconds, and for how long at most. */
function measure(extent: Extent): { readonly work: number; readonly duration: Duration } {
  switch (extent.kind) {
    case 'rigid':
      return { work: extent.amount * extent.duration, duration: extent.duration };
    case 'elastic':
      return { work: extent.referenceAmount * extent.referenceDuration, duration: extent.referenceDuration };
    case 'malleable':
      return { work: extent.work, duration: extent.work / Math.max(1, extent.amountMin) };
  }
}
