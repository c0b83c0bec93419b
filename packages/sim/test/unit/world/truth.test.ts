import test from 'ava';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import { InvariantError } from '@mutirao/core/shared';
import { calmFaults, type JobPlan, type Scenario } from '../../../src/index.ts';
import { predecessorsIn } from '../../../src/world/plan-edges.ts';
import { Truth } from '../../../src/world/truth.ts';

const plan: JobPlan = {
  submittedAfter: 0,
  taskCount: 100,
  meanTaskTime: 10_000,
  spread: 0.5,
  replicasMax: 1,
  failuresMax: 1,
  brokenTaskCount: 2,
  failureProbability: 0,
  inputCount: 0,
  hasOutput: true,
  isChecked: true,
};

function getTruth(changes: Partial<JobPlan> = {}, seed = 'truth'): Truth {
  const scenario: Scenario = {
    version: 1,
    seed,
    jobs: [{ ...plan, ...changes }],
    clusters: [],
    labs: [],
    network: { delayMax: 0, lossProbability: 0, duplicateProbability: 0 },
    faults: calmFaults,
    turnDelayMax: 0,
    stormDuration: 0,
  };
  return new Truth(scenario);
}

function replica(replicaId: number, taskIndex: number, slots: readonly number[] = [0], label = '0'): HeldReplica {
  return {
    start: { replicaId, taskIndex },
    template: { environment: { SIMULATED_JOB: label } },
    slots,
  } as unknown as HeldReplica;
}

const place = { incarnation: 'a1', machine: 'lab/pc0', speed: 1 };
const wrong = (message: RegExp) => ({ instanceOf: InvariantError, message });

test('a slot holds one run at a time', (t) => {
  const truth = getTruth();
  truth.beginRun(place, replica(1, 5, [0, 1]));
  truth.beginRun(place, replica(2, 6, [2]));
  t.is(truth.runningCount, 2);
  t.throws(() => truth.beginRun(place, replica(3, 7, [1])), wrong(/lab\/pc0 runs r3 in slot 1, where r1 runs/));
  t.notThrows(
    () => truth.beginRun({ ...place, incarnation: 'a2' }, replica(4, 7, [1])),
    'the agent that came after it has slots of its own',
  );
});

test("a slot is free again when its run ends, and all are when the agent's process does", (t) => {
  const truth = getTruth();
  truth.beginRun(place, replica(1, 5, [0]));
  truth.beginRun(place, replica(2, 6, [1]));
  truth.endRun('a1', [0]);
  t.notThrows(() => truth.beginRun(place, replica(3, 7, [0])));
  t.is(truth.runningCount, 2);
  truth.endAllRuns('a1');
  t.deepEqual([truth.runningCount, truth.runCount], [0, 3]);
  t.notThrows(() => truth.beginRun(place, replica(4, 8, [0, 1])));
});

test('a task that was never submitted cannot run', (t) => {
  t.throws(
    () => getTruth().beginRun(place, replica(1, 0, [0], '4')),
    wrong(/a task of job "4", which nobody submitted/),
  );
  t.throws(() => getTruth().beginRun(place, replica(1, 100)), wrong(/task 100 of a job of 100/));
});

test('a task takes as long wherever and whenever it runs, within the spread, and broken tasks fail everywhere', (t) => {
  const truth = getTruth();
  const dispositions = Array.from({ length: 100 }, (_, task) =>
    truth.beginRun({ ...place, incarnation: `a${task}` }, replica(task + 1, task)),
  );
  const again = Array.from({ length: 100 }, (_, task) =>
    truth.beginRun({ ...place, incarnation: `b${task}` }, replica(task + 200, task)),
  );
  t.deepEqual(again, dispositions);
  t.true(dispositions.every(({ time }) => time >= 5000 && time <= 15_000));
  t.true(new Set(dispositions.map(({ time }) => time)).size > 90);
  t.is(
    truth.beginRun({ ...place, incarnation: 'fast', speed: 2 }, replica(300, 7)).time,
    Math.ceil(dispositions[7]!.time / 2),
  );
  t.deepEqual(
    dispositions.map(({ exitStatus }) => exitStatus),
    [1, 1, ...Array<number>(98).fill(0)],
  );
});

