import test from 'ava';
import { staticHeuristic, type RequestFacts } from '@mutirao/core/requests';

// The limits of SDSC SP2 in costa2005, chapter 4: 128 processors, 18 h.
const hours = 3_600_000;
const facts: RequestFacts = {
  now: 0,
  limits: { processors: 128, requestsMax: 4, walltimeMax: 18 * hours, widthMax: 128, walltimeGranularity: 1 },
  listing: { at: 0, processorsFree: 128, requests: [] },
  pending: [],
  served: [],
  demand: { pendingTasks: 100, processors: 1, deadline: undefined },
  taskTimes: undefined,
};
const pending = { requestId: 'q1', width: 1, walltime: hours, status: 'queued', startedAt: 0 } as const;

function widths(change: Partial<RequestFacts>): number[] {
  return staticHeuristic.draft({ ...facts, ...change }).drafts.map((draft) => draft.width);
}

test('Alg. 3.1: every free slot gets a request of ceil(|T^p| / (maxPR - |M^p|)) processors', (t) => {
  t.deepEqual(widths({}), [25, 25, 25, 25]);
  t.deepEqual(widths({ demand: { ...facts.demand, pendingTasks: 101 } }), [26, 26, 26, 26]);
});

test('Alg. 3.1: no request is wider than maxP', (t) => {
  t.deepEqual(widths({ demand: { ...facts.demand, pendingTasks: 10_000 } }), [128, 128, 128, 128]);
});

test('Alg. 3.1: the walltime is maxT_r', (t) => {
  t.true(staticHeuristic.draft(facts).drafts.every((draft) => draft.walltime === 18 * hours));
});

test('Alg. 3.1, settled: |M^p| and p are fixed before the loop, so that all requests of one moment are equal', (t) => {
  t.deepEqual(widths({ pending: [pending] }), [34, 34, 34]);
});

test('Alg. 3.1: pending requests hold their slots, running ones too', (t) => {
  const running = { ...pending, status: 'running' as const };
  t.deepEqual(widths({ pending: [running, pending, pending] }), [100]);
  t.deepEqual(widths({ pending: [running, pending, pending, pending] }), []);
});

test('Alg. 3.1: nothing is asked for when no task is pending', (t) => {
  t.deepEqual(widths({ demand: { ...facts.demand, pendingTasks: 0 } }), []);
});
