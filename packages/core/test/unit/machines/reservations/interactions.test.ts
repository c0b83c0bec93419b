import test from 'ava';
import { checkInteractions, ReservationsHarness } from '@mutirao/testkit';

test('reservations are placed, held, moved, claimed and end as their users and owners are notified', (t) => {
  const harness = new ReservationsHarness();
  checkInteractions(t, new URL('../../../interactions/reservations.txt', import.meta.url), (lines) =>
    lines.flatMap((line) => harness.perform(line)).join('\n'),
  );
  t.notThrows(() => {
    harness.checkReplay();
  });
});
