import test from 'ava';
import { calmFaults, drawScenario, runWorld, withFailures, type Scenario } from '../../../src/index.ts';

const log = {
  nodes: [
    {
      nodeId: '0.1',
      downs: [
        { start: 1_000_000, end: 3_000_000 },
        { start: 11_000_000, end: 11_500_000 },
      ],
    },
  ],
  factor: 1000,
};

/** One machine that is down after 10 s for 2 s, and a task of 60 s. */
const alone: Scenario = {
  version: 1,
  seed: '1',
  clusters: [],
  stormDuration: 600_000,
  faults: calmFaults,
  turnDelayMax: 0,
  network: { delayMax: 0, lossProbability: 0, duplicateProbability: 0 },
  labs: [
    { machines: [{ processors: 1, speed: 1, isLiar: false, downs: [{ after: 10_000, duration: 2000 }] }], downTime: 0 },
  ],
  jobs: [
    {
      submittedAfter: 0,
      taskCount: 1,
      meanTaskTime: 60_000,
      spread: 0,
      replicasMax: 1,
      failuresMax: 1,
      brokenTaskCount: 0,
      failureProbability: 0,
      inputCount: 0,
      hasOutput: false,
      isChecked: false,
    },
  ],
};

test('machines of labs fail as the nodes of a log did, that many times faster, from some failure on', (t) => {
  for (let seed = 0; seed < 50; seed += 1) {
    const scenario = { ...alone, seed: String(seed) };
    const [first, ...more] = withFailures(scenario, log).labs[0]?.machines[0]?.downs ?? [];
    t.true(first !== undefined && first.after < scenario.stormDuration / 2);
    if (first?.duration === 2000) t.deepEqual(more, [{ after: first.after + 10_000, duration: 500 }]);
    else t.deepEqual([first?.duration, more], [500, []]);
  }
  t.deepEqual(withFailures(alone, log), withFailures(alone, log));
});

test('a machine that goes down takes what it runs with it, and the task runs again when it is back', (t) => {
  const { failure, runCount, acceptedCount } = runWorld(alone);
  t.is(failure, undefined);
  t.deepEqual([runCount, acceptedCount], [2, 1]);
});

test('drawn worlds come to their end also with the failures of a log', (t) => {
  for (let seed = 0; seed < 20; seed += 1)
    t.is(runWorld(withFailures(drawScenario(String(seed)), log)).failure, undefined);
});
