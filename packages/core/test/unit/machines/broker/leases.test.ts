import test from 'ava';
import { BrokerHarness } from '@mutirao/testkit';
import { countIn } from '../../../../src/shared/index.ts';

const rules = { horizon: 100_000, replicasMax: 4, interval: 1000, unknownPerSlot: 4 };

function setUp(): BrokerHarness {
  const broker = new BrokerHarness({ lease: rules });
  broker.perform(['provider a', 'connect a leases', 'submit ana 10', 'join a/m1', 'settle a']);
  return broker;
}

test('a provider is leased the end of the bag, the last task first', (t) => {
  const broker = setUp();
  const lease = broker.state.providers.get('a')?.leases[0];
  t.deepEqual(
    lease?.parts.map(({ taskRanges }) => taskRanges),
    [[{ first: 6, count: 4 }]],
  );
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

test('what a provider started of its lease is not adopted while its task is being cancelled', (t) => {
  for (const order of [['cancel-tasks ana 1 9'], ['cancel ana 1', 'retry ana 1 0']]) {
    const broker = setUp();
    const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
    broker.perform(['confirm a 1', 'provider b', 'connect b', 'join b/m1 processors=9', 'settle b']);
    const isOfTask = (index: number) => broker.state.jobs.get(1)?.tasks.get(index)?.replicas.length === 1;
    t.true(isOfTask(9), 'its task was placed elsewhere, too');
    broker.perform(['disconnect a', ...order]);
    broker.perform(['connect a leases', `join a/m1 held=${first}`, 'settle a']);
    t.false(broker.state.replicas.has(first), order.join());
  }
});

test('machines of a provider that goes on alone are not given up before its lease ends', (t) => {
  const broker = setUp();
  broker.perform(['confirm a 1', 'disconnect a']);
  broker.perform(['at 99999']);
  t.true(broker.state.machines.has('a/m1'));
  broker.perform(['at 100001']);
  t.false(broker.state.machines.has('a/m1'));
});

test('explanations show what a provider may run by itself while it is away, and what it started', (t) => {
  const broker = setUp();
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['confirm a 1']);
  t.notRegex(broker.perform(['explain task 1.9 ana']), /leased/);
  broker.perform(['disconnect a']);
  t.regex(
    broker.perform(['explain task 1.9 ana']),
    /Delegated to provider a, which is not connected and may start it on its own for another 1 min 40 s/,
  );
  t.notRegex(broker.perform(['explain task 1.5 ana']), /leased/);
  t.regex(broker.perform(['explain job 1 ana']), /Provider a is not connected and may continue with 4 delegated tasks/);
  broker.perform(['at 100000']);
  t.notRegex(broker.perform(['explain task 1.9 ana']), /leased/);
  broker.perform(['connect a leases', `join a/m1 held=${first}`]);
  t.regex(
    broker.perform(['explain task 1.9 ana']),
    new RegExp(
      `Replica r${first} was started on a/m1 by provider a, from its delegated tasks, while the broker was not connected`,
    ),
  );
});

test('a provider learns in the same step that its lease has nothing of a cancelled job, however young the lease is', (t) => {
  t.regex(setUp().perform(['cancel ana 1']), /^ *lease 2 for a: nothing$/m);
  const shared = new BrokerHarness({ lease: { ...rules, replicasMax: 100, unknownPerSlot: 40 } });
  shared.perform([
    'provider a',
    'connect a leases',
    'join a/m1',
    'settle a',
    'submit ana 30 replicas=1',
    'submit ana 4 replicas=1',
    'at 1000',
  ]);
  const reported = shared.perform(['cancel ana 2']);
  t.regex(reported, /lease \d for a: .*of 1\.29/, 'the usable part of a lease is reported without it');
  t.notRegex(reported, /of 2\./);
});

test('a delegated task that is placed is revoked at its provider, whatever machine gets it, and is not leased again', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 100, unknownPerSlot: 40 } });
  broker.perform(['provider a', 'connect a leases', 'join a/m1', 'settle a', 'submit ana 10 replicas=1']);
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  const next = 10 - (broker.state.jobs.get(1)?.tasks.size ?? 0);
  t.regex(
    broker.perform(['provider b', 'connect b', 'join b/m1', 'settle b']),
    new RegExp(`^r${first + next - 1} of the lease of a placed\\nstart `, 'm'),
    'before it is started',
  );
  t.notRegex(
    broker.perform(['disconnect a', 'connect a leases', 'join a/m1', 'settle a']),
    new RegExp(`lease 1 for a: .*r${first + next - 1} `),
  );
});

