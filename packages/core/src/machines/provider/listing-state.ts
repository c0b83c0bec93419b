import type { QueueListing } from '../../messages/index.ts';
import { getClientRequestId, type ProviderState } from './state.ts';
import type { RequestFacts } from '../../requests/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';

/**
 * How far a listing can be trusted. Hidden: it shows requests of no other user, though processors are held that no
 * listed request has; some managers show users only their own.
 *
 * @param listing as it was read, with what is known better of own requests.
 */
export function getListingState(
  state: ProviderState,
  listing: QueueListing,
  now: Instant,
): NonNullable<RequestFacts['listingState']> {
  if (state.listingFailure !== '') return 'stale';
  const prefix = getClientRequestId(state, '');
  const living = listing.requests.filter(({ status }) => status !== 'ended');
  if (living.some(({ clientRequestId }) => !clientRequestId.startsWith(prefix))) return 'complete';
  const held = living.reduce(
    (sum, { status, width }) => sum + (status === 'running' ? width : 0),
    reservedAt(listing, now),
  );
  return (state.limits?.processors ?? 0) - listing.processorsFree > held ? 'hidden' : 'complete';
}

function reservedAt({ reservations = [] }: QueueListing, now: Instant): ProcessorCount {
  return reservations.reduce(
    (sum, { count, startsAt, endsAt }) => sum + (startsAt <= now && now < endsAt ? count : 0),
    0,
  );
}