test('runs fail by chance as often as the plan says, and each by itself', (t) => {
  const truth = getTruth({ failureProbability: 0.2 });
  const failed = Array.from(
    { length: 1000 },
    (_, run) => truth.beginRun({ ...place, incarnation: `a${run}` }, replica(run, 50)).exitStatus,
  ).filter((status) => status === 1).length;
  t.true(failed > 150 && failed < 250, `${failed} failed`);
});

test('a result is taken only from the replica that ran that task, and well', (t) => {
  const truth = getTruth();
  truth.beginRun(place, replica(1, 5));
  truth.endAllRuns('a1');
  truth.beginRun(place, replica(2, 0));
  const taken = (changes: object) => () => {
    truth.checkAccepted({ label: '0', taskIndex: 5, replicaId: 1, sha256: 'f00', ...changes });
  };
  t.notThrows(taken({}));
  t.throws(taken({ taskIndex: 6 }), wrong(/r1 never did task 6 of job "0"/));
  t.throws(taken({ replicaId: 3 }), wrong(/r3 never did task 5/));
  t.throws(taken({ replicaId: 2, taskIndex: 0 }), wrong(/r2 never did task 0/), 'the run failed');
});

test('a wrong result that a check would have found is not taken', (t) => {
  const result = { label: '0', taskIndex: 5, replicaId: 1, sha256: 'bad000' };
  const checked = getTruth();
  checked.beginRun(place, replica(1, 5));
  t.throws(
    () => {
      checked.checkAccepted(result);
    },
    wrong(/is wrong, was checked, and was taken/),
  );
  const unchecked = getTruth({ isChecked: false });
  unchecked.beginRun(place, replica(1, 5));
  t.notThrows(() => {
    unchecked.checkAccepted(result);
  });
});

test('a failure is counted only where that replica failed at that task, or its checked result was wrong', (t) => {
  const truth = getTruth();
  truth.beginRun(place, replica(1, 0));
  truth.beginRun({ ...place, incarnation: 'a2' }, replica(2, 5));
  const counted = (changes: object) => () => {
    truth.checkFailed({ label: '0', taskIndex: 0, replicaId: 1, reason: 'MUT_TASK_FAILED', ...changes });
  };
  t.notThrows(counted({}));
  t.throws(counted({ taskIndex: 1 }), wrong(/r1 did not fail at task 1/));
  t.throws(counted({ taskIndex: 5, replicaId: 2 }), wrong(/r2 did not fail at task 5/));
  t.notThrows(counted({ taskIndex: 5, replicaId: 2, reason: 'MUT_CHECK_FAILED' }));
  t.throws(
    counted({ taskIndex: 5, replicaId: 3, reason: 'MUT_CHECK_FAILED' }),
    wrong(/r3 did not fail/),
    'it never ran',
  );
});

test('the time of results is that of the runs that went well', (t) => {
  const truth = getTruth();
  const times = [5, 6].map((task) => truth.beginRun({ ...place, incarnation: `a${task}` }, replica(task, task)).time);
  truth.beginRun(place, replica(1, 0));
  t.is(truth.findTime([5, 6, 1, 99]), times[0]! + times[1]!);
  t.deepEqual([truth.hasBegun(1), truth.hasBegun(99)], [true, false]);
});

test('a task of a workflow begins after a result of each one that it waits for was taken', (t) => {
  const plan = { predecessorsMax: 1 };
  const later =
    Array.from({ length: 100 }, (_, index) => index).find((index) => (predecessorsIn(plan, index)[0] ?? 0) > 2) ?? 0;
  const before = predecessorsIn(plan, later)[0] ?? 0;
  const truth = getTruth({ ...plan, hasOutput: false, isChecked: false });
  t.throws(
    () => truth.beginRun(place, replica(1, later)),
    wrong(/and no result was taken of task \d+, which it waits for/),
  );
  const chain = [before];
  for (const task of chain) chain.push(...predecessorsIn(plan, task));
  for (const [position, task] of chain.toReversed().entries()) {
    truth.beginRun(place, replica(10 + position, task));
    truth.endRun('a1', [0]);
    truth.checkAccepted({ label: '0', taskIndex: task, replicaId: 10 + position });
  }
  t.notThrows(() => truth.beginRun(place, replica(2, later)));
});
