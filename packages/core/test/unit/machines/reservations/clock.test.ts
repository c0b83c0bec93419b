// The clock of the manager is set: reservations are at the times that people agreed on, holds last as long as they were
// meant to.
import test from 'ava';
import { ReservationsHarness } from '@mutirao/testkit';

const hour = 3_600_000;

function begin(): ReservationsHarness {
  const harness = new ReservationsHarness();
  harness.now = 100 * hour;
  harness.perform('owner offers cluster 4 unclaimed 600000');
  return harness;
}

test('a hold lasts as long as it was meant to, whichever way the clock is set', (t) => {
  for (const by of [8 * hour, -8 * hour]) {
    const harness = begin();
    harness.perform(`ana wants 4 of cluster for ${100 * hour} hold 10000`);
    harness.perform(`at ${100 * hour + 4000}`);
    t.notRegex(harness.perform(`clock ${by}`).join('\n'), /expired/);
    t.notRegex(harness.perform(`at ${100 * hour + by + 9999}`).join('\n'), /expired/);
    t.regex(harness.perform(`at ${100 * hour + by + 10_000}`).join('\n'), /reservation.expired 1/);
    harness.checkReplay();
  }
});

test('what began in the time that the clock skipped is given back only when its user had the time to claim it', (t) => {
  const harness = begin();
  harness.perform(`ana wants 4 of cluster for ${20 * hour} from ${101 * hour}`);
  t.notRegex(harness.perform(`clock ${8 * hour}`).join('\n'), /expired/);
  t.notRegex(harness.perform(`at ${108 * hour + 599_999}`).join('\n'), /expired/);
  t.regex(harness.perform(`at ${108 * hour + 600_000}`).join('\n'), /reservation.expired 1/);
});

test('after the clock was set a reservation that is wanted at once begins by the clock as it is now', (t) => {
  const harness = begin();
  harness.perform(`clock ${8 * hour}`);
  t.like(harness.perform('ana wants 2 of cluster for 1000'), [
    `reservation.confirmed 1 ana cluster 2 [0,1] ${108 * hour}..${108 * hour + 1000}: at the earliest requested start`,
  ]);
});

test('a resource that was made known by a clock that was ahead can be reserved when the clock is set back', (t) => {
  const harness = begin();
  harness.perform(`clock ${-50 * hour}`);
  t.like(harness.perform('ana wants 2 of cluster for 1000'), [
    `reservation.confirmed 1 ana cluster 2 [0,1] ${50 * hour}..${50 * hour + 1000}: at the earliest requested start`,
  ]);
  harness.checkReplay();
});
