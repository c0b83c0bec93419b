import test from 'ava';
import {
  adaptiveHeuristic,
  heuristicDefaults,
  initialHeuristic,
  QueueForecast,
  type RequestFacts,
} from '@mutirao/core/requests';
import { aListing, someFacts, type ListedRequest } from '@mutirao/testkit';

function listing(now: number, requests: readonly ListedRequest[], processorsFree?: number): RequestFacts {
  const read = aListing(8, now, requests);
  return someFacts({
    now,
    listing: processorsFree === undefined ? read : { ...read, processorsFree },
    options: { ...heuristicDefaults, defaultTime: 10 },
    limits: { processors: 8, requestsMax: 1, walltimeMax: 100, widthMax: 8, walltimeGranularity: 5 },
  });
}

/** Where the one of the largest area behind the queue's end would start. */
function queueEnd(facts: RequestFacts): number | undefined {
  return adaptiveHeuristic.draft(facts).candidates?.find(({ width, walltime }) => width === 8 && walltime === 100)
    ?.startsAt;
}

test('a running request holds its processors until its walltime ends', (t) => {
  t.is(queueEnd(listing(20, [{ status: 'running', width: 8, walltime: 50, startsAt: 10 }])), 60);
});

test('one that should have ended and still runs is taken to end within a grain', (t) => {
  t.is(queueEnd(listing(20, [{ status: 'running', width: 8, walltime: 5, startsAt: 10 }])), 25);
});

test('processors that are not free and that no listed request holds are occupied for the longest walltime', (t) => {
  t.is(queueEnd(listing(20, [], 6)), 120);
  t.is(queueEnd(listing(20, [], 8)), 20);
});

test('waiting requests without a promise are placed in the order of arrival, each in the earliest hole', (t) => {
  const queue: ListedRequest[] = [
    { status: 'running', width: 6, walltime: 50, startsAt: 10 },
    { status: 'queued', width: 8, walltime: 40 },
    { status: 'queued', width: 2, walltime: 40 },
  ];
  t.is(queueEnd(listing(20, queue)), 100);
  // Without the first of them the other could have used 2 x 80; the 10 to 20 before the wall are not left beside it.
  t.deepEqual(
    adaptiveHeuristic.draft(listing(20, queue)).candidates?.map(({ startsAt }) => startsAt),
    [100],
  );
});

test('a waiting request that is wider than the resource never starts, and holds nothing', (t) => {
  t.is(queueEnd(listing(20, [{ status: 'queued', width: 9, walltime: 40 }])), 20);
});

test('a promise that is overdue holds from now, and more than there is leaves nothing rather than less', (t) => {
  const facts = listing(20, [
    { status: 'running', width: 8, walltime: 50, startsAt: 10 },
    { status: 'queued', width: 8, walltime: 50, startsAt: 15 },
  ]);
  t.is(queueEnd(facts), 70);
  t.deepEqual(
    initialHeuristic.draft(facts).drafts.map(({ width, walltime }) => [width, walltime]),
    [[8, 10]],
  );
});

test('where one request ends and another of its width begins nothing changes, so no hole begins there', (t) => {
  const queue: ListedRequest[] = [
    { status: 'running', width: 6, walltime: 50, startsAt: 20 },
    { status: 'queued', width: 6, walltime: 50, startsAt: 70 },
  ];
  for (const startsAt of [70, 0]) {
    const read = listing(
      20,
      queue.map((request) => (request.status === 'queued' ? { ...request, startsAt } : request)),
    );
    // So that the first hole leaves a processor free.
    const facts = { ...read, limits: { ...read.limits, widthMax: 1 } };
    t.deepEqual(
      adaptiveHeuristic
        .draft(facts)
        .candidates?.map((candidate) => candidate.startsAt)
        .sort((one, other) => one - other),
      [20, 120],
      `promised for ${startsAt}`,
    );
  }
});

/**
 * Weights and scores at which walltimes of 20 and 100 ms count as submitted 10 and 2 ms earlier, and nothing more than
 * 50 earlier.
 */
const ranking = { weight: 1e-8, leadMax: 50, score: 0 };

test('where the queue has a ranking, waiting requests are placed in its order', (t) => {
  const facts = listing(20, [
    { status: 'running', width: 8, walltime: 50, startsAt: 10 },
    { status: 'queued', width: 8, walltime: 40 },
    { status: 'queued', width: 5, walltime: 10 },
    { status: 'queued', width: 4, walltime: 10 },
  ]);
  const holes = (rankedAt: readonly number[]): (number | undefined)[] => {
    const requests = facts.listing.requests.map((request, index) =>
      index === 0 ? request : { ...request, rankedAt: rankedAt[index - 1] ?? 0 },
    );
    return (
      adaptiveHeuristic
        .draft({ ...facts, listing: { ...facts.listing, requests, ranking }, limits: { ...facts.limits, widthMax: 3 } })
        .candidates?.map(({ startsAt }) => startsAt)
        .sort((one, other) => one - other) ?? []
    );
  };
  // One after the other, the wide one first or last; beside each of the narrow ones at least three are free.
  t.deepEqual(holes([1, 2, 3]), [100, 110, 120]);
  t.deepEqual(holes([3, 1, 2]), [60, 70, 120]);
});

test('a request that would go before others is expected to start before them, and behind its own end of the queue', (t) => {
  const limits = { processors: 8, requestsMax: 1, walltimeMax: 100, widthMax: 8, walltimeGranularity: 5 };
  const requests = aListing(8, 20, [
    { status: 'running', width: 8, walltime: 50, startsAt: 10 },
    { status: 'queued', width: 8, walltime: 40 },
    { status: 'queued', width: 8, walltime: 30 },
  ]).requests.map((request, index) => (index === 0 ? request : { ...request, rankedAt: index === 1 ? 5 : 15 }));
  const read = { at: 20, processorsFree: 0, requests, ranking };
  const forecast = new QueueForecast(20, limits, read);
  // Submitted now, at 20: a walltime of 100 counts as submitted at 18, one of 20 at 10, and one of 5 at -20.
  t.deepEqual(
    [100, 20, 5].map((walltime) => forecast.startOf(8, walltime)),
    [130, 100, 60],
  );
  const { ranking: _, ...unranked } = read;
  t.deepEqual(
    [100, 20, 5].map((walltime) => new QueueForecast(20, limits, unranked).startOf(8, walltime)),
    [130, 130, 130],
  );
  const behind = (walltimeMax: number): number | undefined =>
    adaptiveHeuristic
      .draft(
        someFacts({
          now: 20,
          limits: { ...limits, walltimeMax },
          listing: read,
          options: { ...heuristicDefaults, defaultTime: 5 },
        }),
      )
      .candidates?.find(({ walltime }) => walltime === walltimeMax)?.startsAt;
  t.deepEqual([100, 20].map(behind), [130, 100]);
});

test('if starts are planned, a request that would give way delays nothing', (t) => {
  const { requests } = aListing(8, 20, [
    { status: 'running', width: 8, walltime: 50, startsAt: 10 },
    { status: 'queued', width: 8, walltime: 40, startsAt: 60 },
  ]);
  const planned = {
    at: 20,
    processorsFree: 0,
    ranking,
    requests: requests.map((request) => (request.status === 'queued' ? { ...request, rankedAt: 15 } : request)),
  };
  const limits = { processors: 8, requestsMax: 1, walltimeMax: 100, widthMax: 8, walltimeGranularity: 5 };
  t.deepEqual(
    [100, 20].map((walltime) => new QueueForecast(20, limits, planned).startOf(8, walltime)),
    [100, 60],
  );
});
