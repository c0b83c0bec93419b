import test from 'ava';
import { heuristicDefaults, staticHeuristic, type RequestFacts } from '@mutirao/core/requests';

const facts: RequestFacts = {
  now: 0,
  limits: { processors: 16, requestsMax: 2, walltimeMax: 3_600_000, widthMax: 8, walltimeGranularity: 60_000 },
  listing: { at: 0, processorsFree: 16, requests: [] },
  pending: [],
  served: [],
  demand: { pendingTasks: 5, processors: 2, deadline: undefined },
  taskTimes: undefined,
};

test('a task of several processors counts with all of them, and a request holds whole tasks', (t) => {
  const { drafts } = staticHeuristic.draft(facts);
  t.deepEqual(
    drafts.map((draft) => draft.width),
    [6, 6],
  );
});

test('a width above the limit is cut to the most whole tasks that fit', (t) => {
  const { drafts } = staticHeuristic.draft({ ...facts, demand: { ...facts.demand, pendingTasks: 50, processors: 3 } });
  t.deepEqual(
    drafts.map((draft) => draft.width),
    [6, 6],
  );
});

test('it asks for the largest width if it is configured to', (t) => {
  const { drafts } = staticHeuristic.draft({ ...facts, options: { ...heuristicDefaults, staticWidth: 'largest' } });
  t.deepEqual(
    drafts.map((draft) => draft.width),
    [8, 8],
  );
});

test('a task wider than the resource gives is refused with the two numbers', (t) => {
  const decision = staticHeuristic.draft({ ...facts, demand: { ...facts.demand, processors: 9 } });
  t.deepEqual(decision, {
    drafts: [],
    reasons: [{ code: 'task-too-wide', taskProcessors: 9, requestProcessorsMax: 8 }],
  });
});

test('the walltime is a whole number of grains', (t) => {
  const { drafts } = staticHeuristic.draft({ ...facts, limits: { ...facts.limits, walltimeMax: 100_000 } });
  t.deepEqual(
    drafts.map((draft) => draft.walltime),
    [60_000, 60_000],
  );
});

test('a longest walltime below the grain asks for nothing and says so', (t) => {
  const decision = staticHeuristic.draft({ ...facts, limits: { ...facts.limits, walltimeMax: 59_999 } });
  t.deepEqual(decision.drafts, []);
  t.deepEqual(decision.reasons[0], {
    code: 'walltime-below-granularity',
    walltimeMsMax: 59_999,
    granularityMs: 60_000,
  });
});

test('each draft carries the numbers that made it', (t) => {
  const { drafts } = staticHeuristic.draft(facts);
  t.deepEqual(drafts[0]?.reasons[0], {
    code: 'static-equal-shares',
    tasks: 5,
    isPartOfDemand: false,
    taskProcessors: 2,
    freeSlots: 2,
    slots: 2,
    pendingRequests: 0,
    requestProcessors: 6,
    requestProcessorsMax: 8,
  });
});
