import test from 'ava';
import { checkInteractions, ReservationsDialogue } from '@mutirao/testkit';

test('reservations are placed, held, moved, claimed and end as their users and owners were told', (t) => {
  const dialogue = new ReservationsDialogue();
  checkInteractions(t, new URL('../../../interactions/reservations.txt', import.meta.url), (lines) =>
    lines.flatMap((line) => dialogue.perform(line)).join('\n'),
  );
  t.notThrows(() => {
    dialogue.checkReplay();
  });
});
