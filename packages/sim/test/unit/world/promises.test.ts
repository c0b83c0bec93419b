import test from 'ava';
import type { HeldReplica } from '@mutirao/core/machines/agent';
import type { BrokerChange } from '@mutirao/core/machines/broker';
import { InvariantError } from '@mutirao/core/shared';
import { calmFaults } from '../../../src/index.ts';
import { SimulatedDisk } from '../../../src/world/disk.ts';
import { Promises } from '../../../src/world/promises.ts';
import { Truth } from '../../../src/world/truth.ts';

const wrong = (message: RegExp) => ({ instanceOf: InvariantError, message });

/** Promises, in a world in which replica 10 t + k ran task t of the only job, and well but for task 0. */
function listPromises(): Promises {
  const plan = {
    submittedAfter: 0,
    taskCount: 3,
    meanTaskTime: 1000,
    spread: 0,
    replicasMax: 2,
    failuresMax: 2,
    brokenTaskCount: 1,
    failureProbability: 0,
    inputCount: 0,
    hasOutput: false,
    isChecked: false,
  };
  const truth = new Truth({
    version: 1,
    seed: 'promises',
    jobs: [plan, plan],
    clusters: [],
    labs: [],
    network: { delayMax: 0, lossProbability: 0, duplicateProbability: 0 },
    faults: calmFaults,
    turnDelayMax: 0,
    stormDuration: 0,
  });
  for (let replicaId = 0; replicaId < 30; replicaId += 1) {
    const replica = {
      start: { replicaId, taskIndex: Math.floor(replicaId / 10) },
      template: { environment: { SIMULATED_JOB: '0' } },
      slots: [0],
    };
    truth.beginRun({ incarnation: `a${replicaId}`, machine: 'm', speed: 1 }, replica as unknown as HeldReplica);
  }
  return new Promises(truth);
}

const accepted = (jobId: number, clientJobId = '0'): BrokerChange => ({
  kind: 'JobAccepted',
  jobId,
  userId: 'user',
  clientJobId,
  spec: { replicasMax: 2, failuresMax: 2 } as never,
  at: 0,
});
const over = (jobId: number, status: 'finished' | 'failed' | 'cancelled' = 'finished'): BrokerChange => ({
  kind: 'JobEnded',
  jobId,
  status,
  at: 0,
});
const placed = (taskIndex: number, firstReplicaId: number): BrokerChange => ({
  kind: 'ReplicasDispatched',
  machineId: 'm',
  jobId: 1,
  firstReplicaId,
  taskIndexes: [taskIndex],
  at: 0,
});
const ended = (
  replicaId: number,
  disposition: string,
  taskStatus: string,
  taskIndex = Math.floor(replicaId / 10),
): BrokerChange => ({
  kind: 'ReplicasEnded',
  machineId: 'm',
  jobId: 1,
  at: 0,
  endings: [{ replicaId, taskIndex, disposition, taskStatus, reason: '', outputs: [] } as never],
});
const done = (replicaId: number): BrokerChange => ended(replicaId, 'accepted', 'finished');
const allDone = [
  placed(0, 0),
  ended(0, 'failed', 'ready'),
  placed(0, 1),
  ended(1, 'failed', 'failed'),
  placed(1, 10),
  done(10),
  placed(2, 20),
  done(20),
];

function receiving(...changes: readonly BrokerChange[]): () => Promises {
  return () => {
    const promises = listPromises();
    promises.receive(changes);
    return promises;
  };
}

function diskWith(...changes: readonly BrokerChange[]): SimulatedDisk<BrokerChange> {
  const disk = new SimulatedDisk<BrokerChange>();
  for (const change of changes) disk.write([change], true);
  return disk;
}

test('a submission that makes two jobs is an error', (t) => {
  const promises = listPromises();
  promises.reportAccepted('0', 1);
  t.notThrows(() => {
    promises.reportAccepted('0', 1);
  });
  t.is(promises.jobIdOf('0'), 1);
  t.throws(
    () => {
      promises.reportAccepted('0', 2);
    },
    wrong(/job "0" was accepted as 1 and again as 2/),
  );
  t.throws(receiving(accepted(1), accepted(2)), wrong(/"0" was submitted once and accepted twice/));
});

test('a task whose result is taken twice is an error, from whichever replica', (t) => {
  const twins = [accepted(1), placed(1, 10), placed(1, 11), done(10)];
  t.is(receiving(...twins, ended(11, 'surplus', 'finished'))().acceptedCount, 1);
  t.deepEqual([...receiving(...twins)().acceptedReplicaIds()], [10]);
  t.throws(receiving(...twins, done(11)), wrong(/task 1 of job 1 was accepted from r10 and again from r11/));
});

test('a result that was never produced is an error as it is taken', (t) => {
  t.throws(receiving(accepted(1), placed(1, 20), ended(20, 'accepted', 'finished', 1)), wrong(/r20 never did task 1/));
  t.throws(receiving(accepted(1), placed(0, 1), done(1)), wrong(/r1 never did task 0/), 'the run failed');
});

test('a replica ends once, for the task that it was placed for, and nothing is placed for what is over', (t) => {
  t.throws(receiving(accepted(1), done(10)), wrong(/r10 ends, and was not placed for task 1/));
  t.throws(
    receiving(accepted(1), placed(1, 10), ended(10, 'lost', 'ready'), ended(10, 'lost', 'ready')),
    wrong(/r10 ends, and was not placed/),
  );
  t.throws(receiving(accepted(1), placed(1, 10), placed(2, 10)), wrong(/r10 is placed twice/));
  t.throws(
    receiving(accepted(1), placed(1, 10), done(10), placed(1, 11)),
    wrong(/task 1 of job 1 is finished and placed/),
  );
  t.throws(
    receiving(accepted(1), ...allDone, over(1, 'failed'), placed(2, 21)),
    wrong(/job 1 is over and r21 of it is placed/),
  );
});

