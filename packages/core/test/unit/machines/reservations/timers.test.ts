import test from 'ava';
import { ReservationsHarness } from '@mutirao/testkit';

test('however often a reservation is renegotiated, it is checked once when its former ends have passed', (t) => {
  for (const direction of ['later', 'earlier']) {
    const harness = new ReservationsHarness();
    harness.perform('owner offers net 100B/s');
    harness.perform('ana wants 10% of net for 100 from 5000');
    for (let index = 1; index <= 200; index += 1)
      harness.perform(`ana renegotiates 1 10% for 100 from ${direction === 'later' ? 5000 + index : 5000 - index}`);
    harness.perform('ana renegotiates 1 10% for 100 from 50000');
    harness.perform('at 20000');
    t.is(harness.state.timers.size, 1, direction);
    t.like(
      harness.perform('at 50100'),
      ['reservation.expired 1 ana net 10 50000..50100: not claimed within 100 ms of its start'],
      direction,
    );
    t.is(harness.state.timers.size + harness.state.timerInstants.size, 0, direction);
    t.notThrows(() => {
      harness.checkReplay();
    });
  }
});

test('a reservation that was moved to an earlier time is checked then, even if the claim timeout has become longer since', (t) => {
  const harness = new ReservationsHarness();
  harness.perform('owner offers net 100B/s unclaimed 10');
  harness.perform('ana wants 10% of net for 100 from 1000');
  harness.perform('ana renegotiates 1 10% for 100 from 500');
  harness.perform('owner rules net unclaimed 50');
  t.deepEqual(harness.perform('at 510'), ['wake at 550']);
  t.like(harness.perform('at 550'), [
    'reservation.expired 1 ana net 10 500..600: not claimed within 50 ms of its start',
  ]);
});
