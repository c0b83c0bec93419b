import test from 'ava';
import {
  drawScenario,
  kindOfFailure,
  readScenario,
  shrinkScenario,
  type Scenario,
  type WorldFailure,
} from '../../../src/index.ts';

/** A large world with everything in it. */
const large: Scenario = (() => {
  for (let seed = 0; ; seed += 1) {
    const scenario = drawScenario(String(seed));
    const { jobs, clusters, labs, faults } = scenario;
    if (jobs.length === 3 && clusters.length === 2 && (labs[0]?.machines.length ?? 0) > 2 && faults.crashesPerHour > 0)
      return scenario;
  }
})();

const failure: WorldFailure = { after: 123_456, phase: 'storm', message: 'r17 runs twice', stack: '' };

/** A run that fails where this holds, in the same way but for its numbers. */
function failingWhere(holds: (scenario: Scenario) => boolean): (scenario: Scenario) => WorldFailure | undefined {
  return (scenario) =>
    holds(scenario) ? { ...failure, after: 1000, message: `r${scenario.jobs.length} runs twice` } : undefined;
}

test('what a failure does not need is taken away', (t) => {
  const run = failingWhere(({ clusters, jobs }) => clusters.length > 0 && jobs.some(({ taskCount }) => taskCount >= 3));
  const { scenario, failure: last } = shrinkScenario(
    { ...large, jobs: large.jobs.map((job) => ({ ...job, taskCount: 60 })) },
    failure,
    { run, triesMax: 1000 },
  );
  t.like(scenario, {
    turnDelayMax: 0,
    labs: [],
    network: { delayMax: 0, lossProbability: 0, duplicateProbability: 0 },
    seed: large.seed,
    jobs: [
      {
        taskCount: 3,
        submittedAfter: 0,
        spread: 0,
        replicasMax: 1,
        failuresMax: 1,
        inputCount: 0,
        isChecked: false,
        hasOutput: false,
      },
    ],
    clusters: [
      {
        processors: 1,
        widthMax: 1,
        requestsMax: 1,
        localPerHour: 0,
        speedSpread: 0,
        heuristic: 'static',
        faults: { startsTwice: 0, listingLies: 0 },
      },
    ],
    faults: { crashesPerHour: 0, fallsPerHour: 0, breaksPerHour: 0, skewMax: 0 },
  });
  t.deepEqual(
    [scenario.jobs.length, scenario.clusters.length, 'cancelledAfter' in (scenario.jobs[0] ?? {})],
    [1, 1, false],
  );
  t.is(last.message, 'r1 runs twice');
});

test('what a failure needs stays', (t) => {
  const run = failingWhere(({ labs, faults }) => (labs[0]?.machines.length ?? 0) >= 2 && faults.crashesPerHour > 0);
  const { scenario } = shrinkScenario(large, failure, { run, triesMax: 1000 });
  t.is(scenario.labs[0]?.machines.length, 2);
  t.is(scenario.faults.crashesPerHour, 1);
  t.is(scenario.faults.breaksPerHour, 0);
});

test('a storm is cut off right after the failure', (t) => {
  const { scenario } = shrinkScenario(large, failure, {
    run: failingWhere(({ stormDuration }) => stormDuration > 1000),
    triesMax: 1000,
  });
  t.is(scenario.stormDuration, 1001);
});

test('another failure is not taken for the same', (t) => {
  const other = (found: Partial<WorldFailure>) => () => ({ ...failure, ...found });
  for (const run of [other({ phase: 'healing' }), other({ message: 'r17 is lost' })])
    t.is(shrinkScenario(large, failure, { run, triesMax: 50 }).scenario, large);
});

test('failures are the same whatever their numbers, and however often a part is said', (t) => {
  const getKind = (message: string): string => kindOfFailure({ ...failure, message });
  t.is(
    getKind('not at its end: job 1 is open; job 2 is open'),
    getKind('not at its end: job 12 is open; job 3 is open; job 4 is open'),
  );
  t.not(getKind('job 1 is open'), getKind('job 1 is open; 3 tasks run'));
  t.not(kindOfFailure(failure), kindOfFailure({ ...failure, phase: 'healing' }));
});

test('it gives up after a limited number of tries', (t) => {
  let runCount = 0;
  const run = (): WorldFailure => ({ ...failure, message: `r${runCount++} runs twice` });
  t.is(shrinkScenario(large, failure, { run, triesMax: 7 }).tryCount, 7);
  t.is(runCount, 7);
});

test('only scenarios that can be run are tried', (t) => {
  const run = (scenario: Scenario): WorldFailure => {
    t.notThrows(() => readScenario(scenario));
    return failure;
  };
  const { scenario } = shrinkScenario(large, failure, { run, triesMax: 1000 });
  t.is(scenario.clusters.length + scenario.labs.length, 1);
});

test('a reduction that fails under another seed only is kept with it', (t) => {
  const run = failingWhere(({ seed, clusters }) => clusters.length === 2 || seed === `${large.seed}.2`);
  const { scenario } = shrinkScenario(large, failure, { run, triesMax: 2000 });
  t.is(scenario.seed, `${large.seed}.2`);
  t.is(scenario.clusters.length + scenario.labs.length, 1);
});
