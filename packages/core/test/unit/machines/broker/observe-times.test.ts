import test from 'ava';
import {
  type BrokerInput,
  type BrokerState,
  brokerMachine,
  createBrokerState,
  expectedRemaining,
  expectedTime,
  restore,
  snapshot,
} from '@mutirao/core/machines/broker';
import type { ReplicaEnd } from '@mutirao/core/messages';
import { slownessFactor } from '@mutirao/core/times';
import { aJob, aMachine, anEnd } from '@mutirao/testkit';

type Step = (now: number, ...inputs: BrokerInput[]) => void;

/** A broker with a job of forty tasks, one replica each, and a machine p/a of eight processors that has until 5000. */
function aBroker(): { readonly state: BrokerState; readonly step: Step } {
  const state = createBrokerState({ suspectGrace: 1000 });
  const step: Step = (now, ...inputs) => {
    brokerMachine.step(state, inputs, now);
    brokerMachine.checkInvariants(state);
  };
  step(
    0,
    { kind: 'ProviderAdded', replyTo: 0, providerId: 'p', address: 'h:1' },
    { kind: 'ProviderConnected', providerId: 'p' },
  );
  step(1, { kind: 'JobSubmitted', replyTo: 7, userId: 'ann', clientJobId: '', spec: aJob(40, { replicasMax: 1 }) });
  step(1, {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine('p/a', { processors: 8, until: 5000, requestId: 'q1' }),
    heldReplicaIds: [],
  });
  return { state, step };
}

function reported(ended: readonly ReplicaEnd[], startedIds: readonly number[] = []): BrokerInput {
  return {
    kind: 'MachineReported',
    machineId: 'p/a',
    report: { sequence: 1, started: startedIds.map((replicaId) => ({ replicaId, startedAt: 1 })), ended },
  };
}

function listTimes({ jobs }: BrokerState): unknown {
  const { count, censoredCount, longest, longestCensored } = jobs.get(1)?.times ?? {};
  return { count, censoredCount, longest, longestCensored };
}

test('a success shows its time, a cut run at least how long it ran, and a run that failed on its own nothing', (t) => {
  const { state, step } = aBroker();
  const limited = { ...anEnd(4, 'limited', { startedAt: 1, endedAt: 91 }), reason: 'MUT_RUN_TIME_MAX' };
  step(
    200,
    reported([
      anEnd(1, 'succeeded', { startedAt: 1, endedAt: 101 }),
      anEnd(2, 'failed', { startedAt: 1, endedAt: 21 }),
      anEnd(3, 'broken', { startedAt: 1, endedAt: 31 }),
      limited,
      anEnd(5, 'limited', { startedAt: 1, endedAt: 41 }),
      anEnd(6, 'cancelled', { startedAt: 1, endedAt: 51 }),
      anEnd(7, 'cancelled', { startedAt: 0, endedAt: 61 }),
    ]),
  );
  t.deepEqual(listTimes(state), { count: 1, censoredCount: 2, longest: 100, longestCensored: 90 });
});

test('the end of an allocation cuts off its runs, at the end of its walltime and not when that was reported', (t) => {
  const { state, step } = aBroker();
  step(10, reported([], [1, 2, 3]));
  step(5800, { kind: 'MachineLost', machineId: 'p/a', reason: 'MUT_WALLTIME_ENDED' });
  t.deepEqual(listTimes(state), { count: 0, censoredCount: 3, longest: 0, longestCensored: 4999 });
});

test('a machine that fell silent is known to have run its replicas until then, and no longer', (t) => {
  const { state, step } = aBroker();
  step(10, reported([], [1]));
  step(400, { kind: 'ProviderDisconnected', providerId: 'p', reason: 'cut' });
  step(1400, { kind: 'TimerFired' });
  t.is(state.machines.size, 0);
  t.deepEqual(listTimes(state), { count: 0, censoredCount: 1, longest: 0, longestCensored: 399 });
});

test('the run time of replicas that a restarted agent held is unknown', (t) => {
  const { state, step } = aBroker();
  step(10, reported([], [1]));
  step(400, {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine('p/a', { processors: 8, incarnation: 'b' }),
    heldReplicaIds: [],
  });
  t.deepEqual(listTimes(state), { count: 0, censoredCount: 0, longest: 0, longestCensored: 0 });
});

test('a machine is compared with the others of its job, and its expected time is longer in proportion', (t) => {
  const { state, step } = aBroker();
  step(200, reported([1, 2, 3, 4].map((id) => anEnd(id, 'succeeded', { startedAt: 1, endedAt: 101 }))));
  step(210, {
    kind: 'MachineJoined',
    providerId: 'p',
    facts: aMachine('p/slow', { processors: 4 }),
    heldReplicaIds: [],
  });
  const slow = [...(state.machines.get('p/slow')?.replicas.keys() ?? [])].slice(0, 4);
  step(900, {
    kind: 'MachineReported',
    machineId: 'p/slow',
    report: {
      sequence: 1,
      started: [],
      ended: slow.map((id) => anEnd(id, 'succeeded', { startedAt: 210, endedAt: 510 })),
    },
  });
  const [job, fast, machine] = [state.jobs.get(1), state.machines.get('p/a'), state.machines.get('p/slow')];
  if (job === undefined || fast === undefined || machine === undefined) throw new Error('something is missing');
  t.is(
    slownessFactor(machine.slowness),
    2,
    'four runs at three times the usual, and four at par that it was given beforehand',
  );
  t.is(slownessFactor(fast.slowness), 1);
  const [here, there] = [expectedTime(job, fast) ?? 0, expectedTime(job, machine) ?? 0];
  t.true(Math.abs(there - 2 * here) <= 1);
  t.true((expectedRemaining(job, 150, fast) ?? 0) > 100, 'one of the long ones by now');
  t.is(machine.times.count, 4);
});

test('a snapshot keeps the times, and one of a release that kept sums alone is read', (t) => {
  const { state, step } = aBroker();
  step(
    200,
    reported([100, 200, 900].map((time, index) => anEnd(index + 1, 'succeeded', { startedAt: 1, endedAt: 1 + time }))),
  );
  const body = snapshot(state);
  const again = restore(body);
  t.deepEqual(again.jobs.get(1)?.times.save(), state.jobs.get(1)?.times.save());
  t.deepEqual(again.machines.get('p/a')?.times.save(), state.machines.get('p/a')?.times.save());
  t.deepEqual(again.machines.get('p/a')?.slowness, state.machines.get('p/a')?.slowness);
  const old = JSON.parse(body) as { jobs: { times: Record<string, unknown> }[]; machines: Record<string, unknown>[] };
  for (const job of old.jobs) delete job.times['curve'];
  for (const machine of old.machines) {
    delete machine['times'];
    delete machine['slowness'];
  }
  const read = restore(JSON.stringify(old));
  brokerMachine.checkInvariants(read);
  t.deepEqual(listTimes(read), { count: 3, censoredCount: 0, longest: 900, longestCensored: 0 });
  t.is(read.jobs.get(1)?.times.sum, 1200);
});
