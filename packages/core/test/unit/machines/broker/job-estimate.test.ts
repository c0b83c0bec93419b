import test from 'ava';
import {
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  explainTask,
  estimateJob,
} from '@mutirao/core/machines/broker';
import { aGroup, aJob, aMachine, anEnd } from '@mutirao/testkit';

/** A broker with so many machines of one processor, none of which holds more than it runs, and a job. */
function aBroker(machineCount: number, taskCount: number) {
  const state = createBrokerState({ prefetch: { target: 0, replicasMax: 1 }, replicateAfter: 1e9 });
  let sequence = 0;
  const step = (now: number, ...inputs: BrokerInput[]): void => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  for (let index = 0; index < machineCount; index++)
    step(0, { kind: 'MachineJoined', providerId: 'p', facts: aMachine(`p/m${index}`), heldReplicaIds: [] });
  step(0, {
    kind: 'JobSubmitted',
    replyTo: 1,
    userId: 'ann',
    clientJobId: '',
    spec: aJob(1, { groups: [aGroup(taskCount)] }),
  });
  const job = state.jobs.get(1);
  if (job === undefined) throw new Error('the job was not accepted');
  const ends = (now: number, name: string, replicaId: number, startedAt: number): void => {
    step(now, {
      kind: 'MachineReported',
      machineId: `p/${name}`,
      report: {
        sequence: ++sequence,
        started: [],
        ended: [anEnd(replicaId, 'succeeded', { startedAt, endedAt: now })],
      },
    });
    step(now, { kind: 'ResultAccepted', replicaId });
  };
  const starts = (now: number, name: string, replicaId: number): void => {
    step(now, {
      kind: 'MachineReported',
      machineId: `p/${name}`,
      report: { sequence: ++sequence, started: [{ replicaId, startedAt: now }], ended: [] },
    });
  };
  return { state, job, ends, starts, estimate: (now: number) => estimateJob(state, job, now) };
}

test('what is left of a job is its work over the places that it has, and the longest task on top at most', (t) => {
  const { ends, starts, estimate, state } = aBroker(2, 12);
  t.deepEqual(estimate(1), { times: undefined, slotCount: 2, remaining: undefined });
  for (let round = 0; round < 2; round++) {
    ends(1000 * (round + 2), 'm0', 2 * round + 1, 1000 * (round + 1));
    ends(1000 * (round + 2), 'm1', 2 * round + 2, 1000 * (round + 1));
  }
  starts(3000, 'm0', 5);
  starts(3000, 'm1', 6);
  const { times, slotCount, remaining } = estimate(3000);
  t.like(times, { count: 4, censoredCount: 0 });
  t.is(slotCount, 2);
  // Six tasks wait and two begin: four rounds of a second, in bins that make times longer by a sixteenth at most.
  const { least, most } = remaining ?? { least: 0, most: 0 };
  t.true(least >= 4000 && least <= 4250, String(least));
  t.true(most >= least + 1000 && most <= least + 1063, String(most));
  const explained = explainTask(state, { userId: 'ann', jobId: 1, taskIndex: 4, past: [] }, 3000);
  t.like(
    explained?.details.find(({ code }) => code === 'replica-rest'),
    { code: 'replica-rest', machineId: 'p/m0', expectedMs: 1000 },
  );
});

test('what waits at a busy machine has no place yet', (t) => {
  const state = createBrokerState();
  const inputs: BrokerInput[] = [
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/m0'), heldReplicaIds: [] },
    {
      kind: 'JobSubmitted',
      replyTo: 1,
      userId: 'ann',
      clientJobId: '',
      spec: aJob(1, { groups: [aGroup(9, { noOp: true })] }),
    },
  ];
  brokerMachine.step(state, inputs, 1);
  const job = state.jobs.get(1);
  t.is(state.replicas.size, 9);
  t.is(job && estimateJob(state, job, 1).slotCount, 1);
});

test('when all open tasks run, the remaining time is that of the last one to end', (t) => {
  const { ends, starts, estimate } = aBroker(2, 3);
  starts(1000, 'm1', 2);
  ends(2000, 'm0', 1, 1000);
  starts(2000, 'm0', 3);
  const { slotCount, remaining } = estimate(2500);
  t.is(slotCount, 2);
  // The one that runs for half a second has half a second left; the other has lasted longer than any did, and is taken
  // to last as long again.
  t.deepEqual(remaining, { least: 1500, most: 1500 });
});

test('a job without a running task has no estimate of its end', (t) => {
  const { ends, estimate, job } = aBroker(1, 1);
  ends(2000, 'm0', 1, 1000);
  t.is(job.status, 'finished');
  t.like(estimate(2000), { slotCount: 0, remaining: undefined, times: { count: 1 } });
});

test('replicas that were withdrawn are counted in the explanation of a task, not listed, and what ran is', (t) => {
  const { state, starts } = aBroker(1, 1);
  starts(10, 'm0', 1);
  const ended = (replicaId: number, disposition: 'withdrawn' | 'failed') => ({
    machineId: `p/m${replicaId}`,
    ending: { ...anEnd(replicaId, 'failed', { startedAt: 0, endedAt: 5 }), disposition, reason: '', detail: '' },
  });
  const explain = (past: readonly ReturnType<typeof ended>[]) =>
    explainTask(state, { userId: 'ann', jobId: 1, taskIndex: 0, past }, 20)?.details.slice(-2);
  t.like(explain([ended(7, 'withdrawn'), ended(8, 'failed'), ended(9, 'withdrawn')]), [
    { code: 'replica-ended', replicaId: 8 },
    { code: 'replicas-withdrawn', replicas: 2 },
  ]);
  t.like(explain([ended(8, 'failed'), ended(9, 'withdrawn')]), [
    { code: 'replica-ended', replicaId: 8 },
    { code: 'replica-ended', replicaId: 9 },
  ]);
});