test('replicas that came back from a lease, and tasks that failed since, are not leased again', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 100, unknownPerSlot: 40 } });
  broker.perform(['provider a', 'connect a leases', 'join a/m1', 'settle a', 'submit ana 30 replicas=1 failures=3']);
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['at 1', 'confirm a 1', 'disconnect a']);
  broker.perform(['connect a leases', `join a/m1 held=1,${first}`, 'settle a']);
  t.true(broker.state.replicas.get(first)?.isAdopted);
  broker.perform([`report a/m1 1 failed ${first} 1..2`]);
  t.true(broker.state.jobs.get(1)?.groups[0]?.queue.ready.has(29), 'its task is ready again');
  const reported = broker.perform(['disconnect a', 'connect a leases', 'join a/m1 held=1', 'settle a']);
  t.regex(reported, /lease 1 for a: .*of 1\.28/);
  t.notRegex(reported, new RegExp(`lease 1 for a: .*r${first} of 1\\.29`));
});

test('what comes back late of a former lease is taken out of the later one', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 100 } });
  broker.perform(['provider a', 'connect a leases', 'join a/m1', 'settle a', 'submit ana 30 replicas=1']);
  broker.perform(['at 1000', 'join a/m2']);
  const [former, later] =
    broker.state.providers.get('a')?.leases.map(({ parts }) => parts[0]?.firstReplicaId ?? 0) ?? [];
  t.regex(
    broker.perform(['at 1100', `join a/m3 held=${former}`]),
    new RegExp(`^r${later} of the lease of a placed$`, 'm'),
  );
});

/** How many tasks each provider's lease has. */
function leasedCounts(broker: BrokerHarness): Record<string, number> {
  return Object.fromEntries(
    [...broker.state.providers].map(([providerId, { leases }]) => [
      providerId,
      (leases.at(-1)?.parts ?? []).reduce((sum, { taskRanges }) => sum + countIn(taskRanges), 0),
    ]),
  );
}

test('providers share leased tasks by the processors that they have, whatever waits in their queues', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 1000, unknownPerSlot: 1000 } });
  broker.perform([
    'provider a',
    'connect a leases',
    'provider b',
    'connect b leases',
    'submit ana 404',
    'request a/q1 queued width=200 walltime=9000',
  ]);
  broker.perform(['join a/m1 processors=2', 'join b/m1 processors=6', 'settle a', 'settle b']);
  const ready = broker.state.jobs.get(1)?.queues[0]?.ready.size ?? 0;
  t.is(ready, 396);
  t.deepEqual(leasedCounts(broker), { a: 99, b: 297 });
});

test('a provider that only waits for processors is leased no more than the one that has most', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 1000, unknownPerSlot: 1000 } });
  broker.perform([
    'provider a',
    'connect a leases',
    'settle a',
    'request a/q1 queued width=200 walltime=9000',
    'submit ana 404',
  ]);
  t.deepEqual(leasedCounts(broker), { a: 404 });
  broker.perform(['confirm a 1', 'provider b', 'connect b leases', 'join b/m1 processors=4', 'settle b']);
  broker.perform(['at 1000']);
  t.deepEqual(leasedCounts(broker), { a: 200, b: 0 });
  // What it may still start of its first lease is nobody else's.
  broker.perform(['confirm a 2']);
  broker.perform(['at 2000']);
  const ready = broker.state.jobs.get(1)?.queues[0]?.ready.size ?? 0;
  t.deepEqual(leasedCounts(broker), { a: ready / 2, b: ready / 2 });
});

test('no sibling is started of a replica whose machine has not reported since a restart, for ten seconds at most', (t) => {
  const broker = new BrokerHarness({ lease: rules });
  broker.perform([
    'provider a',
    'connect a leases',
    'join a/m1',
    'settle a',
    'provider b',
    'connect b leases',
    'join b/m1',
    'settle b',
    'submit ana 2 replicas=2',
  ]);
  broker.perform(['restart']);
  broker.perform(['connect a leases', 'join a/m1 held=1', 'settle a', 'connect b leases']);
  broker.perform(['at 1000', 'report a/m1 1 succeeded 1 1..900']);
  t.notRegex(broker.perform(['at 9999', 'settle a']), /start/);
  t.regex(broker.perform(['at 10000', 'settle a']), /start r\d+ of 1.1 on a\/m1/);
});

