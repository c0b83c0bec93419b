import test from 'ava';
import { BrokerHarness } from '@mutirao/testkit';

/**
 * A broker to which two machines brought a result of the same task; that of p/a, which came first, is being brought
 * home.
 */
function withTwoResults(): BrokerHarness {
  const harness = new BrokerHarness();
  harness.perform(['provider p', 'join p/a', 'join p/b', 'submit ann 1 replicas=2 output=out']);
  harness.perform(['at 300']);
  harness.perform(['report p/a 1 succeeded 1 0..300']);
  harness.perform(['report p/b 1 succeeded 2 0..300']);
  return harness;
}

test('where nothing is voted on, a machine that is quarantined has the result of another replica brought home', (t) => {
  const said = withTwoResults().perform(['quarantine p/a']);
  t.regex(said, /r1 of 1\.0 outvoted: verifying \(MUT_MACHINE_QUARANTINED\)/);
  t.regex(said, /accept r2 of 1\.0 from p\/b/);
});

test('a result that waits for another one to come home is dropped with its machine, and nothing is asked for twice', (t) => {
  const harness = withTwoResults();
  const said = harness.perform(['quarantine p/b']);
  t.regex(said, /r2 of 1\.0 outvoted: verifying/);
  t.notRegex(said, /accept/);
  t.regex(harness.perform(['accepted 1']), /r1 of 1\.0 accepted: finished/);
});

test('a machine is quarantined with the third result whose bytes are wrong, also where nothing is voted on, and its tasks go elsewhere', (t) => {
  const harness = new BrokerHarness();
  harness.perform(['at 100', 'provider p', 'join p/a', 'submit ann 1 replicas=1 output=out failures=1']);
  const said = [1, 2, 3].map((replica) => {
    if (replica === 3) harness.perform(['join p/b']);
    harness.perform([`report p/a ${replica} succeeded ${replica} 0..1`]);
    return harness.perform([`refused ${replica} MUT_CONTENT_MISMATCH`]);
  });
  t.regex(said[0] ?? '', /r1 of 1\.0 lost: ready[^]*suspected p\/a/);
  t.regex(said[2] ?? '', /caught p\/a[^]*start r4 of 1\.0 on p\/b/);
});
