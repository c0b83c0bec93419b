import test from 'ava';
import {
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  explainJob,
  findJobSummary,
} from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

type Reply = Extract<BrokerCommand, { readonly kind: 'Reply' }>;

function aBroker(failedTasksMax = 2) {
  const state = createBrokerState();
  const replies: Reply[] = [];
  const step = (now: number, ...inputs: BrokerInput[]): readonly string[] => {
    const { commands } = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    replies.splice(0, replies.length, ...commands.flatMap((command) => (command.kind === 'Reply' ? [command] : [])));
    return commands.map(({ kind }) => kind);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
    {
      kind: 'JobSubmitted',
      replyTo: 1,
      userId: 'ann',
      clientJobId: '',
      spec: aJob(5, { failuresMax: 1, replicasMax: 1, failedTasksMax }),
    },
    { kind: 'MachineJoined', providerId: 'p', facts: aMachine('p/m', { processors: 3 }), heldReplicaIds: [] },
  );
  const fail = (sequence: number, replicaId: number): readonly string[] =>
    step(sequence, {
      kind: 'MachineReported',
      machineId: 'p/m',
      report: { sequence, started: [], ended: [anEnd(replicaId, 'failed', { startedAt: 1, endedAt: 2 })] },
    });
  const retry = (now: number, ...taskIndexes: number[]): unknown => {
    step(now, { kind: 'TasksRetried', replyTo: 2, userId: 'ann', jobId: 1, taskIndexes });
    return replies[0]?.reply;
  };
  return { state, step, fail, retry };
}

test('a job is stopped when as many of its tasks have failed as may, not before, and has failed', (t) => {
  const { state, step, fail } = aBroker();
  fail(1, 1);
  t.like(findJobSummary(state, 'ann', 1), { status: 'running', failedCount: 1 });
  t.true(fail(2, 2).includes('CancelReplicas'), 'what runs is ended');
  t.like(findJobSummary(state, 'ann', 1), { cancelReason: { code: 'failed-tasks-reached', failedTasks: 2 } });
  step(3, { kind: 'MachineLost', machineId: 'p/m', reason: 'MUT_MACHINE_LOST' });
  t.like(findJobSummary(state, 'ann', 1), { status: 'failed', failedCount: 2, cancelledCount: 3 });
  t.deepEqual(explainJob(state, 'ann', 1, 9)?.details.slice(0, 2), [
    { code: 'tasks-failed-listed', tasks: 2, jobId: 1 },
    { code: 'tasks-cancelled', tasks: 3, cause: { code: 'failed-tasks-reached', failedTasks: 2 } },
  ]);
});

test('once what failed is retried, the job goes on until as many have failed again', (t) => {
  const { state, step, fail } = aBroker();
  fail(1, 1);
  fail(2, 2);
  step(3, { kind: 'TasksRetried', replyTo: 2, userId: 'ann', jobId: 1, taskIndexes: [] });
  t.like(findJobSummary(state, 'ann', 1), { status: 'running', failedCount: 0, cancelReason: '' });
});

test('tasks of a stopped job are not retried while the others that failed would stop it at once', (t) => {
  const { state, fail, retry } = aBroker();
  fail(1, 1);
  fail(2, 2);
  t.deepEqual(retry(3, 4), {
    ok: false,
    code: 'MUT_BAD_REQUEST',
    fault: { code: 'retry-leaves-failed-tasks', jobId: 1, failedTasks: 2, failedTasksMax: 2 },
  });
  t.like(findJobSummary(state, 'ann', 1), {
    failedCount: 2,
    cancelReason: { code: 'failed-tasks-reached', failedTasks: 2 },
  });
  t.like(retry(4, 1, 4), { ok: true, value: { retriedCount: 2 } });
  t.like(findJobSummary(state, 'ann', 1), { status: 'running', failedCount: 1, cancelReason: '' });
});

test('a job that one failed task stops says so in the singular', (t) => {
  const { state, fail } = aBroker(1);
  fail(1, 1);
  t.like(findJobSummary(state, 'ann', 1), { cancelReason: { code: 'failed-tasks-reached', failedTasks: 1 } });
});