/**
 * Providers a and b with a machine each, and a job of which task 0 runs at a, task 1 at b, and both were leased the
 * rest.
 */
function twoProviders(job: string): BrokerHarness {
  const broker = new BrokerHarness({ lease: rules });
  broker.perform([
    'provider a',
    'connect a leases',
    'join a/m1',
    'settle a',
    'provider b',
    'connect b leases',
    'join b/m1',
    'settle b',
    job,
  ]);
  return broker;
}

test('a provider that comes and goes without an initial sync is waited for only once more', (t) => {
  const broker = twoProviders('submit ana 6 replicas=1');
  const others = [...(broker.state.providers.get('b')?.leases.at(-1)?.tasksByJob.get(1)?.values() ?? [])];
  t.true(others.length > 0);
  broker.perform(['confirm b 1', 'disconnect b']);
  broker.perform(['at 9000', 'connect b leases']);
  broker.perform(['at 14000', 'disconnect b']);
  broker.perform(['at 18000', 'connect b leases']);
  for (let sequence = 1; broker.state.machines.get('a/m1')?.replicas.size !== 0; sequence++) {
    broker.perform([
      `report a/m1 ${sequence} succeeded ` +
        `${Math.min(...(broker.state.machines.get('a/m1')?.replicas.keys() ?? []))} 1..1`,
    ]);
  }
  t.true(others.every((task) => broker.state.jobs.get(1)?.queues[0]?.ready.has(task)));
  t.notRegex(broker.perform(['at 18999', 'settle a']), /start/);
  t.regex(broker.perform(['at 19000', 'settle a']), /start/);
});

test('a machine that may take held tasks gets no sibling meanwhile', (t) => {
  const broker = twoProviders('submit ana 4 replicas=2');
  broker.perform(['at 1000', 'restart']);
  t.notRegex(broker.perform(['connect a leases', 'join a/m1 held=1', 'join a/m2']), /start/);
  t.notRegex(broker.perform(['at 2000', 'settle a']), /r\d+ of 1.0 on a\/m2/);
});

test('no sibling is started of a running task that was leased to a provider that has not reported yet', (t) => {
  const broker = new BrokerHarness({ lease: rules });
  broker.perform([
    'provider a',
    'connect a leases',
    'settle a',
    'request a/q1 queued width=2 walltime=9000',
    'submit ana 2 replicas=2',
  ]);
  broker.perform(['confirm a 1', 'provider b', 'connect b', 'join b/m1', 'join b/m2', 'settle b']);
  broker.perform(['disconnect a', 'join b/m3']);
  t.notRegex(broker.perform(['at 9999', 'settle b']), /start/);
  t.regex(broker.perform(['at 10000', 'settle b']), /start r\d+ of 1.0 on b\/m3/);
});

test('what is held back is cancelled with its job', (t) => {
  const broker = setUp();
  broker.perform(['provider b', 'connect b', 'join b/m1', 'settle b', 'restart']);
  broker.perform(['connect b', 'join b/m1 held=6', 'settle b', 'cancel ana 1']);
  t.is(broker.state.jobs.get(1)?.cancelled.size, 8);
  t.is(broker.state.jobs.get(1)?.queues[0]?.ready.size, 0);
});

test('a started replica of a lease is adopted even if its task was placed on the same machine and never got there', (t) => {
  const broker = setUp();
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['confirm a 1', 'report a/m1 1 succeeded 1 1..1']);
  for (let sequence = 2; ![...broker.state.replicas.values()].some(({ task }) => task.index === 9); sequence++) {
    broker.perform([`report a/m1 ${sequence} succeeded ${Math.min(...broker.state.replicas.keys())} 1..1`]);
  }
  broker.perform(['disconnect a', 'connect a leases']);
  broker.perform([`join a/m1 held=${first}`, 'settle a']);
  t.deepEqual(
    [...broker.state.replicas.values()].filter(({ task }) => task.index === 9).map(({ replicaId }) => replicaId),
    [first],
  );
});

