import test from 'ava';
import { BrokerDialogue } from '@mutirao/testkit';
import { countIn } from '../../../../src/machines/broker/leases.ts';

const rules = { horizon: 100_000, replicasMax: 4, interval: 1000, unknownPerSlot: 4 };

function setUp(): BrokerDialogue {
  const broker = new BrokerDialogue({ lease: rules });
  broker.perform(['provider a', 'connect a leases', 'submit ana 10', 'join a/m1', 'settle a']);
  return broker;
}

test('a provider is leased the end of the bag, the last task first', (t) => {
  const broker = setUp();
  const lease = broker.state.providers.get('a')?.leases[0];
  t.deepEqual(lease?.parts.map(({ taskRanges }) => taskRanges), [[{ first: 6, count: 4 }]]);
});

test('what a provider started of its lease is adopted once, and what its task needs no more is cancelled', (t) => {
  const broker = setUp();
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['confirm a 1', 'disconnect a']);
  broker.perform(['connect a leases']);
  broker.perform([`join a/m1 held=${first},99999`, 'settle a']);
  t.is(broker.state.replicas.get(first)?.task.index, 9);
  t.true(broker.state.replicas.get(first)?.isAdopted);
  broker.perform([`report a/m1 1 succeeded ${first} 1..2`]);
  broker.perform([`join a/m1 held=${first}`]);
  t.false(broker.state.replicas.has(first));
});

test('machines of a provider that goes on alone are not given up before its lease ends', (t) => {
  const broker = setUp();
  broker.perform(['confirm a 1', 'disconnect a']);
  broker.perform(['at 99999']);
  t.true(broker.state.machines.has('a/m1'));
  broker.perform(['at 100001']);
  t.false(broker.state.machines.has('a/m1'));
});

test('what a provider may run by itself while it is away is explained, and so is what it started', (t) => {
  const broker = setUp();
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['confirm a 1']);
  t.notRegex(broker.perform(['explain task 1.9 ana']), /leased/);
  broker.perform(['disconnect a']);
  t.regex(broker.perform(['explain task 1.9 ana']), /leased to provider a, which is away and may start it by itself for 1 min 40 s more/);
  t.notRegex(broker.perform(['explain task 1.5 ana']), /leased/);
  t.regex(broker.perform(['explain job 1 ana']), /Provider a is away and may go on by itself with 4 tasks/);
  broker.perform(['at 100000']);
  t.notRegex(broker.perform(['explain task 1.9 ana']), /leased/);
  broker.perform(['connect a leases', `join a/m1 held=${first}`]);
  t.regex(broker.perform(['explain task 1.9 ana']), new RegExp(`Replica r${first} was started on a/m1 by provider a, from what it was leased, while this broker was away`));
});

/** How many tasks each provider's lease has. */
function leasedCounts(broker: BrokerDialogue): Record<string, number> {
  return Object.fromEntries([...broker.state.providers].map(([providerId, { leases }]) => [providerId, (leases.at(-1)?.parts ?? []).reduce((sum, { taskRanges }) => sum + countIn(taskRanges), 0)]));
}

test('providers share what is leased by the processors that they have, whatever waits in their queues', (t) => {
  const broker = new BrokerDialogue({ lease: { ...rules, replicasMax: 1000, unknownPerSlot: 1000 } });
  broker.perform(['provider a', 'connect a leases', 'provider b', 'connect b leases', 'submit ana 404', 'request a/q1 queued width=200 walltime=9000']);
  broker.perform(['join a/m1 processors=2', 'join b/m1 processors=6', 'settle a', 'settle b']);
  const ready = broker.state.jobs.get(1)?.queues[0]?.ready.size ?? 0;
  t.is(ready, 396);
  t.deepEqual(leasedCounts(broker), { a: 99, b: 297 });
});

test('a provider that only waits for processors is leased no more than the one that has most', (t) => {
  const broker = new BrokerDialogue({ lease: { ...rules, replicasMax: 1000, unknownPerSlot: 1000 } });
  broker.perform(['provider a', 'connect a leases', 'settle a', 'request a/q1 queued width=200 walltime=9000', 'submit ana 404']);
  t.deepEqual(leasedCounts(broker), { a: 404 });
  broker.perform(['confirm a 1', 'provider b', 'connect b leases', 'join b/m1 processors=4', 'settle b']);
  broker.perform(['at 1000']);
  broker.perform(['at 2000']);
  const ready = broker.state.jobs.get(1)?.queues[0]?.ready.size ?? 0;
  t.deepEqual(leasedCounts(broker), { a: ready / 2, b: ready / 2 });
});