test('a task is given up when its failures are spent, not before and not after', (t) => {
  t.notThrows(receiving(accepted(1), ...allDone));
  t.throws(receiving(accepted(1), placed(0, 0), ended(0, 'failed', 'failed')), wrong(/was given up after 1 failures/));
  t.throws(
    receiving(accepted(1), placed(0, 0), ended(0, 'failed', 'ready'), placed(0, 1), ended(1, 'failed', 'ready')),
    wrong(/goes on after 2 failures/),
  );
  t.throws(receiving(accepted(1), placed(1, 10), ended(10, 'failed', 'ready')), wrong(/r10 did not fail at task 1/));
});

test('a job ends when all its tasks have, and as they did', (t) => {
  t.notThrows(receiving(accepted(1), ...allDone, over(1, 'failed')));
  t.throws(
    receiving(accepted(1), ...allDone, over(1, 'finished')),
    wrong(/job 1 ended as finished with 2 of 3 tasks finished and 1 failed/),
  );
  t.throws(receiving(accepted(1), placed(1, 10), done(10), over(1, 'cancelled')), wrong(/nobody cancelled it/));
  t.notThrows(receiving(accepted(1), { kind: 'JobCancelled', jobId: 1, reason: '', at: 0 }, over(1, 'cancelled')));
});

test('a job that was promised and is not in the journal is an error', (t) => {
  const promises = listPromises();
  promises.reportAccepted('0', 1);
  t.notThrows(() => {
    promises.checkDisk(diskWith(accepted(1)));
  });
  t.throws(
    () => {
      promises.checkDisk(diskWith());
    },
    wrong(/job 1 \("0"\) was promised and is not in the journal/),
  );
});

test('a job that had ended and is open again is an error', (t) => {
  const lines = [accepted(1), ...allDone, over(1, 'failed')];
  t.notThrows(() => {
    receiving(...lines)().checkDisk(diskWith(...lines));
  });
  t.throws(
    () => {
      receiving(...lines)().checkDisk(diskWith(...lines.slice(0, -1)));
    },
    wrong(/job 1 had ended and is open again/),
  );
});

test('a result that was taken and not synced may be taken again after a fall, and one that the journal has may not', (t) => {
  const kept = [accepted(1), placed(2, 20), done(20)];
  const promises = receiving(...kept, placed(1, 10), done(10))();
  t.is(promises.acceptedCount, 2);
  promises.checkDisk(diskWith(...kept));
  t.is(promises.acceptedCount, 1);
  t.notThrows(() => {
    promises.receive([placed(1, 11), done(11)]);
  });
  t.throws(
    () => {
      promises.checkDisk(diskWith(...kept, done(20)));
    },
    wrong(/r20 ends, and was not placed/),
  );
});

test('failed and cancelled tasks may begin again on a retry, and finished ones may not', (t) => {
  const retried = (...taskIndexes: readonly number[]): BrokerChange => ({
    kind: 'TasksRetried',
    jobId: 1,
    taskIndexes,
    at: 0,
  });
  const hasFailed = [accepted(1), ...allDone, over(1, 'failed')];
  t.notThrows(
    receiving(
      ...hasFailed,
      retried(),
      placed(0, 2),
      ended(2, 'failed', 'ready'),
      placed(0, 3),
      ended(3, 'failed', 'failed'),
      over(1, 'failed'),
    ),
  );
  t.notThrows(receiving(...hasFailed, retried(0), placed(0, 2)));
  t.throws(receiving(...hasFailed, placed(0, 2)), wrong(/job 1 is over and r2 of it is placed/));
  t.throws(receiving(...hasFailed, retried(1), placed(0, 2)), wrong(/task 0 of job 1 is failed and placed/));
  t.throws(receiving(...hasFailed, retried(), placed(1, 11)), wrong(/task 1 of job 1 is finished and placed/));
  t.throws(
    receiving(...hasFailed, retried(), placed(0, 2), ended(2, 'failed', 'failed')),
    wrong(/was given up after 1 failures/),
  );
  const cancelled: BrokerChange = { kind: 'JobCancelled', jobId: 1, reason: '', at: 0 } as never;
  t.throws(
    receiving(accepted(1), placed(1, 10), cancelled, retried(), ended(10, 'cancelled', 'cancelled')),
    wrong(/task 1 of job 1 is cancelled with r10, and was retried/),
  );
  t.notThrows(
    receiving(accepted(1), placed(1, 10), cancelled, retried(), ended(10, 'cancelled', 'ready'), placed(1, 11)),
  );
  t.notThrows(
    receiving(accepted(1), placed(1, 10), cancelled, retried(0), ended(10, 'cancelled', 'cancelled')),
    'only another task was retried',
  );
  const oneFailure = [accepted(1), placed(0, 0), ended(0, 'failed', 'ready')];
  t.notThrows(
    receiving(...oneFailure, cancelled, over(1, 'cancelled'), retried(), placed(0, 1), ended(1, 'failed', 'ready')),
  );
  t.throws(receiving(...oneFailure, placed(0, 1), ended(1, 'failed', 'ready')), wrong(/goes on after 2 failures/));
  t.throws(receiving(accepted(1), cancelled, placed(1, 10)), wrong(/job 1 is over and r10 of it is placed/));
});
