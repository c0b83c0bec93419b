// What nobody claimed is given back; a manager that was away gives those who could not tell it of a use the time to do
// so.
import test from 'ava';
import { ReservationsHarness } from '@mutirao/testkit';

function begin(): ReservationsHarness {
  const harness = new ReservationsHarness();
  harness.perform('owner offers cluster 4 unclaimed 30');
  harness.perform('ana wants 4 of cluster for 500 from 100');
  return harness;
}

test('a manager that was down for longer than the claim timeout learns of the use before it gives anything back', (t) => {
  const harness = begin();
  harness.perform('restart');
  harness.now = 300;
  t.deepEqual(harness.perform('started'), ['wake at 330']);
  t.like(harness.perform('owner uses 1 key alpha'), ['reservation.claimed 1 ana cluster 4 [0,1,2,3] 100..600: in use']);
  harness.perform('at 331');
  t.deepEqual(harness.perform('list'), ['1 ana cluster 4 [0,1,2,3] 100..600 claimed rev 1']);
  harness.checkReplay();
});

test('a reservation without a reported use after the start of its manager is given back, and the reason counts from there', (t) => {
  const harness = begin();
  harness.perform('restart');
  harness.now = 300;
  harness.perform('started');
  t.deepEqual(harness.perform('at 329'), []);
  t.like(harness.perform('at 330'), [
    'reservation.expired 1 ana cluster 4 [0,1,2,3] 100..600: not claimed within 30 ms of the last start of the ' +
      'reservation manager, which came after its own',
  ]);
  harness.checkReplay();
});

test('an end that passed while the manager was away is an end, and a start that is yet to come counts from itself', (t) => {
  const harness = begin();
  harness.perform('ana wants 4 of cluster for 100 from 1000');
  harness.perform('restart');
  harness.now = 700;
  t.like(harness.perform('started'), [
    'reservation.expired 1 ana cluster 4 [0,1,2,3] 100..600: it ended while the reservation manager was down, ' +
      'and it was not claimed',
  ]);
  t.deepEqual(harness.perform('at 1029'), []);
  t.like(harness.perform('at 1030'), [
    'reservation.expired 2 ana cluster 4 [0,1,2,3] 1000..1100: not claimed within 30 ms of its start',
  ]);
});

test('a reservation that gets time by a start of its manager and ends earlier by then is checked in time', (t) => {
  const harness = begin();
  harness.now = 300;
  harness.perform('started');
  harness.perform('owner maintains cluster paint from 310 until 400');
  t.like(harness.perform('at 310'), [
    'reservation.expired 1 ana cluster 4 [0,1,2,3] 100..310: not claimed within 10 ms of the last start of the ' +
      'reservation manager, which came after its own',
  ]);
});
