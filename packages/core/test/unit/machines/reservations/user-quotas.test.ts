// Proves that no user reserves all of a resource for years: capacity ahead and horizon are bounded per user, and what
// is given back may be had again.
import test from 'ava';
import { createReservationsState, listReservationQuotas } from '@mutirao/core/machines/reservations';
import { parseQuotas, type QuotaRules } from '@mutirao/core/quotas';
import { ReservationsHarness, reservationsOptions } from '@mutirao/testkit';

const hour = 3_600_000;
const year = 365 * 24 * hour;

function aHarness(...rules: string[]): ReservationsHarness {
  const harness = new ReservationsHarness();
  harness.state = createReservationsState({
    ...reservationsOptions,
    quotas: parseQuotas(rules, 'owner') as QuotaRules,
  });
  harness.now = 5;
  harness.perform('owner offers nodes 10');
  return harness;
}

const wasRefused = (lines: readonly string[]): boolean => lines.some((line) => line.includes('MUT_USER_QUOTA'));

test('only the owner reserves everything for ten years', (t) => {
  const harness = aHarness();
  t.true(wasRefused(harness.perform(`ana wants 10 of nodes for ${10 * year}`)));
  t.true(wasRefused(harness.perform(`ana wants 1 of nodes for ${hour} from ${2 * year}`)));
  t.false(wasRefused(harness.perform(`ana wants 10 of nodes for ${24 * hour}`)));
  t.false(wasRefused(harness.perform(`owner wants 1 of nodes for ${10 * year}`)));
});

test('the reservations of a user are counted in hours of the whole resource, also when they are renegotiated, cancelled or read from the journal', (t) => {
  const harness = aHarness('reserved-hours=2');
  t.false(wasRefused(harness.perform(`ana wants 10 of nodes for ${hour}`)));
  t.true(wasRefused(harness.perform(`ana wants 10 of nodes for ${2 * hour}`)));
  t.false(wasRefused(harness.perform(`ana wants 5 of nodes for ${2 * hour} from ${3 * hour}`)));
  t.like(listReservationQuotas(harness.state, 'ana')[0], { name: 'reserved-hours', used: 2, allowed: 2 });
  t.true(wasRefused(harness.perform(`ana renegotiates 2 6 for ${2 * hour} from ${4 * hour}`)));
  t.false(wasRefused(harness.perform(`ana renegotiates 2 5 for ${2 * hour} from ${4 * hour}`)));
  harness.checkReplay();
  harness.perform('ana cancels 2');
  t.like(listReservationQuotas(harness.state, 'ana')[0], { used: 1 });
  t.false(wasRefused(harness.perform(`ana wants 10 of nodes for ${hour} from ${5 * hour}`)));
  t.false(wasRefused(harness.perform(`bob wants 10 of nodes for ${2 * hour} from ${9 * hour}`)));
});
