import test from 'ava';
import {
  freezeProvider,
  providerDefaults,
  thawProvider,
  type ProviderSnapshot,
} from '../../../../src/machines/provider/index.ts';
import { ProviderDialogue } from '@mutirao/testkit';

/** Two requests, one of which runs with an agent of each of its processors. */
function working(): ProviderDialogue {
  const dialogue = new ProviderDialogue();
  dialogue.perform(['start', 'connect b1', 'limits requests=2 width=2 walltime=1000000', 'demand b1 9', 'listing']);
  dialogue.perform(['accepted q1', 'accepted q2', 'attach q1.0 held=1']);
  return dialogue;
}

test('a second drain adds what is new in it and keeps its beginning; a repeated one and a needless undrain change nothing', (t) => {
  const dialogue = working();
  dialogue.perform(['drain']);
  dialogue.perform(['at 50']);
  t.is(dialogue.perform(['drain']), 'reply 1 ok');
  t.is(dialogue.perform(['drain new power']), 'tell b1 draining since 1: new power\nreply 1 ok');
  t.is(dialogue.perform(['drain']), 'reply 1 ok', 'the reason stays');
  t.regex(dialogue.perform(['undrain']), /^tell b1 takes work\nreply 1 ok/);
  t.is(dialogue.perform(['undrain']), 'reply 1 ok');
});

test('a provider goes on draining after a restart, from its journal and from a snapshot, and says so before it tells of any machine', (t) => {
  const dialogue = working();
  dialogue.perform(['drain new power']);
  const snapshot = JSON.parse(JSON.stringify(freezeProvider(dialogue.state))) as ProviderSnapshot;
  t.deepEqual(thawProvider({ ...providerDefaults, providerId: 'p' }, snapshot).draining, {
    since: 1,
    reason: 'new power',
  });
  dialogue.perform(['restart']);
  t.regex(dialogue.perform(['connect b1']), /^tell b1 draining since 1: new power\n/);
  t.regex(dialogue.perform(['attach q1.0 held=1']), /tell b1 joined p\/q1.0/, 'its agents stay');
  dialogue.perform(['undrain']);
  dialogue.perform(['restart']);
  t.notRegex(dialogue.perform(['connect b1']), /draining/);
});

test('a draining provider keeps allocations in which tasks run, releases them when nothing is wanted of it, and asks again once it takes work', (t) => {
  const dialogue = working();
  dialogue.perform(['drain']);
  dialogue.perform(['released q2', 'demand b1 1 unplaced=0']);
  t.notRegex(dialogue.perform(['at 20000']), /release q1/);
  dialogue.perform(['demand b1 0']);
  t.regex(dialogue.perform(['at 40000']), /release q1 \(m-q1\)/);
  dialogue.perform(['released q1']);
  t.is(dialogue.perform(['demand b1 5', 'listing']), '', 'nothing is asked for');
  t.is(dialogue.state.standing[0], 'Provider p is draining.');
  t.regex(dialogue.perform(['undrain']), /submit q3/);
});

test('with drain --now running allocations are released, and their machines are lost for a reason that counts against no task', (t) => {
  const dialogue = working();
  t.is(
    dialogue.perform(['drain-now a fire']),
    [
      'tell b1 draining since 1, at once: a fire',
      'reply 1 ok',
      'tell b1 lost p/q1.0 MUT_DRAINING',
      'refuse agent #1 MUT_ALLOCATION_ENDED: request q1 is over',
      'release q1 (m-q1)',
      'release q2 (m-q2)',
      'tell b1 requests q1=running q2=queued',
      'wake at 5001',
    ].join('\n'),
  );
});

test('while its broker is away a draining provider starts nothing of what was leased, and goes on with it once it takes work', (t) => {
  const dialogue = new ProviderDialogue({ resourceKind: 'machines' });
  dialogue.perform(['start', 'connect b1', 'demand b1 4', 'attach m1']);
  dialogue.perform(['lease b1 1 horizon=600000 1-4']);
  dialogue.perform(['drain']);
  dialogue.perform(['disconnect b1']);
  const away = dialogue.perform(['at 6000']);
  const back = dialogue.perform(['attach m1']);
  t.notRegex(away + back, /start .* of lease/);
  t.regex(dialogue.perform(['undrain']), /start 1,2 of lease 1 on p\/m1/);
});

test('a provider that stops without allocations to give back leaves the tasks of its machines alone', (t) => {
  const dialogue = new ProviderDialogue({ resourceKind: 'machines' });
  dialogue.perform(['start', 'connect b1', 'demand b1 4', 'attach m1 held=1']);
  t.is(dialogue.perform(['give-back the provider was told to stop']), 'reply 1 ok');
});
