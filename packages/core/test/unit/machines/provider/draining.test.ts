import test from 'ava';
import {
  takeSnapshot,
  providerDefaults,
  restoreSnapshot,
  type ProviderSnapshot,
} from '../../../../src/machines/provider/index.ts';
import { ProviderHarness } from '@mutirao/testkit';

/** Two requests, one of which runs with an agent of each of its processors. */
function working(): ProviderHarness {
  const harness = new ProviderHarness();
  harness.perform(['start', 'connect b1', 'limits requests=2 width=2 walltime=1000000', 'demand b1 9', 'listing']);
  harness.perform(['accepted q1', 'accepted q2', 'attach q1.0 held=1']);
  return harness;
}

test('a second drain adds what is new in it and keeps its beginning; a repeated one and a needless undrain change nothing', (t) => {
  const harness = working();
  harness.perform(['drain']);
  harness.perform(['at 50']);
  t.is(harness.perform(['drain']), 'reply 1 ok');
  t.is(harness.perform(['drain new power']), 'tell b1 draining since 1: new power\nreply 1 ok');
  t.is(harness.perform(['drain']), 'reply 1 ok', 'the reason stays');
  t.regex(harness.perform(['undrain']), /^tell b1 takes work\nreply 1 ok/);
  t.is(harness.perform(['undrain']), 'reply 1 ok');
});

test('a provider goes on draining after a restart, from its journal and from a snapshot, and says so before it announces any machine', (t) => {
  const harness = working();
  harness.perform(['drain new power']);
  const snapshot = JSON.parse(JSON.stringify(takeSnapshot(harness.state))) as ProviderSnapshot;
  t.deepEqual(restoreSnapshot({ ...providerDefaults, providerId: 'p' }, snapshot).draining, {
    since: 1,
    reason: 'new power',
  });
  harness.perform(['restart']);
  t.regex(harness.perform(['connect b1']), /^tell b1 draining since 1: new power\n/);
  t.regex(harness.perform(['attach q1.0 held=1']), /tell b1 joined p\/q1.0/, 'its agents stay');
  harness.perform(['undrain']);
  harness.perform(['restart']);
  t.notRegex(harness.perform(['connect b1']), /draining/);
});

test('a draining provider keeps allocations in which tasks run, releases them when nothing is wanted of it, and asks again once it takes work', (t) => {
  const harness = working();
  harness.perform(['drain']);
  harness.perform(['released q2', 'demand b1 1 unplaced=0']);
  t.notRegex(harness.perform(['at 20000']), /release q1/);
  harness.perform(['demand b1 0']);
  t.regex(harness.perform(['at 40000']), /release q1 \(m-q1\)/);
  harness.perform(['released q1']);
  t.is(harness.perform(['demand b1 5', 'listing']), '', 'nothing is asked for');
  t.deepEqual(harness.state.resourceStatus[0], { code: 'provider-draining', providerId: 'p', cause: '' });
  t.regex(harness.perform(['undrain']), /submit q3/);
});

test('with drain --now running allocations are released, and their machines are lost for a reason that counts against no task', (t) => {
  const harness = working();
  t.is(
    harness.perform(['drain-now a fire']),
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
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  harness.perform(['start', 'connect b1', 'demand b1 4', 'attach m1']);
  harness.perform(['lease b1 1 horizon=600000 1-4']);
  harness.perform(['drain']);
  harness.perform(['disconnect b1']);
  const away = harness.perform(['at 6000']);
  const back = harness.perform(['attach m1']);
  t.notRegex(away + back, /start .* of lease/);
  t.regex(harness.perform(['undrain']), /start 1,2 of lease 1 on p\/m1/);
});

test('a provider that stops without allocations to give back leaves the tasks of its machines alone', (t) => {
  const harness = new ProviderHarness({ resourceKind: 'machines' });
  harness.perform(['start', 'connect b1', 'demand b1 4', 'attach m1 held=1']);
  t.is(harness.perform(['give-back the provider was asked to stop']), 'reply 1 ok');
});
