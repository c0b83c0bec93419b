import test from 'ava';
import { checkInteractions, ReservationSyncHarness } from '@mutirao/testkit';

test('a site gets what was promised, is asked again for what it refused, and loses what is no longer promised', (t) => {
  const harness = new ReservationSyncHarness();
  checkInteractions(t, new URL('../../../interactions/keeping.txt', import.meta.url), (lines) =>
    lines.flatMap((line) => harness.perform(line)).join('\n'),
  );
  t.notThrows(() => {
    harness.checkReplay();
  });
});
