import test from 'ava';
import {
  type BrokerChange,
  type BrokerCommand,
  type BrokerInput,
  brokerMachine,
  createBrokerState,
  findJobSummary,
  findTaskSummary,
  listEvents,
  restore,
  snapshot,
} from '@mutirao/core/machines/broker';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

/** A broker with provider p connected, that checks itself after each step. */
function aBroker(state = createBrokerState({ replicateAfter: 0 })) {
  const changes: BrokerChange[] = [];
  const step = (now: number, ...inputs: BrokerInput[]): BrokerCommand[] => {
    const decision = brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
    changes.splice(0, changes.length, ...decision.changes);
    return [...decision.commands];
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  return { state, step, changes };
}

function joined(machineId: string): BrokerInput {
  return { kind: 'MachineJoined', providerId: 'p', facts: aMachine(machineId), heldReplicaIds: [] };
}

function submitted(...of: Parameters<typeof aJob>): BrokerInput {
  return { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(...of) };
}

function cancelled(...taskIndexes: number[]): BrokerInput {
  return { kind: 'TasksCancelled', replyTo: 8, userId: 'ann', jobId: 1, taskIndexes, reason: 'not these' };
}

function reported(machineId: string, sequence: number, ...ended: ReturnType<typeof anEnd>[]): BrokerInput {
  return { kind: 'MachineReported', machineId, report: { sequence, started: [], ended } };
}

test('all replicas of a cancelled task are ended, and it is cancelled with the last, not before', (t) => {
  const { state, step, changes } = aBroker();
  step(1, submitted(1), joined('p/m1'), joined('p/m2'));
  const commands = step(2, cancelled(0));
  t.deepEqual(
    commands
      .filter(({ kind }) => kind === 'CancelReplicas')
      .map((command) => 'replicaIds' in command && command.replicaIds),
    [[1], [2]],
  );
  t.deepEqual(
    changes.flatMap(listEvents).map(({ type, reason }) => `${type} ${reason}`),
    ['tasks.cancelled not these'],
  );
  step(3, reported('p/m1', 1, anEnd(1, 'cancelled', { startedAt: 1, endedAt: 3 })));
  t.is(findTaskSummary(state.jobs.get(1) ?? t.fail(), 0)?.status, 'running');
  step(4, reported('p/m2', 1, anEnd(2, 'cancelled', { startedAt: 1, endedAt: 4 })));
  t.like(findJobSummary(state, 'ann', 1), { status: 'cancelled', cancelledCount: 1, failedCount: 0, cancelReason: '' });
});

test('a task that is being cancelled gets no replica, also of a broker that was restarted', (t) => {
  const before = aBroker();
  before.step(1, submitted(1), joined('p/m1'));
  before.step(2, cancelled(0));
  const { state, step } = aBroker(restore(snapshot(before.state), { replicateAfter: 0 }));
  const commands = step(3, joined('p/m1'), joined('p/m2'));
  t.false(commands.some(({ kind }) => kind === 'StartReplicas'));
  step(4, { kind: 'MachineLost', machineId: 'p/m1', reason: 'MUT_MACHINE_LOST' });
  t.like(findJobSummary(state, 'ann', 1), { status: 'cancelled', cancelledCount: 1 });
});

test('a result that is being verified is still settled, and refused the task is cancelled and not run again', (t) => {
  const { state, step } = aBroker();
  step(
    1,
    submitted(2, { groups: [{ ...aJob(2).groups[0], check: 'true' } as never], replicasMax: 1 }),
    joined('p/m1'),
    joined('p/m2'),
  );
  step(2, reported('p/m1', 1, anEnd(1, 'succeeded', { startedAt: 1, endedAt: 2 })));
  step(2, reported('p/m2', 1, anEnd(2, 'succeeded', { startedAt: 1, endedAt: 2 })));
  step(3, cancelled(0, 1));
  step(4, { kind: 'ResultAccepted', replicaId: 1 });
  step(5, { kind: 'ResultRefused', replicaId: 2, reason: 'MUT_CHECK_FAILED', detail: '' });
  t.like(findJobSummary(state, 'ann', 1), { status: 'cancelled', finishedCount: 1, cancelledCount: 1 });
});

test('a job of which tasks failed and others were cancelled has failed', (t) => {
  const { state, step } = aBroker();
  step(1, submitted(2, { failuresMax: 1, replicasMax: 1 }), joined('p/m1'));
  step(2, cancelled(1));
  step(3, reported('p/m1', 1, anEnd(1, 'failed', { startedAt: 1, endedAt: 2 })));
  t.like(findJobSummary(state, 'ann', 1), { status: 'failed', failedCount: 1, cancelledCount: 1 });
});
