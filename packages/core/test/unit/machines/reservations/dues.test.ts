import test from 'ava';
import { ReservationsDialogue } from '@mutirao/testkit';

test('however often a reservation is renegotiated, it is looked at once when its former ends have passed', (t) => {
  for (const direction of ['later', 'earlier']) {
    const dialogue = new ReservationsDialogue();
    dialogue.perform('owner offers net 100B/s');
    dialogue.perform('ana wants 10% of net for 100 from 5000');
    for (let index = 1; index <= 200; index += 1)
      dialogue.perform(`ana renegotiates 1 10% for 100 from ${direction === 'later' ? 5000 + index : 5000 - index}`);
    dialogue.perform('ana renegotiates 1 10% for 100 from 50000');
    dialogue.perform('at 20000');
    t.is(dialogue.state.dues.size, 1, direction);
    t.like(
      dialogue.perform('at 50100'),
      ['reservation.expired 1 ana net 10 50000..50100: nobody claimed it within 100 ms of its start'],
      direction,
    );
    t.is(dialogue.state.dues.size + dialogue.state.dueInstants.size, 0, direction);
    t.notThrows(() => {
      dialogue.checkReplay();
    });
  }
});

test('a reservation that was moved to an earlier time is looked at then, also where it may stay unclaimed for longer since', (t) => {
  const dialogue = new ReservationsDialogue();
  dialogue.perform('owner offers net 100B/s unclaimed 10');
  dialogue.perform('ana wants 10% of net for 100 from 1000');
  dialogue.perform('ana renegotiates 1 10% for 100 from 500');
  dialogue.perform('owner rules net unclaimed 50');
  t.deepEqual(dialogue.perform('at 510'), ['wake at 550']);
  t.like(dialogue.perform('at 550'), [
    'reservation.expired 1 ana net 10 500..600: nobody claimed it within 50 ms of its start',
  ]);
});
