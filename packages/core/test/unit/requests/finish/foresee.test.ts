import test from 'ava';
import { finishHeuristic, type PendingRequest, type RequestFacts } from '@mutirao/core/requests';
import { aListing, someFacts, type ListedRequest } from '@mutirao/testkit';
import { foresee, type Foresight } from '../../../../src/requests/finish/foresee.ts';

const minute = 60_000;
const now = 600 * minute;

/**
 * Eight processors, five of them held for an hour more; the head of the queue needs six, the next two for ten minutes.
 */
const running: ListedRequest = { status: 'running', width: 5, walltime: 60 * minute, startsAt: now };
const head: ListedRequest = { status: 'queued', width: 6, walltime: 30 * minute };
const small: ListedRequest = { status: 'queued', width: 2, walltime: 10 * minute };

function factsWith(waiting: readonly ListedRequest[], change: Partial<RequestFacts> = {}): RequestFacts {
  return someFacts({
    now,
    listing: aListing(8, now, [running, ...waiting]),
    limits: { processors: 8, requestsMax: 2, widthMax: 8, walltimeMax: 90 * minute, walltimeGranularity: 1 },
    ...change,
  });
}

/** The same with something else in an entry of the listing. */
function changed(
  facts: RequestFacts,
  id: string,
  change: Partial<RequestFacts['listing']['requests'][number]>,
): RequestFacts {
  return {
    ...facts,
    listing: {
      ...facts.listing,
      requests: facts.listing.requests.map((one) => (one.managerRequestId === id ? { ...one, ...change } : one)),
    },
  };
}

/** Places in minutes, by number in the listing. */
function listPlaces({ places }: Foresight): (readonly [string, number])[] {
  return [...places].map(([id, start]) => [id, start / minute] as const);
}

test('if a waiting request could start now without delaying others, the queue seems not to backfill, and nothing is expected to start before the last', (t) => {
  const seen = foresee(factsWith([head, small]));
  t.true(seen.isInTurn);
  t.deepEqual(listPlaces(seen), [
    ['1', 60],
    ['2', 60],
  ]);
  t.deepEqual(
    [seen.skyline.freeNow, seen.skyline.findEarliest(1, minute), seen.skyline.findEarliest(8, minute)],
    [0, 70 * minute, 90 * minute],
  );
  t.true(finishHeuristic.draft(factsWith([head, small])).reasons.some(({ code }) => code === 'finish-no-backfill'));
});

test('a request that waits because it would delay the head shows nothing; backfilling has the hole', (t) => {
  // Three processors for 70 min: the head could not begin after 60.
  const seen = foresee(factsWith([head, { ...small, width: 3, walltime: 70 * minute }]));
  t.false(seen.isInTurn);
  t.deepEqual(listPlaces(seen), [
    ['1', 60],
    ['2', 90],
  ]);
  t.is(seen.skyline.freeNow, 3);
  // Two, which the head leaves to others when it runs, for as long as they like.
  t.true(foresee(factsWith([head, { ...small, walltime: 70 * minute }])).isInTurn);
});

test('a request that waits behind no other shows nothing: it has another reason to wait', (t) => {
  t.false(foresee(factsWith([{ ...head, width: 3 }])).isInTurn);
  t.false(foresee(factsWith([small, head])).isInTurn);
  t.false(foresee(factsWith([head])).isInTurn);
});

test('promises show a plan, a new request has not been considered yet, and a held one waits for something else', (t) => {
  t.false(foresee(factsWith([{ ...head, startsAt: now + 60 * minute }, small])).isInTurn);
  t.false(foresee(factsWith([head, small, { ...head, startsAt: now + 600 * minute }])).isInTurn);
  const cameBefore = (age: number): boolean =>
    foresee(changed(factsWith([head, small]), '2', { submittedAt: now - age })).isInTurn;
  t.deepEqual([cameBefore(5 * minute), cameBefore(5 * minute - 1)], [true, false]);
  t.false(foresee(changed(factsWith([head, small]), '2', { isHeldBack: true })).isInTurn);
});

test('one who runs and came after the head has passed it', (t) => {
  const facts = factsWith([head, small]);
  t.true(foresee(changed(facts, '0', { submittedAt: 1 })).isInTurn); // As the head.
  t.false(foresee(changed(facts, '0', { submittedAt: 2 })).isInTurn);
  const inside = factsWith([head, small, { ...running, width: 1 }]);
  t.false(foresee(inside).isInTurn);
  t.true(
    foresee(changed(inside, '3', { reservationId: 1 })).isInTurn,
    'inside a reservation nobody waits for the others',
  );
});

test('of a queue that is hidden or was not read again nothing is thought', (t) => {
  for (const listingState of ['hidden', 'stale'] as const)
    t.false(foresee(factsWith([head, small], { listingState })).isInTurn);
});

/**
 * Ten tasks of an hour each, an own request of one processor that waits behind the head, and somebody who could start.
 */
function waitingSmall(change: Partial<RequestFacts>): RequestFacts {
  const own: PendingRequest = {
    requestId: 'q1',
    listedAs: '2',
    width: 1,
    walltime: 60 * minute,
    status: 'queued',
    startedAt: 0,
    submittedAt: now - 20 * minute,
  };
  return factsWith([head, { status: 'queued', width: 1, walltime: 60 * minute }, small], {
    pending: [own],
    demand: { pendingTasks: 10, processors: 1, deadline: undefined },
    taskTimes: { longest: 60 * minute, mean: 60 * minute, count: 3 },
    trigger: 'review',
    limits: { processors: 8, requestsMax: 1, widthMax: 8, walltimeMax: 180 * minute, walltimeGranularity: 1 },
    ...change,
  });
}

test('one that waits its turn is given up for what is larger, though it comes later; at an event of the queue it may be about to start', (t) => {
  const { givenUp, drafts, reviewAt } = finishHeuristic.draft(waitingSmall({}));
  t.deepEqual(
    givenUp?.map(({ requestId }) => requestId),
    ['q1'],
  );
  t.true((drafts[0]?.width ?? 0) > 1);
  t.is(reviewAt, now + 15 * minute);
  t.is(finishHeuristic.draft(waitingSmall({ trigger: 'queue' })).givenUp, undefined);
});

test('one that waits its turn is never given up for a smaller one, though no task fits into it', (t) => {
  // Four tasks of an hour.
  const short = (width: number): RequestFacts => {
    const facts = waitingSmall({ demand: { pendingTasks: 4, processors: 1, deadline: undefined } });
    const own = { ...(facts.pending[0] as PendingRequest), width, walltime: 59 * minute };
    return changed({ ...facts, pending: [own] }, '2', { width, walltime: 59 * minute });
  };
  const { givenUp, drafts } = finishHeuristic.draft(short(4));
  t.is(givenUp?.length, 1);
  t.true(drafts.every(({ width, walltime }) => width * walltime < 5 * 59 * minute));
  t.is(finishHeuristic.draft(short(5)).givenUp, undefined);
});

test('what is listed is left as it was', (t) => {
  const facts = factsWith([small, head, small]);
  const before = JSON.stringify(facts);
  foresee(facts);
  t.is(JSON.stringify(facts), before);
});
