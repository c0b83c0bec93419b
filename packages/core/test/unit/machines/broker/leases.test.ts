import test from 'ava';
import { BrokerDialogue } from '@mutirao/testkit';

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
