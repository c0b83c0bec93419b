import test from 'ava';
import fc from 'fast-check';
import { AvailabilityProfile, type Segment } from '@mutirao/core/profile';
import { runs } from '@mutirao/testkit';

const capacity = 8;
const horizon = 40;

/** The slow reference: one number per instant, the last one standing for all that follows. */
class Instants {
  readonly free = new Array<number>(horizon + 1).fill(capacity);

  least(start: number, end: number): number {
    return Math.min(...this.free.slice(Math.min(start, horizon), Math.max(end, start + 1)));
  }

  add(change: number, start: number, end: number): void {
    for (let at = start; at < end; at += 1) this.free[at] = (this.free[at] ?? 0) + change;
  }

  earliestFit(width: number, duration: number, from: number): number {
    for (let at = from; at <= horizon; at += 1) if (this.least(at, at + duration) >= width) return at;
    return Infinity;
  }

  segmentCount(from: number): number {
    return this.free.filter((free, at) => at >= from && (at === from || free !== this.free[at - 1])).length;
  }
}

const operation = fc.record({
  kind: fc.constantFrom('reserve', 'release', 'fit', 'forget'),
  width: fc.integer({ min: 1, max: capacity }),
  start: fc.integer({ min: 0, max: horizon - 1 }),
  length: fc.integer({ min: 1, max: horizon }),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

function perform(profile: AvailabilityProfile, reference: Instants, { kind, width, start, length }: Operation): void {
  const first = Math.max(start, profile.from);
  const end = Math.min(start + length, horizon);
  if (kind === 'reserve' && reference.least(first, end) >= width && end > first) {
    profile.reserve(width, start, end);
    reference.add(-width, first, end);
  }
  if (kind === 'release' && end > first && reference.free.slice(first, end).every((free) => free + width <= capacity)) {
    profile.release(width, start, end);
    reference.add(width, first, end);
  }
  if (kind === 'forget' && start % 5 === 0) profile.forget(start);
}

test('a profile is the step function that one number per instant describes', (t) => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 40 }), operation, (operations, question) => {
      const profile = new AvailabilityProfile(capacity, 0);
      const reference = new Instants();
      for (const each of operations) perform(profile, reference, each);
      for (let at = profile.from; at <= horizon; at += 1) if (profile.freeAt(at) !== reference.free[at]) return false;
      const from = Math.max(question.start, profile.from);
      return (
        profile.earliestFit(question.width, question.length, question.start) ===
          reference.earliestFit(question.width, question.length, from) &&
        profile.minFree(from, from + question.length) === reference.least(from, from + question.length) &&
        profile.segmentCount === reference.segmentCount(profile.from)
      );
    }),
    runs(20_250_101, 3000),
  );
  t.pass();
});

/** Enough breakpoints for dozens of blocks, of windows of one processor between 0 and 20,060. */
function* manyWindows(seed: number): Generator<{ start: number; end: number }> {
  let state = seed;
  for (let count = 0; count < 9000; count += 1) {
    state = (state * 48_271 + 11) % 2_147_483_647;
    const start = state % 20_000;
    yield { start, end: start + 1 + (Math.floor(state / 20_000) % 60) };
  }
}

test('a profile of thousands of segments is the step function that one number per instant describes', (t) => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const profile = new AvailabilityProfile(200, 0);
      const free = new Int32Array(20_100).fill(200);
      const windows = [...manyWindows(seed)];
      windows.forEach(({ start, end }, index) => {
        profile.reserve(1, start, end);
        for (let at = start; at < end; at += 1) free[at] = (free[at] as number) - 1;
        const given = index % 3 === 2 ? (windows[index - 1] as (typeof windows)[0]) : { start: 0, end: 0 };
        profile.release(1, given.start, given.end);
        for (let at = given.start; at < given.end; at += 1) free[at] = (free[at] as number) + 1;
        if (index % 1500 >= 1496) checkAnswers(profile, free, (seed % 100_000) + Math.floor(index / 1500));
      });
      for (let at = 700; at < 4000; at += 650) {
        profile.forget(at);
        checkAnswers(profile, free, (seed % 100_000) + at);
        profile.reserve(1, at + 20, at + 300);
        for (let each = at + 20; each < at + 300; each += 1) free[each] = (free[each] as number) - 1;
        profile.forget(at + 3);
        checkAnswers(profile, free, (seed % 100_000) + at);
      }
      // Instant by instant, so that summaries of the first block are old ones to its end.
      for (let at = 4000; at < 4400; at += 2) {
        profile.forget(at);
        checkAnswers(profile, free, (seed % 100_000) + at, 12);
      }
      for (const at of [4400, 4401, 5000, 20_050]) if (profile.freeAt(at) !== free[at]) return false;
      return profile.segmentCount > 5000;
    }),
    runs(20_250_104, 2),
  );
  t.pass();
});

/**
 * Asks most questions twice, since the second time the answers may come from what is remembered; many fit only far
 * away.
 */
function checkAnswers(profile: AvailabilityProfile, free: Int32Array, choice: number, count = 600): void {
  const segments = [...profile.segments()];
  for (let question = 0; question < count; question += 1) {
    const draw = (choice + 7919 * (question >> 1)) % 1_000_003;
    const from = Math.max(profile.from, (question & 2) === 0 ? 0 : draw % 20_000);
    const width = 176 + (draw % 25);
    const duration = 1 + (Math.floor(draw / 25) % ((question & 4) === 0 ? 40 : 400));
    const place = slowFit(segments, width, duration, from);
    const found = [
      profile.earliestFit(width, duration, from),
      profile.earliestFit(width, duration, from, from + 9000),
      profile.endOfFree(width, from),
    ];
    const wanted = [place, place < from + 9000 - duration ? place : found[1], slowEnd(free, width, from)];
    if (found.join() !== wanted.join())
      throw new Error(`${width} for ${duration} from ${from}: ${found.join()}, expected ${wanted.join()}`);
  }
}

/** Reads one segment after the other. */
function slowFit(segments: readonly Segment[], width: number, duration: number, from: number): number {
  let place = from;
  for (const { end, free } of segments) {
    if (end <= from) continue;
    if (free < width) place = end;
    else if (end - place >= duration) return place;
  }
  return Infinity;
}

function slowEnd(free: Int32Array, width: number, from: number): number {
  const length = free.subarray(from).findIndex((each) => each < width);
  return length < 0 ? Infinity : from + length;
}
