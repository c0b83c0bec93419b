import type { TracedRequest } from '@mutirao/core/queue';
import { invariant, type Duration, type Instant, type ProcessorCount } from '@mutirao/core/shared';

/** The input of the second simulator. */
export interface SecondSetup {
  readonly processors: ProcessorCount;
  readonly compression: 'start-now' | 'reinsert';
  readonly order: EventOrder;
}

/**
 * In which order the events of one instant come: as everywhere else (submissions as the log has them, then ends, then
 * starts), with ends
 * before submissions, or with the last of the submissions first.
 */
export type EventOrder = (typeof eventOrders)[number];

/** All of them, the one that is used everywhere else first. */
export const eventOrders = ['settled', 'ends-first', 'last-submitted-first'] as const;

/** From `at` to the next of its list, `free` processors are not promised. */
interface Breakpoint {
  readonly at: Instant;
  free: ProcessorCount;
}

interface Waiting extends TracedRequest {
  readonly index: number;
  startsAt: Instant;
}

interface Running extends TracedRequest {
  readonly startedAt: Instant;
}

/**
 * Conservative backfilling written a second time, for comparison with the queue that everything else uses.
 *
 * It shares no code with that one, and is as plain as can be: one list of breakpoints that is read from its beginning,
 * and lists of waiting and running requests that are gone through at each event. Returns when each request starts,
 * indexed as `trace` is. Cost of an event: O(waiting x breakpoints), of an end under `start-now` that many times the
 * requests that it starts.
 *
 * @param trace sorted by submission; each width at most `processors`.
 * @source costa2005, sections 2.2.1 and 4.8. Departs from the source: `reinsert` is not in it.
 */
export function simulateAgain(
  trace: readonly TracedRequest[],
  { processors, compression, order }: SecondSetup,
): Instant[] {
  const machine = new PlainMachine(processors, compression);
  const starts: Instant[] = [];
  let submitted = 0;
  const submitAt = (now: Instant): void => {
    const first = submitted;
    while (trace[submitted]?.submittedAt === now) submitted += 1;
    const indexes = Array.from({ length: submitted - first }, (_, offset) => first + offset);
    if (order === 'last-submitted-first') indexes.reverse();
    for (const index of indexes) machine.submit(trace[index] as TracedRequest, index, now);
  };
  for (;;) {
    const now = Math.min(trace[submitted]?.submittedAt ?? Infinity, machine.nextInstant());
    if (now === Infinity) return starts;
    machine.forgetBefore(now);
    if (order !== 'ends-first') submitAt(now);
    machine.endAt(now);
    if (order === 'ends-first') submitAt(now);
    for (const index of machine.startAt(now)) starts[index] = now;
  }
}

class PlainMachine {
  readonly #compression: SecondSetup['compression'];
  /** Sorted by time; the last lasts for ever. */
  #breakpoints: Breakpoint[];
  /** In the order of arrival. */
  #waiting: Waiting[] = [];
  /** In the order of their starts. */
  #running: Running[] = [];

  constructor(processors: ProcessorCount, compression: SecondSetup['compression']) {
    this.#compression = compression;
    this.#breakpoints = [{ at: -Infinity, free: processors }];
  }

  nextInstant(): Instant {
    let next = Infinity;
    for (const { startsAt } of this.#waiting) next = Math.min(next, startsAt);
    for (const { startedAt, runTime } of this.#running) next = Math.min(next, startedAt + runTime);
    return next;
  }

  submit(request: TracedRequest, index: number, now: Instant): void {
    const startsAt = this.#findHole(request, now);
    this.#change(startsAt, request, -1);
    this.#waiting.push({ ...request, index, startsAt });
  }

  endAt(now: Instant): void {
    for (const request of this.#running.filter(({ startedAt, runTime }) => startedAt + runTime === now)) {
      this.#running = this.#running.filter((other) => other !== request);
      const rest = request.startedAt + request.walltime - now;
      if (rest > 0) this.#change(now, { width: request.width, walltime: rest }, 1);
      if (this.#compression === 'start-now') this.#startNow(now);
      else this.#reinsert(now);
    }
  }

  startAt(now: Instant): number[] {
    const due = this.#waiting.filter(({ startsAt }) => startsAt === now);
    this.#waiting = this.#waiting.filter(({ startsAt }) => startsAt !== now);
    this.#running.push(...due.map((request) => ({ ...request, startedAt: now })));
    return due.map(({ index }) => index);
  }

  forgetBefore(now: Instant): void {
    while ((this.#breakpoints[1]?.at ?? Infinity) <= now) this.#breakpoints.shift();
  }

  #startNow(now: Instant): void {
    let isStarted = true;
    while (isStarted) {
      isStarted = false;
      for (const request of this.#waiting) {
        if (request.startsAt === now || this.#freeAt(now) < request.width) continue;
        this.#change(request.startsAt, request, 1);
        isStarted = this.#findHole(request, now) === now;
        if (isStarted) request.startsAt = now;
        this.#change(request.startsAt, request, -1);
        if (isStarted) break;
      }
    }
  }

  #reinsert(now: Instant): void {
    for (const request of this.#waiting) {
      if (request.startsAt === now) continue;
      this.#change(request.startsAt, request, 1);
      const startsAt = this.#findHole(request, now);
      invariant(startsAt <= request.startsAt, 'a request is put later than it was promised');
      request.startsAt = startsAt;
      this.#change(startsAt, request, -1);
    }
  }

  #freeAt(now: Instant): ProcessorCount {
    let free = 0;
    for (const breakpoint of this.#breakpoints) {
      if (breakpoint.at > now) break;
      free = breakpoint.free;
    }
    return free;
  }

  /** The earliest time from `from` on at which `width` processors are free for the whole walltime. */
  #findHole({ width, walltime }: Hole, from: Instant): Instant {
    let start = from;
    for (let index = 0; index < this.#breakpoints.length; index++) {
      const { at, free } = this.#breakpoints[index] as Breakpoint;
      if (at >= start + walltime) break;
      const end = this.#breakpoints[index + 1]?.at ?? Infinity;
      if (end > start && free < width) start = end;
    }
    return start;
  }

  /** Adds a request's processors to what is free from `from` on, or takes them away. */
  #change(from: Instant, { width, walltime }: Hole, sign: 1 | -1): void {
    this.#splitAt(from);
    this.#splitAt(from + walltime);
    for (const breakpoint of this.#breakpoints) {
      if (breakpoint.at >= from && breakpoint.at < from + walltime) breakpoint.free += sign * width;
    }
    this.#breakpoints = this.#breakpoints.filter(({ free }, index) => free !== this.#breakpoints[index - 1]?.free);
  }

  #splitAt(at: Instant): void {
    const index = this.#breakpoints.findIndex((breakpoint) => breakpoint.at >= at);
    if (this.#breakpoints[index]?.at === at) return;
    const before = index < 0 ? this.#breakpoints.length : index;
    this.#breakpoints.splice(before, 0, { at, free: (this.#breakpoints[before - 1] as Breakpoint).free });
  }
}

interface Hole {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
}
