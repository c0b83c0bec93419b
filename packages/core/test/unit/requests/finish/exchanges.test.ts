import test from 'ava';
import { finishHeuristic, readQueue, type PendingRequest, type RequestFacts } from '@mutirao/core/requests';
import { aListing, someFacts } from '@mutirao/testkit';

const second = 1000;
/** Others, as conservative backfilling promises: nothing is free in the first second. */
const others = [
  { width: 6, walltime: 1, startsAt: 0 },
  { width: 1, walltime: 6, startsAt: 1 },
  { width: 1, walltime: 6, startsAt: 1 },
  { width: 5, walltime: 11, startsAt: 7 },
  { width: 1, walltime: 10, startsAt: 1 },
  { width: 5, walltime: 6, startsAt: 18 },
  { width: 5, walltime: 11, startsAt: 24 },
  { width: 3, walltime: 15, startsAt: 35 },
].map(({ width, walltime, startsAt }) => ({
  width,
  walltime: walltime * second,
  startsAt: startsAt * second,
  status: startsAt === 0 ? ('running' as const) : ('queued' as const),
}));

function factsWith(pending: readonly PendingRequest[]): RequestFacts {
  return someFacts({
    limits: { processors: 6, requestsMax: 2, widthMax: 2, walltimeMax: 19 * second, walltimeGranularity: 2 },
    trigger: 'own',
    listing: aListing(6, 0, [
      ...others,
      ...pending.map(({ width, walltime, predictedStart = 0 }) => ({
        width,
        walltime,
        startsAt: predictedStart,
        status: 'queued' as const,
      })),
    ]),
    pending: pending.map((one, index) => ({ ...one, listedAs: String(others.length + index) })),
    demand: { pendingTasks: 5, processors: 2, deadline: undefined },
    taskTimes: { longest: 6 * second, mean: 6 * second, count: 1 },
  });
}

/** Promises those that were promised nothing the earliest places that all others leave. */
function promise(pending: readonly PendingRequest[]): PendingRequest[] {
  const places = new Map<string, number>();
  readQueue(factsWith(pending), {
    onPlaced: ({ managerRequestId }, startsAt) => {
      places.set(managerRequestId, startsAt);
    },
  });
  return pending.map((one, index) => ({
    ...one,
    predictedStart: one.predictedStart ?? places.get(String(others.length + index)) ?? 0,
  }));
}

test('if nothing happens, present requests stay', (t) => {
  let pending: PendingRequest[] = [];
  for (let round = 1; round <= 20; round += 1) {
    const { drafts, givenUp = [] } = finishHeuristic.draft(factsWith(pending));
    if (round > 8) t.deepEqual({ drafts, givenUp }, { drafts: [], givenUp: [] }, `decision ${round}`);
    pending = promise([
      ...pending.filter(({ requestId }) => !givenUp.some((one) => one.requestId === requestId)),
      ...drafts.map(
        ({ width, walltime }, index): PendingRequest => ({
          requestId: `r${round}.${index}`,
          width,
          walltime,
          status: 'queued',
          startedAt: 0,
        }),
      ),
    ]);
  }
});
