import type { Duration } from '../../shared/index.ts';

/** Lanes that take tasks one after the other; a lane is the processors of one task. Times are counted from now. */
export interface Lanes {
  readonly count: number;
  /** When they can begin; 0 for those that run. */
  readonly from: Duration;
  /** How long the task has run already that each has. */
  readonly age: Duration;
  /** When their request ends. */
  readonly end: Duration;
}

/** What a request slot brings, on average, once its present request has ended. */
export interface SlotLater {
  /** How long until its next request has done a task. */
  readonly pause: Duration;
  /** Tasks per millisecond from then on. */
  readonly rate: number;
}

/** What takes tasks: the lanes of requests, and later their slots. */
export interface Workers {
  readonly lanes: readonly Lanes[];
  /** When each slot that has a request is free again, from now. */
  readonly slotEnds: readonly Duration[];
}

/** How tasks differ, as shares of their mean. */
export interface Scatter {
  readonly shortest: number;
  /** More than `shortest`. */
  readonly longest: number;
  /** What of a task is lost, on average, where a request ends under it; and what the last ones take longer. */
  readonly loss: number;
}

/** Tasks of one job, if they take `time` on average. */
export interface Bag {
  /** Those that are not done, running ones included. */
  readonly tasks: number;
  readonly time: Duration;
  /** Left out where each takes the same. */
  readonly scatter?: Scatter | undefined;
  readonly later: SlotLater;
}

/** A lane whose task has run longer than tasks take is thought to need this share of a task's time more. */
const overdueShare = 1 / 8;
/** What division leaves of a whole number may be short of it by this. */
const rounding = 1e-9;

/** Later than anything, from now: some thirty years. */
export const never: Duration = 1e12;

/**
 * Tasks that a lane has done when it has had processors for so many task times.
 *
 * Whole ones where all are alike. Else, in the long run, so many as it has had time for less what is lost at the end; in the short run, the chance that one is done.
 *
 * @source for the long run, the elementary renewal theorem with E(T^2) / 2 E(T) for the age of what is cut.
 */
export function doneInLane(times: number, scatter: Scatter | undefined): number {
  if (scatter === undefined) return times < 1 - rounding ? 0 : Math.floor(times + rounding);
  const { shortest, longest, loss } = scatter;
  if (times <= shortest) return 0;
  return Math.max(times - loss, Math.min(1, (times - shortest) / (longest - shortest)));
}

/** What a task that has run for a while still takes, on average. */
function timeLeft(age: Duration, { time, scatter }: Bag): Duration {
  if (scatter === undefined || age === 0) return Math.max(time - age, time * overdueShare);
  return Math.max((scatter.longest * time - Math.max(age, scatter.shortest * time)) / 2, time * overdueShare);
}

/** Tasks that are done by an instant, from now. Cost: O(lanes). */
export function countDone(at: Duration, { lanes, slotEnds }: Workers, bag: Bag): number {
  const { time, scatter, later: { pause, rate } } = bag;
  let done = 0;
  for (const { count, from, age, end } of lanes) {
    const last = at < end ? at : end;
    if (last <= from) continue;
    const left = age === 0 ? time : timeLeft(age, bag);
    done += count * doneInLane((last - from - left) / time + 1, scatter);
  }
  const begun = at - pause;
  for (const end of slotEnds) if (begun > end) done += (begun - end) * rate;
  return done;
}

/** Whether a bag is empty by an instant, from now. Cost: O(lanes). */
export function isDrained(at: Duration, workers: Workers, bag: Bag): boolean {
  return countDone(at, workers, bag) >= bag.tasks;
}

/**
 * When a bag is empty, from now: lanes take tasks eagerly until their requests end, and from then on slots bring what they bring on average; `never` where nothing does.
 *
 * To a second, or a two thousandth where that is more. Cost: O(lanes x 20).
 */
export function drainTime(workers: Workers, bag: Bag): Duration {
  let low = 0;
  let high = bag.time;
  while (!isDrained(high, workers, bag)) {
    low = high;
    high *= 2;
    if (high > never) return never;
  }
  while (high - low > 1000 && high - low > high / 2000) {
    const middle = (low + high) / 2;
    if (isDrained(middle, workers, bag)) high = middle;
    else low = middle;
  }
  return high;
}
