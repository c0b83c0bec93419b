import test from 'ava';
import { finishHeuristic, type RequestFacts } from '@mutirao/core/requests';
import { aListing, someFacts, type ListedRequest } from '@mutirao/testkit';
import { foresee, type Foresight } from '../../../../src/requests/finish/foresee.ts';

const minute = 60_000;

/** Eight processors, five of them held for an hour more; the head of the queue needs six, the next two for ten minutes. Times in minutes. */
const running: ListedRequest = { status: 'running', width: 5, walltime: 60 * minute, startsAt: 600 * minute };
const head: ListedRequest = { status: 'queued', width: 6, walltime: 30 * minute };
const small: ListedRequest = { status: 'queued', width: 2, walltime: 10 * minute };

function factsWith(waiting: readonly ListedRequest[], change: Partial<RequestFacts> = {}): RequestFacts {
  const now = 600 * minute;
  return someFacts({ now, listing: aListing(8, now, [running, ...waiting]), limits: { processors: 8, requestsMax: 2, widthMax: 8, walltimeMax: 90 * minute, walltimeGranularity: 1 }, ...change });
}

/** Places in minutes, by number in the listing. */
function placesOf({ places }: Foresight): (readonly [string, number])[] {
  return [...places].map(([id, start]) => [id, start / minute] as const);
}

test('where one waits who could start now and hold nobody up, nobody is thought to pass, and nothing to start before the last', (t) => {
  const seen = foresee(factsWith([head, small]));
  t.true(seen.isInTurn);
  t.deepEqual(placesOf(seen), [['1', 60], ['2', 60]]);
  t.deepEqual([seen.skyline.freeNow, seen.skyline.findEarliest(1, minute), seen.skyline.findEarliest(8, minute)], [0, 70 * minute, 90 * minute]);
  t.true(finishHeuristic.draft(factsWith([head, small])).reasons.some((reason) => reason.startsWith('Requests wait that could start now')));
});

test('one who waits because the head would have to wait longer for him tells nothing; backfilling has the hole', (t) => {
  // Three processors for 70 min: the head could not begin after 60.
  const seen = foresee(factsWith([head, { ...small, width: 3, walltime: 70 * minute }]));
  t.false(seen.isInTurn);
  t.deepEqual(placesOf(seen), [['1', 60], ['2', 90]]);
  t.is(seen.skyline.freeNow, 3);
  // Two, which the head leaves to others when it runs, for as long as they like.
  t.true(foresee(factsWith([head, { ...small, walltime: 70 * minute }])).isInTurn);
});

test('a head that could start itself and does not tells as much', (t) => {
  t.true(foresee(factsWith([{ ...head, width: 3 }])).isInTurn);
  t.false(foresee(factsWith([head])).isInTurn);
});

test('promises tell of a plan, and who came just now has not been looked at', (t) => {
  t.false(foresee(factsWith([{ ...head, startsAt: 660 * minute }, small])).isInTurn);
  const { listing } = factsWith([head, small]);
  const cameBefore = (age: number): boolean => foresee(factsWith([], { listing: { ...listing, requests: listing.requests.map((one) => ({ ...one, submittedAt: 600 * minute - age })) } })).isInTurn;
  t.deepEqual([cameBefore(5 * minute), cameBefore(5 * minute - 1)], [true, false]);
});

test('what is listed is left as it was', (t) => {
  const facts = factsWith([small, head, small]);
  const before = JSON.stringify(facts);
  foresee(facts);
  t.is(JSON.stringify(facts), before);
});
