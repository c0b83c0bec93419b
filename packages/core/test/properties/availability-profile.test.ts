import test from 'ava';
import fc from 'fast-check';
import { AvailabilityProfile } from '@mutirao/core/profile';

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
  width: fc.integer({ min: 1, max: capacity }), start: fc.integer({ min: 0, max: horizon - 1 }), length: fc.integer({ min: 1, max: horizon }),
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
  fc.assert(fc.property(fc.array(operation, { maxLength: 40 }), operation, (operations, question) => {
    const profile = new AvailabilityProfile(capacity, 0);
    const reference = new Instants();
    for (const each of operations) perform(profile, reference, each);
    for (let at = profile.from; at <= horizon; at += 1) if (profile.freeAt(at) !== reference.free[at]) return false;
    const from = Math.max(question.start, profile.from);
    return profile.earliestFit(question.width, question.length, question.start) === reference.earliestFit(question.width, question.length, from)
      && profile.minFree(from, from + question.length) === reference.least(from, from + question.length)
      && profile.segmentCount === reference.segmentCount(profile.from);
  }), { seed: 20_250_101, numRuns: 3000 });
  t.pass();
});
