import test from 'ava';
import {
  adaptiveHeuristic,
  findHeuristic,
  heuristicNames,
  staticHeuristic,
  type RequestDecision,
  type RequestFacts,
} from '@mutirao/core/requests';
import { aListing, someFacts } from '@mutirao/testkit';

test('a heuristic is found by its name', (t) => {
  t.is(findHeuristic('static'), staticHeuristic);
  t.deepEqual(heuristicNames, ['static', 'initial', 'adaptive', 'mixed', 'finish']);
  t.is(findHeuristic('auto'), findHeuristic('finish'));
});

test('an unknown name finds nothing', (t) => {
  t.is(findHeuristic('clairvoyant'), undefined);
});

/** The widths and walltimes that a heuristic asks for. */
function listShapes(name: string, facts: RequestFacts): number[][] {
  return (findHeuristic(name)?.draft(facts).drafts ?? []).map(({ width, walltime }) => [width, walltime]);
}

const limits = { processors: 8, requestsMax: 6, walltimeMax: 100, widthMax: 8, walltimeGranularity: 1 };
const options = {
  defaultTime: 10,
  holes: 'in-order',
  holeWalltime: 'whole-tasks',
  staticWidth: 'share',
  exchange: 'best',
} as const;

for (const name of heuristicNames) {
  test(`${name} asks for nothing where all pending tasks have a place`, (t) => {
    const facts = someFacts({
      limits,
      options,
      demand: { pendingTasks: 10, unplacedTasks: 0, processors: 1, deadline: undefined },
    });
    t.deepEqual(listShapes(name, facts), []);
    t.deepEqual(findHeuristic(name)?.draft(facts).reasons, [{ code: 'all-tasks-have-slots' }]);
  });
}

test('static asks for what has no place alone, and leaves the other slots free', (t) => {
  const shapes = (pendingTasks: number, unplacedTasks?: number, processors = 1): number[] =>
    listShapes(
      'static',
      someFacts({ limits, options, demand: { pendingTasks, unplacedTasks, processors, deadline: undefined } }),
    ).map(([width = 0]) => width);
  t.deepEqual(shapes(10, 2), [1, 1]);
  t.deepEqual(shapes(10, 7), [2, 2, 2, 2]);
  t.deepEqual(shapes(10, 2, 4), [4, 4]);
  t.deepEqual(shapes(2), [1, 1, 1, 1, 1, 1], 'a broker that does not say gets the requests of the source');
  t.deepEqual(shapes(1, 5), [1], 'no more than is pending');
});

test('initial stops once what has no place has one, each request counting with its width', (t) => {
  const listing = aListing(8, 0, [{ status: 'running', width: 6, walltime: 50 }]);
  const shapes = (unplacedTasks?: number): number[][] =>
    listShapes(
      'initial',
      someFacts({
        limits,
        options,
        listing,
        demand: { pendingTasks: 10, unplacedTasks, processors: 1, deadline: undefined },
      }),
    );
  t.deepEqual(shapes(1), [[1, 100]]);
  t.deepEqual(shapes(5), [
    [2, 100],
    [3, 10],
  ]);
  t.is(shapes().length, 6);
});

test('adaptive asks for the earliest of its chosen requests, as many as hold the tasks without a place', (t) => {
  // Two processors idle now, and all eight from 50 on.
  const listing = aListing(8, 0, [{ status: 'running', width: 6, walltime: 50 }]);
  const decide = (unplacedTasks?: number) =>
    adaptiveHeuristic.draft(
      someFacts({
        limits: { ...limits, requestsMax: 3 },
        options,
        listing,
        demand: { pendingTasks: 10, unplacedTasks, processors: 1, deadline: undefined },
      }),
    );
  const starts = (decision: RequestDecision) =>
    decision.candidates?.filter(({ chosen }) => chosen).map(({ startsAt }) => startsAt);
  const one = decide(1);
  t.deepEqual(
    one.drafts.map(({ width, walltime }) => [width, walltime]),
    [[1, 100]],
  );
  t.deepEqual(starts(one), [0]);
  t.deepEqual(one.reasons[1], { code: 'adaptive-earliest-only', requests: 1, unplacedTasks: 1 });
  t.deepEqual(
    decide(5).drafts.map(({ width }) => width),
    [1, 3, 3],
  );
  t.deepEqual(starts(decide()), [0, 50, 150]);
});

test('mixed adds its largest request to what has no place, once', (t) => {
  const facts = { limits, options, demand: { pendingTasks: 10, unplacedTasks: 1, processors: 1, deadline: undefined } };
  t.deepEqual(listShapes('mixed', someFacts({ ...facts, isFirst: true })), [
    [1, 100],
    [8, 100],
  ]);
  t.deepEqual(listShapes('mixed', someFacts({ ...facts, isFirst: false })), [[1, 100]]);
});
