import test from 'ava';
import { AvailabilityProfile } from '@mutirao/core/profile';
import { InvariantError } from '@mutirao/core/shared';

const day = 86_400_000;

/** 10 processors from 100 on: 6 free in [100, 200), 1 in [200, 300), 10 later. */
function stairs(): AvailabilityProfile {
  const profile = new AvailabilityProfile(10, 100);
  profile.reserve(4, 100, 300);
  profile.reserve(5, 200, 300);
  return profile;
}

test('a new profile is free for ever', (t) => {
  t.deepEqual([...new AvailabilityProfile(3, 7).segments()], [{ start: 7, end: Infinity, free: 3 }]);
});

test('reservations lower the steps that they cover', (t) => {
  t.deepEqual(
    [...stairs().segments()],
    [
      { start: 100, end: 200, free: 6 },
      { start: 200, end: 300, free: 1 },
      { start: 300, end: Infinity, free: 10 },
    ],
  );
});

test('a request fits where its width is free for all of its duration', (t) => {
  const profile = stairs();
  t.is(profile.earliestFit(6, 100, 0), 100);
  t.is(profile.earliestFit(6, 101, 100), 300);
  t.is(profile.earliestFit(6, 60, 150), 300);
  t.is(profile.earliestFit(6, 50, 150), 150);
  t.is(profile.earliestFit(1, day, 250), 250);
  t.is(profile.earliestFit(11, 1, 100), Infinity);
});

test('a width that is reserved for ever never fits', (t) => {
  const profile = new AvailabilityProfile(4, 0);
  profile.reserve(1, 50, Infinity);
  t.is(profile.earliestFit(4, 50, 0), 0);
  t.is(profile.earliestFit(4, 51, 0), Infinity);
});

test('an early end gives back the rest and joins what became equal', (t) => {
  const profile = stairs();
  profile.shorten(5, 250, 300);
  t.deepEqual(
    [...profile.segments(200)],
    [
      { start: 200, end: 250, free: 1 },
      { start: 250, end: 300, free: 6 },
      { start: 300, end: Infinity, free: 10 },
    ],
  );
  profile.shorten(4, 350, 300);
  profile.release(5, 200, 250);
  profile.release(4, 100, 300);
  t.is(profile.segmentCount, 1);
});

test('taking resources that are not free and giving back what was not taken are bugs', (t) => {
  t.throws(
    () => {
      stairs().reserve(2, 150, 250);
    },
    { instanceOf: InvariantError },
  );
  t.throws(
    () => {
      stairs().release(1, 250, 350);
    },
    { instanceOf: InvariantError },
  );
});

test('the past is forgotten and reservations that reach into it are clipped', (t) => {
  const profile = stairs();
  profile.forget(250);
  t.is(profile.from, 250);
  t.is(profile.segmentCount, 2);
  profile.release(4, 100, 300);
  t.deepEqual(
    [...profile.segments()],
    [
      { start: 250, end: 300, free: 5 },
      { start: 300, end: Infinity, free: 10 },
    ],
  );
});

test('a copy does not follow its original', (t) => {
  const profile = stairs();
  const copy = profile.clone();
  profile.release(5, 200, 300);
  t.is(profile.freeAt(200), 6);
  t.is(copy.freeAt(200), 1);
  t.is(copy.minFree(100, 201), 1);
  t.true(copy.fits(6, 100, 100));
  t.false(copy.fits(6, 101, 100));
});

test('summaries of far blocks are forgotten when one of them changes', (t) => {
  // Every other instant up to 20,000 is free: tens of thousands of segments, and nothing for two instants at a stretch.
  const profile = new AvailabilityProfile(1, 0);
  for (let at = 0; at < 20_000; at += 2) profile.reserve(1, at, at + 1);
  for (const hole of [15_000, 9000, 4000, 300]) {
    t.is(profile.earliestFit(1, 2, 0), 19_999);
    profile.release(1, hole, hole + 1);
    t.is(profile.earliestFit(1, 2, 0), hole - 1);
    t.is(profile.earliestFit(1, 4, 0), 19_999);
    profile.reserve(1, hole, hole + 1);
  }
  profile.forget(5000);
  t.is(profile.earliestFit(1, 2, 0), 19_999);
});

test('what was known of a free run before its beginning was forgotten gives no place in the past', (t) => {
  // Busy in every second ten of 400, but for one run of 30 in six segments; where it lies across the border of two
  // blocks, both know a part of it.
  for (let gap = 1; gap < 300; gap += 1) {
    const profile = new AvailabilityProfile(8, 0);
    const start = 20 * gap - 10;
    for (let index = 0; index < 400; index += 1) {
      if (index !== gap) profile.reserve(8, 20 * index, 20 * index + 10);
      else for (const at of [5, 15, 25]) profile.reserve(1, start + at, start + at + 5);
    }
    t.is(profile.earliestFit(4, 40, 0), 7990);
    t.is(profile.earliestFit(4, 25, 0), start);
    profile.forget(start + 6);
    t.is(profile.earliestFit(4, 24, start + 6), start + 6);
    t.is(profile.earliestFit(4, 25, start + 6), 7990);
  }
});

test('what is wider than the machine fits where everything counts as free, and nowhere else', (t) => {
  const profile = new AvailabilityProfile(4, 0);
  t.is(profile.earliestFit(5, 10, 0), Infinity);
  t.is(profile.earliestFit(5, 10, 0, 30), 30);
  t.is(profile.earliestFit(5, 10, 40, 30), 40);
});
