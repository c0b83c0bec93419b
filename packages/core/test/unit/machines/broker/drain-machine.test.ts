// One machine that its owner drains, beside others of its provider.
import test from 'ava';
import { listMachineRecords } from '@mutirao/core/machines/broker';
import { BrokerHarness } from '@mutirao/testkit';

function aGrid(...options: string[]): BrokerHarness {
  const harness = new BrokerHarness();
  harness.perform(['provider lab', ...options]);
  harness.perform(['join lab/a identity=pc-a', 'join lab/b identity=pc-b']);
  return harness;
}

function listStatuses({ state, now }: BrokerHarness): Record<string, string> {
  return Object.fromEntries(listMachineRecords(state, now).map(({ facts, status }) => [facts.machineId, status]));
}

test('running tasks on a draining machine end, waiting ones go elsewhere, and nothing new comes until it is undrained', (t) => {
  const harness = aGrid();
  harness.perform(['at 1000', 'submit ann 8 replicas=1']);
  harness.perform(['at 1001', 'report lab/a 1 started 1@1001']);
  const reported = harness.perform(['at 5000', 'drain-machine lab/a new_disk']);
  t.regex(reported, /^machine lab\/a drained$/m);
  t.notRegex(reported, /cancel r1\b/);
  t.is(listStatuses(harness)['lab/a'], 'draining');
  t.notRegex(harness.perform(['at 6000', 'report lab/a 2 succeeded 1 1001..6000']), /on lab\/a/);
  t.regex(harness.perform(['undrain-machine lab/a']), /on lab\/a/);
  t.is(listStatuses(harness)['lab/a'], 'busy');
});

test('a machine is drained under its identity: after restarts of broker and agent, and by the name that it had', (t) => {
  const harness = aGrid();
  harness.perform(['drain-machine lab/a']);
  harness.perform(['restart']);
  harness.perform(['connect lab', 'join lab/b identity=pc-b', 'join lab/c identity=pc-a']);
  harness.perform(['settle lab']);
  t.notRegex(harness.perform(['at 9000', 'submit ann 8 replicas=1']), /on lab\/[ac]/);
  t.regex(harness.perform(['undrain-machine lab/a']), /on lab\/c/);
});

test('explain says which machine is draining, since when and why, and how it takes work again', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider lab']);
  harness.perform(['join lab/a', 'drain-machine lab/a disk']);
  harness.perform(['at 3000', 'submit ann 1 replicas=1']);
  t.regex(
    harness.perform(['explain job 1 ann']),
    /lab\/a: draining since .* \(disk\), with 0 tasks still running; "mutirao machine undrain lab\/a" lets it take tasks again\./,
  );
});

test('a standby treats drained machines as those that get nothing', (t) => {
  const harness = new BrokerHarness({
    lease: { horizon: 3_600_000, replicasMax: 4096, interval: 1000, unknownPerSlot: 4 },
  });
  harness.perform([
    'provider p',
    'connect p leases',
    'join p/a identity=pc-a',
    'join p/b identity=pc-b',
    'drain-machine p/a',
    'settle p',
    'submit ann 12 replicas=1',
  ]);
  t.regex(
    harness.perform(['at 5000', 'confirm p 1']) +
      harness.perform(['at 9000', 'undrain-machine p/a']) +
      harness.perform(['at 12000', 'drain-machine p/a']),
    /lease \d+ for p: .*, nothing for pc-a$/m,
  );
});

test('a machine of an allocation is forgotten with it, and an unknown one cannot be drained', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['provider p']);
  harness.perform(['join p/1.0 request=1', 'drain-machine p/1.0']);
  t.is(harness.state.drainedMachines.size, 1);
  harness.perform(['lose p/1.0']);
  t.is(harness.state.drainedMachines.size, 0);
  t.regex(harness.perform(['drain-machine p/9.9']), /MUT_NOT_FOUND/);
  t.regex(harness.perform(['undrain-machine p/9.9']), /MUT_NOT_FOUND/);
});
