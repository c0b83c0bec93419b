import type { FreedProcessors } from '../messages/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/**
 * When the processors of a resource become free, behind all tasks that are scheduled on it first come, first served.
 *
 * Processors that become free at one instant are one group. No task starts before an earlier one, so that processors
 * that are free earlier than a start count as free since that start. There are at most as many groups as requests that
 * overlap.
 */
export class FreeGroups {
  /** Instants in #head..#end, ascending; `#counts` are the processors that become free then. */
  #times = new Float64Array(128);
  #counts = new Float64Array(128);
  #head = 0;
  #end = 0;

  /** Forgets everything: all processors are free since ever. */
  reset(processors: ProcessorCount): void {
    this.#head = 0;
    this.#end = 1;
    this.#times[0] = -Infinity;
    this.#counts[0] = processors;
  }

  /**
   * Replaces everything by the given groups, in order of time, shifted by `by`; processors that are free by `now` count
   * as free since ever.
   */
  load(groups: readonly FreedProcessors[], now: Instant, by: Duration): void {
    this.reset(0);
    this.#end = 0;
    for (const { at, processors } of groups) this.#insert(at + by <= now ? -Infinity : at + by, processors);
  }

  /** Processors that come free, by time, in at most `countMax` groups; a group has the time of its last processors. */
  list(now: Instant, countMax: number): FreedProcessors[] {
    const share = Math.max(1, Math.ceil((this.#end - this.#head) / countMax));
    const groups: FreedProcessors[] = [];
    for (let from = this.#head; from < this.#end; from += share) {
      const end = Math.min(from + share, this.#end);
      let processors = 0;
      for (let at = from; at < end; at += 1) processors += this.#counts[at] as number;
      groups.push({ at: Math.max(now, this.#times[end - 1] as number), processors });
    }
    return groups;
  }

  /**
   * Takes processors that are free now, until an instant; fewer if there are fewer. For running tasks; before anything
   * is scheduled.
   */
  hold(width: ProcessorCount, until: Instant): void {
    const free = this.#times[this.#head] === -Infinity ? (this.#counts[this.#head] as number) : 0;
    const held = Math.min(width, free);
    if (held === 0) return;
    if (held === free) this.#head += 1;
    else this.#counts[this.#head] = free - held;
    this.#insert(until, held);
  }

  /**
   * When `width` processors are free, not before `now`. @param width at most the present processors. Cost: O(groups
   * that are free by then).
   */
  startOf(width: ProcessorCount, now: Instant): Instant {
    let free = 0;
    let at = this.#head;
    while (free < width && at < this.#end) free += this.#counts[at++] as number;
    return Math.max(now, this.#times[at - 1] as number);
  }

  /** Schedules a request behind all others and returns its end. Cost: O(groups). */
  take(width: ProcessorCount, walltime: number, now: Instant): Instant {
    const start = this.startOf(width, now);
    let free = 0;
    while (this.#head < this.#end && (this.#times[this.#head] as number) <= start)
      free += this.#counts[this.#head++] as number;
    if (free > width) {
      this.#head -= 1;
      this.#times[this.#head] = start;
      this.#counts[this.#head] = free - width;
    }
    this.#insert(start + walltime, width);
    return start + walltime;
  }

  #insert(until: Instant, count: ProcessorCount): void {
    if (this.#end === this.#times.length) this.#makeRoom();
    let at = this.#end;
    while (at > this.#head && (this.#times[at - 1] as number) > until) {
      this.#times[at] = this.#times[at - 1] as number;
      this.#counts[at] = this.#counts[at - 1] as number;
      at -= 1;
    }
    this.#times[at] = until;
    this.#counts[at] = count;
    this.#end += 1;
  }

  /** Moves everything to the front; into twice the room where that frees less than half. */
  #makeRoom(): void {
    const [times, counts, size] = [this.#times, this.#counts, this.#end - this.#head];
    if (2 * size > times.length)
      [this.#times, this.#counts] = [new Float64Array(2 * times.length), new Float64Array(2 * times.length)];
    this.#times.set(times.subarray(this.#head, this.#end));
    this.#counts.set(counts.subarray(this.#head, this.#end));
    [this.#head, this.#end] = [0, size];
  }
}
