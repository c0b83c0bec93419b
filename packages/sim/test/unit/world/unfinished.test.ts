import test from 'ava';
import { calmFaults, honestManager, World, worldStart, type Scenario } from '../../../src/index.ts';
import { findUnfinished } from '../../../src/world/unfinished.ts';

const minute = 60_000;

const scenario: Scenario = {
  version: 1,
  seed: 'unfinished',
  network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
  faults: calmFaults,
  turnDelayMax: 0,
  stormDuration: 0,
  jobs: [
    {
      submittedAfter: 5000,
      taskCount: 3,
      meanTaskTime: 10 * minute,
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
  clusters: [],
  labs: [{ machines: [{ processors: 2, speed: 1, isLiar: false }], downTime: 0 }],
};

const withCluster: Scenario = {
  ...scenario,
  labs: [],
  clusters: [
    {
      processors: 3,
      requestsMax: 1,
      widthMax: 2,
      walltimeMax: 60 * minute,
      compression: 'start-now',
      heuristic: 'static',
      localPerHour: 0,
      speedSpread: 0,
      faults: honestManager,
    },
  ],
};

function worldAt(minutes: number, of: Scenario): World {
  const world = new World(of, () => undefined);
  world.kernel.runUntil(worldStart + minutes * minute);
  return world;
}

test('a world in which all is done has nothing left', (t) => {
  t.deepEqual(findUnfinished(worldAt(30, scenario)), []);
  t.deepEqual(findUnfinished(worldAt(30, withCluster)), []);
});

test('a user who waits, open jobs, replicas and what holds them are left', (t) => {
  t.deepEqual(
    findUnfinished(worldAt(0, scenario)).filter((line) => line.includes('user')),
    ['the user waits for an answer'],
  );
  const world = worldAt(5, scenario);
  const left = findUnfinished(world);
  for (const line of [
    '2 tasks run',
    'job 1 is open with 0 of 3 finished, 0 failed, 0 cancelled',
    'lab0-pc0 holds replicas',
  ])
    t.true(left.includes(line), left.join('; '));
  t.true(
    left.some((line) => /^the broker has \d replicas$/.test(line)),
    left.join('; '),
  );
});

test('requests, and agents that live in allocations, are left', (t) => {
  const left = findUnfinished(worldAt(5, withCluster));
  for (const line of [
    'cluster0-manager has 1 requests of its provider',
    '2 agents live in allocations of cluster0-manager',
    'request q1 of cluster0 is running',
  ])
    t.true(left.includes(line), left.join('; '));
});

test('what is down cannot be asked', (t) => {
  const world = worldAt(30, withCluster);
  const [site] = world.clusters;
  for (const node of [world.broker, site!.cluster, site!.provider]) node.current?.life.end();
  t.deepEqual(findUnfinished(world), ['the broker is down', 'cluster0-manager is down', 'provider cluster0 is down']);
});
