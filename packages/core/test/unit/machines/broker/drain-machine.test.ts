// One machine that its owner drains, beside others of its provider.
import test from 'ava';
import { listMachineRecords } from '@mutirao/core/machines/broker';
import { BrokerDialogue } from '@mutirao/testkit';

function aGrid(...options: string[]): BrokerDialogue {
  const dialogue = new BrokerDialogue();
  dialogue.perform(['provider lab', ...options]);
  dialogue.perform(['join lab/a identity=pc-a', 'join lab/b identity=pc-b']);
  return dialogue;
}

function statusesOf({ state, now }: BrokerDialogue): Record<string, string> {
  return Object.fromEntries(listMachineRecords(state, now).map(({ facts, status }) => [facts.machineId, status]));
}

test('what runs on a draining machine ends, what waits there goes elsewhere, and nothing new comes until it is undrained', (t) => {
  const dialogue = aGrid();
  dialogue.perform(['at 1000', 'submit ann 8 replicas=1']);
  dialogue.perform(['at 1001', 'report lab/a 1 started 1@1001']);
  const told = dialogue.perform(['at 5000', 'drain-machine lab/a new_disk']);
  t.regex(told, /^machine lab\/a drained$/m);
  t.notRegex(told, /cancel r1\b/);
  t.is(statusesOf(dialogue)['lab/a'], 'draining');
  t.notRegex(dialogue.perform(['at 6000', 'report lab/a 2 succeeded 1 1001..6000']), /on lab\/a/);
  t.regex(dialogue.perform(['undrain-machine lab/a']), /on lab\/a/);
  t.is(statusesOf(dialogue)['lab/a'], 'busy');
});

test('a machine is drained under its identity: after restarts of broker and agent, and by the name that it had', (t) => {
  const dialogue = aGrid();
  dialogue.perform(['drain-machine lab/a']);
  dialogue.perform(['restart']);
  dialogue.perform(['connect lab', 'join lab/b identity=pc-b', 'join lab/c identity=pc-a']);
  dialogue.perform(['settle lab']);
  t.notRegex(dialogue.perform(['at 9000', 'submit ann 8 replicas=1']), /on lab\/[ac]/);
  t.regex(dialogue.perform(['undrain-machine lab/a']), /on lab\/c/);
});

test('explain says which machine is draining, since when and why, and how it takes work again', (t) => {
  const dialogue = new BrokerDialogue();
  dialogue.perform(['provider lab']);
  dialogue.perform(['join lab/a', 'drain-machine lab/a disk']);
  dialogue.perform(['at 3000', 'submit ann 1 replicas=1']);
  t.regex(
    dialogue.perform(['explain job 1 ann']),
    /lab\/a: it is draining \(since .*, 0 tasks still running, "disk"\); "mutirao machine undrain lab\/a" makes it take work again\./,
  );
});

test('a provider that stands in for its broker hears of drained machines as of those that get nothing', (t) => {
  const dialogue = new BrokerDialogue({
    lease: { horizon: 3_600_000, replicasMax: 4096, interval: 1000, unknownPerSlot: 4 },
  });
  dialogue.perform([
    'provider p',
    'connect p leases',
    'join p/a identity=pc-a',
    'join p/b identity=pc-b',
    'drain-machine p/a',
    'settle p',
    'submit ann 12 replicas=1',
  ]);
  t.regex(
    dialogue.perform(['at 5000', 'confirm p 1']) +
      dialogue.perform(['at 9000', 'undrain-machine p/a']) +
      dialogue.perform(['at 12000', 'drain-machine p/a']),
    /lease \d+ for p: .*, nothing for pc-a$/m,
  );
});

test('a machine of an allocation is forgotten with it, and one that nobody knows is not drained', (t) => {
  const dialogue = new BrokerDialogue();
  dialogue.perform(['provider p']);
  dialogue.perform(['join p/1.0 request=1', 'drain-machine p/1.0']);
  t.is(dialogue.state.drainedMachines.size, 1);
  dialogue.perform(['lose p/1.0']);
  t.is(dialogue.state.drainedMachines.size, 0);
  t.regex(dialogue.perform(['drain-machine p/9.9']), /MUT_NOT_FOUND/);
  t.regex(dialogue.perform(['undrain-machine p/9.9']), /MUT_NOT_FOUND/);
});
