import test from 'ava';
import { createProviderState, providerDefaults } from '@mutirao/core/machines/provider';
import type { QueueListing } from '@mutirao/core/messages';
import { inOwnClock } from '../../../../src/machines/provider/own-clock.ts';

const minute = 60_000;

function listingAt(at: number): QueueListing {
  return {
    at,
    processorsFree: 1,
    requests: [
      {
        managerRequestId: '1',
        userId: 'u',
        width: 1,
        walltime: minute,
        status: 'queued',
        submittedAt: at - 5,
        startsAt: at + 1000,
        endedAt: 0,
        endReason: '',
        clientRequestId: '',
      },
    ],
  };
}

function aReader(): (now: number, listing: QueueListing) => QueueListing {
  const state = createProviderState({ ...providerDefaults, providerId: 'p' });
  return (now, listing) => inOwnClock({ state, now, changes: [], commands: [], changedRequestIds: new Set() }, listing);
}

test('a listing by a clock that is ten minutes ahead is read by ours; what never happened stays so', (t) => {
  const read = aReader();
  const listing = read(100 * minute, listingAt(110 * minute));
  t.like(listing, {
    at: 100 * minute,
    requests: [{ submittedAt: 100 * minute - 5, startsAt: 100 * minute + 1000, endedAt: 0 }],
  });
});

test('when a request counts as submitted in a queue by scores is read by our clock too', (t) => {
  const { requests, ...listing } = listingAt(110 * minute);
  const ranked = {
    ...listing,
    ranking: { weight: 1440, leadMax: 1, score: 60 },
    requests: requests.map((request) => ({ ...request, rankedAt: 109 * minute })),
  };
  t.like(aReader()(100 * minute, ranked), { ranking: { score: 60 }, requests: [{ rankedAt: 99 * minute }] });
});

test('a listing that only took a moment is left as it is', (t) => {
  const listing = listingAt(100 * minute);
  t.is(aReader()(100 * minute + 1500, listing), listing);
});

test('a listing that lags shows no other clock once a fresh one was seen; a clock that was set does', (t) => {
  const read = aReader();
  read(100 * minute, listingAt(100 * minute));
  const old = listingAt(100 * minute);
  t.is(read(100 * minute + 30_000, old), old);
  t.is(read(120 * minute, listingAt(110 * minute)).at, 120 * minute);
});
