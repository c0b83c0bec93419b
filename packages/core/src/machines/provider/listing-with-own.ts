import type { QueuedRequest, QueueListing } from '../../messages/index.ts';
import { ownRank } from '../../requests/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import { getClientRequestId, isPending, isServing, type OwnRequest, type ProviderState } from './state.ts';

/**
 * The last listing with what this provider knows better of its own requests: those that were submitted or have started
 * since are
 * in it, those that ended or are being given back are not. Cost: O(listed).
 */
export function listingWithOwn(state: ProviderState, listing: QueueListing, now: Instant): QueueListing {
  const unlisted = new Map(
    [...state.requests.values()]
      .filter(isHeld)
      .map((request) => [getClientRequestId(state, request.requestId), request]),
  );
  const requests: QueuedRequest[] = [];
  let started: ProcessorCount = 0;
  for (const entry of listing.requests) {
    if (!entry.clientRequestId.startsWith(`${state.instance}.`)) {
      requests.push(entry);
      continue;
    }
    const request = unlisted.get(entry.clientRequestId);
    unlisted.delete(entry.clientRequestId);
    const known = request === undefined || entry.status === 'ended' ? undefined : correct(entry, request);
    if (known !== undefined) requests.push(known);
    started += heldBy(known) - heldBy(entry);
  }
  for (const [clientRequestId, request] of unlisted) {
    const entry = readEntry(request, clientRequestId, now);
    requests.push({ ...entry, ...findRank(listing, entry) });
    started += heldBy(entry);
  }
  return { ...listing, processorsFree: Math.max(0, listing.processorsFree - started), requests };
}

/**
 * What competes for processors: the listing without those of others that wait for something else. The same object where
 * there are none. Cost: O(listed).
 */
export function competingIn(state: ProviderState, listing: QueueListing): QueueListing {
  const isAway = ({ isHeldBack, clientRequestId }: QueuedRequest): boolean =>
    isHeldBack === true && !clientRequestId.startsWith(`${state.instance}.`);
  return listing.requests.some(isAway)
    ? { ...listing, requests: listing.requests.filter((entry) => !isAway(entry)) }
    : listing;
}

/** The rank of a waiting request that is not listed yet, if the queue has a ranking. */
function findRank(
  listing: QueueListing,
  { status, walltime, submittedAt }: QueuedRequest,
): Pick<QueuedRequest, 'rankedAt'> {
  return status !== 'queued' || listing.ranking === undefined
    ? {}
    : { rankedAt: ownRank(listing, walltime, submittedAt) };
}

function isHeld(request: OwnRequest): boolean {
  return isPending(request) && isServing(request);
}

function correct(entry: QueuedRequest, { status, startedAt }: OwnRequest): QueuedRequest {
  return entry.status === 'queued' && status === 'running' ? { ...entry, status, startsAt: startedAt } : entry;
}

function heldBy(entry: QueuedRequest | undefined): ProcessorCount {
  return entry?.status === 'running' ? entry.width : 0;
}

function readEntry(request: OwnRequest, clientRequestId: string, now: Instant): QueuedRequest {
  const { managerRequestId, userId, width, walltime, status, submittedAt, startedAt, reservation } = request;
  return {
    managerRequestId,
    userId,
    width,
    walltime,
    status: status === 'running' ? 'running' : 'queued',
    submittedAt: submittedAt === 0 ? now : submittedAt,
    startsAt: startedAt,
    endedAt: 0,
    endReason: '',
    clientRequestId,
    ...(reservation === undefined ? {} : { reservationId: reservation.reservationId }),
  };
}
