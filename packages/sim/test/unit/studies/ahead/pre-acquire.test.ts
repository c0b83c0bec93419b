import test from 'ava';
import { conservativeBackfilling, easyBackfilling, type TracedRequest } from '@mutirao/core/queue';
import type { LeadRule } from '@mutirao/core/reservations';
import { preAcquire, openWorld, type PreAcquiringWorld, type Held } from '@mutirao/sim/ahead';

const hour = 3_600_000;
const day = 24 * hour;
const trace = { id: 'x', title: 'x', file: '', processors: 4, loadFactor: 1, walltimeMax: 18 * hour };
const reserved = { startsAt: 2 * day, endsAt: 2 * day + 2 * hour, width: 2 };
const fixed = (lead: number): LeadRule => ({ kind: 'fixed', lead });

function getWorld(requests: readonly TracedRequest[], policy = easyBackfilling): PreAcquiringWorld {
  return openWorld(trace, policy, [{ submittedAt: 0, width: 1, walltime: hour, runTime: hour }, ...requests]);
}

/** A request of all processors, by the hour. */
const full = (submitted: number, runTime: number, walltime = runTime): TracedRequest => ({
  submittedAt: submitted * hour,
  width: 4,
  walltime: walltime * hour,
  runTime: runTime * hour,
});

test('with a free machine an allocation starts when it is asked for, and is held from then on', (t) => {
  const held = preAcquire(getWorld([]), reserved, [fixed(hour), fixed(12 * hour), { kind: 'forecast', margin: 0 }]);
  t.deepEqual(
    held,
    [2 * day - hour, 2 * day - 12 * hour, 2 * day].map((at): Held => ({ askedAt: at, startedAt: at })),
  );
});

test('a late request for an allocation gets it late, or not at all if half of the reservation is over', (t) => {
  const until = (runTime: number): Held[] =>
    preAcquire(getWorld([full(44, runTime)]), reserved, [fixed(hour), fixed(5 * hour)]);
  t.deepEqual(until(4.5), [
    { askedAt: 2 * day - hour, startedAt: 2 * day + hour / 2 },
    { askedAt: 2 * day - 5 * hour, startedAt: 2 * day - 5 * hour },
  ]);
  t.deepEqual(until(5.5)[0], { askedAt: 2 * day - hour, startedAt: undefined });
});

test('a forecast asks when the queue is about to close, and not before', (t) => {
  // From the 40th hour on all is taken until an hour before the reservation, and at the 46th somebody asks for what
  // follows.
  const requests = [full(40, 7), full(46, 6)];
  for (const policy of [easyBackfilling, conservativeBackfilling('start-now')]) {
    const [held] = preAcquire(getWorld(requests, policy), reserved, [{ kind: 'forecast', margin: hour }]);
    t.deepEqual(held, { askedAt: 40 * hour + hour / 6, startedAt: 47 * hour }, policy.name);
  }
});

test('nothing is asked for longer than the longest walltime', (t) => {
  t.is(preAcquire(getWorld([]), reserved, [fixed(20 * hour)])[0]?.askedAt, 2 * day - 16 * hour);
});

test('a lead is learned from the starts that were seen before, and from those alone', (t) => {
  // Ten of two processors waited two hours and some minutes each; twenty later ones, which wait nine, are not known
  // yet.
  const ten = (submitted: number): TracedRequest[] =>
    Array.from({ length: 10 }, () => ({
      submittedAt: submitted * hour,
      width: 2,
      walltime: hour / 20,
      runTime: hour / 20,
    }));
  const [held] = preAcquire(getWorld([full(1, 3), ...ten(2), full(49, 10), ...ten(50), ...ten(50)]), reserved, [
    { kind: 'learned', share: 0.9 },
  ]);
  t.is(held?.askedAt, 2 * day - 2 * hour - hour / 6);
});
