import test from 'ava';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import type { Duration } from '@mutirao/core/shared';
import { calmFaults, drawScenario, runWorld, sleepyScenario, type LeasePlan, type Scenario } from '../../src/index.ts';

const minute: Duration = 60_000;
const hour: Duration = 60 * minute;
const leasing: LeasePlan = { horizon: hour, sleepsPerHour: 0, sleepMax: 0 };
const asleep: LeasePlan = { ...leasing, sleeps: [{ after: 10 * minute, duration: 45 * minute }] };

/** A lab of eight processors and a bag that keeps them busy for some 75 minutes. */
function getScenario(lease: LeasePlan): Scenario {
  return {
    version: 1,
    seed: 'sleeping',
    turnDelayMax: 1,
    stormDuration: 3 * hour,
    network: { delayMax: 5, lossProbability: 0, duplicateProbability: 0 },
    faults: calmFaults,
    clusters: [],
    labs: [{ machines: Array.from({ length: 4 }, () => ({ processors: 2, speed: 1, isLiar: false })), downTime: 1000 }],
    jobs: [
      {
        submittedAfter: 1000,
        taskCount: 600,
        meanTaskTime: minute,
        spread: 0.5,
        replicasMax: 2,
        failuresMax: 3,
        brokenTaskCount: 0,
        failureProbability: 0,
        inputCount: 1,
        hasOutput: true,
        isChecked: false,
      },
    ],
    lease,
  };
}

/** How long the job took, what ran, and how much of it was adopted. @throws what went wrong in the world. */
function run(lease: LeasePlan): {
  readonly makespan: Duration;
  readonly runCount: number;
  readonly adoptedCount: number;
} {
  let [began, ended, adoptedCount] = [0, 0, 0];
  const { failure, runCount, acceptedCount } = runWorld(getScenario(lease), ({ at, process, changes }) => {
    if (process !== 'broker') return;
    for (const change of changes as readonly BrokerChange[]) {
      if (change.kind === 'JobAccepted') began = at;
      if (change.kind === 'JobEnded') ended = at;
      if (change.kind === 'ReplicasDispatched' && change.isAdopted === true) adoptedCount += change.taskIndexes.length;
    }
  });
  if (failure !== undefined) throw new Error(failure.message);
  if (acceptedCount !== 600) throw new Error(`${acceptedCount} results were taken`);
  return { makespan: ended - began, runCount, adoptedCount };
}

test('a home machine that sleeps for three quarters of an hour amid a long bag loses no time, and nothing runs twice for it', (t) => {
  const [awake, sleepy] = [run(leasing), run(asleep)];
  t.log(
    `makespan ${awake.makespan / minute} min awake, ${sleepy.makespan / minute} min asleep; ${awake.runCount} ` +
      `and ${sleepy.runCount} runs`,
  );
  t.true(sleepy.makespan <= 1.01 * awake.makespan);
  t.true(sleepy.runCount <= awake.runCount);
  t.true(sleepy.adoptedCount > 300);
});

test('without a lease the same sleep costs most of its time', (t) => {
  t.true(run({ ...asleep, horizon: 0 }).makespan > run(leasing).makespan + 40 * minute);
});

test('where home sleeps most of the time and providers fall while they go on alone, nothing is lost, invented or kept for ever in twenty worlds', (t) => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { failure } = runWorld(sleepyScenario(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});
