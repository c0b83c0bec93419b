import test from 'ava';
import { checkNothingOvercommitted, ReservationsHarness } from '@mutirao/testkit';

test('however often rules change, each reservation has one timer, and its calendar stays the same', (t) => {
  const harness = new ReservationsHarness();
  harness.perform('owner offers net 100B/s');
  for (let index = 0; index < 10; index += 1)
    harness.perform(`ana wants 10% of net for 100 from ${1000 * (index + 1)}`);
  const calendar = harness.state.resources.get('net')?.calendar;
  for (let index = 0; index < 20; index += 1)
    harness.perform(`owner rules net cap ${50 + index} unclaimed ${index % 2 === 0 ? 30 : 60}`);
  t.is(harness.state.timers.size, 10);
  t.is(harness.state.resources.get('net')?.calendar, calendar);
});

test('what may stay unclaimed for longer under new rules is given back when these say so', (t) => {
  const harness = new ReservationsHarness();
  harness.perform('owner offers net 100B/s unclaimed 10');
  harness.perform('ana wants 10% of net for 100 from 1000');
  harness.perform('owner rules net unclaimed 50');
  t.deepEqual(harness.perform('at 1010'), ['wake at 1050']);
  t.like(harness.perform('at 1050'), [
    'reservation.expired 1 ana net 10 1000..1100: not claimed within 50 ms of its start',
  ]);
});

for (const [kind, offer, amount] of [
  ['shared', '100B/s', '60%'],
  ['counted', '10', '6'],
]) {
  test(`what maintenance cut short after its owner offered less is there again after replay: ${kind}`, (t) => {
    const harness = new ReservationsHarness();
    harness.perform(`owner offers net ${offer}`);
    harness.perform(`ana wants ${amount} of net for 100`);
    harness.perform('bob wants 10% of net for 100');
    harness.perform('owner rules net cap 40');
    harness.perform('at 5');
    t.true(
      harness.perform('owner maintains net m from 50 until 90').includes('ok net moved 0 shortened 2 cancelled 0'),
    );
    t.notThrows(() => {
      harness.checkReplay();
    });
  });
}

test('a reservation that is wider than its owner offers by now has no place once part of it fails, and is not put on broken units', (t) => {
  const harness = new ReservationsHarness();
  harness.now = 5;
  harness.perform('owner offers net 10B/s');
  harness.perform('eva wants 100% of net for 50 from 251');
  harness.perform('owner rules net cap 40');
  t.true(harness.perform('owner fails net amount 1').includes('ok net moved 0 cancelled 1'));
  t.notThrows(() => {
    checkNothingOvercommitted(harness.state, harness.asked);
  });
  t.notThrows(() => {
    harness.checkReplay();
  });
});