/** The tasks of each job in the lease that a provider has. */
function leasedTasks(broker: BrokerHarness, providerId = 'a'): Record<number, number[]> {
  const { tasksByJob } = broker.state.providers.get(providerId)?.leases.at(-1) ?? {
    tasksByJob: new Map<number, { values(): Iterable<number> }>(),
  };
  return Object.fromEntries([...tasksByJob].map(([jobId, tasks]) => [jobId, [...tasks.values()]]));
}

test('a later job whose times are not known takes nothing from the lease of one whose times are', (t) => {
  const broker = new BrokerHarness({
    lease: { horizon: 3_600_000, replicasMax: 4096, interval: 1000, unknownPerSlot: 4 },
  });
  broker.perform(['provider a', 'connect a leases', 'join a/m1 processors=2', 'settle a', 'submit ana 300 replicas=1']);
  broker.perform(['confirm a 1', 'submit ana 12 replicas=1']);
  broker.perform(['at 1000', 'report a/m1 1 succeeded 1 1..1000 succeeded 2 1..1000']);
  const leased = leasedTasks(broker);
  const ready = broker.state.jobs.get(1)?.queues[0]?.ready.size ?? 0;
  t.is(leased[1]?.length, ready);
  t.true(ready > 100);
  t.deepEqual(leased[2], [4, 5, 6, 7, 8, 9, 10, 11]);
});

test('the first job comes first in a lease', (t) => {
  const broker = setUp();
  broker.perform(['submit ana 10', 'confirm a 1']);
  broker.perform(['at 1000']);
  t.deepEqual(leasedTasks(broker), { 1: [6, 7, 8, 9] });
});

test('a lease of as many other tasks than it should have is replaced', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, unknownPerSlot: 1 } });
  broker.perform([
    'provider a',
    'connect a leases',
    'join a/m1 processors=2 os=linux',
    'settle a',
    'submit ana 6 replicas=1 requirements=os_=_windows',
    'confirm a 1',
  ]);
  t.deepEqual(leasedTasks(broker), { 1: [4, 5] });
  broker.perform(['at 1', 'cancel ana 1', 'submit ana 6 replicas=1 requirements=os_=_windows']);
  broker.perform(['at 1000']);
  t.deepEqual(leasedTasks(broker), { 2: [4, 5] });
  broker.perform(['retry ana 1', 'confirm a 2']);
  broker.perform(['at 2000']);
  t.deepEqual(leasedTasks(broker), { 1: [4, 5] });
});

test('tasks of a cancelled job are not leased again', (t) => {
  const broker = new BrokerHarness({ lease: { ...rules, replicasMax: 100, unknownPerSlot: 40 } });
  broker.perform([
    'provider a',
    'connect a leases',
    'join a/m1',
    'settle a',
    'submit ana 30 replicas=1',
    'submit ana 4 replicas=1',
  ]);
  broker.perform(['at 1', 'confirm a 1', 'disconnect a', 'cancel ana 2']);
  const reported = broker.perform(['connect a leases', 'join a/m1 held=1', 'settle a']);
  t.regex(reported, /lease 1 for a: .*of 1\.29/);
  t.notRegex(reported, /lease 1 for a: .*of 2\./);
});

test('a provider learns with its lease which machines were caught, and again when that changes', (t) => {
  const broker = setUp();
  broker.perform(['provider b', 'connect b', 'join b/m1 identity=iron', 'settle b', 'confirm a 1']);
  t.regex(broker.perform(['at 1000', 'quarantine b/m1']), /lease 1 for a: .*, nothing for iron$/m);
  t.notRegex(broker.perform(['at 3000']), /lease/);
  broker.perform(['reset-trust b/m1']);
  t.regex(broker.perform(['at 4000']), /lease 1 for a: (?!.*nothing for)/);
});

test('nothing is placed on a machine that is reported as gone, and its results are accepted', (t) => {
  const broker = setUp();
  const first = broker.state.providers.get('a')?.leases[0]?.parts[0]?.firstReplicaId ?? 0;
  broker.perform(['confirm a 1', 'disconnect a']);
  broker.perform(['connect a leases']);
  t.notRegex(broker.perform([`join a/m2 processors=2 held=${first} gone=yes`]), /start/);
  const received = broker.perform([`report a/m2 1 succeeded ${first} 1..2`]);
  t.regex(received, /of 1\.9 accepted/);
  t.notRegex(received, /start/);
  t.regex(broker.perform(['join a/m2 processors=2']), /start .* on a\/m2/);
});
