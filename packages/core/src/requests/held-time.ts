import type { Instant, ProcessorCount } from '../shared/index.ts';
import { FreeTime } from '../profile/index.ts';

/**
 * Collects how many processors are held when, in any order, and then computes what is left in one sweep.
 *
 * Far cheaper than reserving one after another in a profile: instants are sorted as plain numbers, each with the
 * position of its change in the digits below it.
 */
export class HeldTime {
  readonly #now: Instant;
  /** The change of what is held, two for each hold: at its start and at its end. */
  readonly #changes: Int32Array;
  /** The instant of change i, counted from now, times `#scale`, plus i. */
  readonly #keys: Float64Array;
  readonly #scale: number;
  /** Later instants than this, counted from now, are as this. */
  readonly #latest: number;
  #count = 0;

  /** @param holdsMax how many holds there will be at most. */
  constructor(now: Instant, holdsMax: number) {
    this.#now = now;
    this.#changes = new Int32Array(2 * holdsMax);
    this.#keys = new Float64Array(2 * holdsMax);
    this.#scale = 2 * holdsMax;
    this.#latest = Math.floor(Number.MAX_SAFE_INTEGER / this.#scale) - 1;
  }

  /** Notes that `width` is held in [start, end); what is before now does not count. */
  hold(width: ProcessorCount, start: Instant, end: Instant): void {
    this.#note(start, width);
    this.#note(end, -width);
  }

  #note(at: Instant, change: number): void {
    this.#changes[this.#count] = change;
    this.#keys[this.#count] = Math.min(this.#latest, Math.max(0, at - this.#now)) * this.#scale + this.#count;
    this.#count += 1;
  }

  /** What is left of `capacity`; nothing where more is held than there is. Cost: O(holds x log holds). */
  leave(capacity: ProcessorCount): FreeTime {
    const keys = this.#keys.subarray(0, this.#count).sort();
    const starts: Instant[] = [this.#now];
    const free: ProcessorCount[] = [capacity];
    let held = 0;
    let last = 0;
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as number;
      const at = Math.floor(key / this.#scale);
      held += this.#changes[key - at * this.#scale] as number;
      if (at > last) {
        starts.push(this.#now + at);
        last = at;
      }
      free[starts.length - 1] = Math.max(0, capacity - held);
    }
    return new FreeTime(starts, free);
  }
}
