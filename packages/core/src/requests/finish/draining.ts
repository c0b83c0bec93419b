import type { Duration } from '../../shared/index.ts';
import type { TaskGroup } from '../heuristic.ts';

/** Lanes that take tasks one after the other; a lane is the processors of one task. Times are counted from now. */
export interface Lanes {
  readonly count: number;
  /** When they can begin; 0 for those that run. */
  readonly from: Duration;
  /** How long the task has run already that each has. */
  readonly age: Duration;
  /** When their request ends. */
  readonly end: Duration;
  /** Those for which a task will be there: a request in which no task can begin is released at once. Left out, all. */
  readonly used?: number;
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
  /** Tasks that run nowhere. */
  readonly waiting: number;
  /** When each slot that has a request is free again, from now. */
  readonly slotEnds: readonly Duration[];
  /** Tasks that would be cut for the sake of others: they are known to be long, and begin again. */
  readonly restarted: readonly TaskGroup[];
}

/** How tasks differ, as shares of their mean. */
export interface Scatter {
  readonly shortest: number;
  /** More than `shortest`. */
  readonly longest: number;
  /** The mean loss of a task when a request ends under it; also the extra time of the last tasks. */
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

/** A bag counts as empty with this fraction of a task left, if tasks differ. */
const asLikelyAsNot = 0.5;

/** Later than anything, from now: some thirty years. */
export const never: Duration = 1e12;

/**
 * Notes of lanes that come free how many of them tasks will be there for: those that wait and that no lane has taken
 * before, and those that an earlier request's end cuts.
 *
 * @param lanes those that run tasks, `age` more than 0, anywhere among them. @param waiting tasks that run nowhere.
 * Cost: O(lanes squared).
 */
export function useLanes(lanes: readonly Lanes[], waiting: number): Lanes[] {
  const taken: Lanes[] = [];
  for (const lane of [...lanes].sort((one, other) => one.from - other.from || other.age - one.age)) {
    let left = waiting;
    for (const { age, end, count, used = count } of taken) {
      if (age > 0 && end <= lane.from) left += count;
      if (age === 0 && end > lane.from) left -= used;
    }
    taken.push(lane.age > 0 ? lane : { ...lane, used: Math.min(lane.count, Math.max(0, left)) });
  }
  return taken;
}

/**
 * When lanes can begin given the others, no earlier than `from`: lanes that hold the resource until their end leave no
 * place for others that do not fit, however early foreign requests end.
 *
 * @param most the total number of lanes. Cost: O(others squared) at worst, and mostly O(others).
 */
export function startBeside(
  others: readonly Lanes[],
  { count, from }: Pick<Lanes, 'count' | 'from'>,
  most: number,
): Duration {
  let at = from;
  for (;;) {
    let held = 0;
    let next = Infinity;
    for (const other of others) {
      if (other.from > at || other.end <= at) continue;
      held += other.count;
      next = Math.min(next, other.end);
    }
    if (held + count <= most || next === Infinity) return at;
    at = next;
  }
}

/**
 * Tasks that a lane has done when it has had processors for `times` task times.
 *
 * A whole number if all tasks are alike. Otherwise, in the long run, the times less the loss at the end; in the short
 * run, the chance that one is done.
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

/**
 * The chance that a task that has run for a while ends within a time: evenly likely from the least that it can still
 * take to twice the mean of what it does.
 */
function chanceOfEnd(span: Duration, age: Duration, bag: Bag): number {
  const { time, scatter } = bag;
  const left = timeLeft(age, bag);
  if (scatter === undefined) return span < left ? 0 : 1;
  const least = Math.max(0, scatter.shortest * time - age);
  return Math.min(1, Math.max(0, (span - least) / Math.max(1, 2 * left - 2 * least)));
}

/** What tasks count for more than others that would be cut after a while: none is shorter than that. */
function addedBy({ count, time: age }: TaskGroup, bag: Bag): number {
  return bag.scatter === undefined ? 0 : count * Math.max(0, (age + timeLeft(age, bag)) / bag.time - 1);
}

/**
 * Tasks that are done by an instant, from now: those in progress by their own time, the others no faster than lanes are
 * there for them, and none twice, so that lanes for which no task waits bring nothing.
 *
 * Cost: O(lanes).
 */
export function countDone(at: Duration, workers: Workers, bag: Bag): number {
  const { tasks, time, scatter } = bag;
  let [current, fresh, waiting] = [0, 0, tasks];
  for (const { count, from, age, end, used = count } of workers.lanes) {
    const last = at < end ? at : end;
    if (age > 0) {
      const ended = count * chanceOfEnd(last, age, bag);
      current += ended;
      // What the request's end cuts waits again.
      waiting -= at < end ? count : ended;
    }
    const begun = age > 0 ? timeLeft(age, bag) : from;
    if (last > begun) fresh += (age > 0 ? count : used) * doneInLane((last - begun) / time, scatter);
  }
  return current + Math.min(waiting, fresh + doneLater(at, workers, bag));
}

/** Tasks that slots bring once their requests have ended, less what begins again. */
function doneLater(at: Duration, { slotEnds, restarted }: Workers, bag: Bag): number {
  const {
    later: { pause, rate },
  } = bag;
  let done = 0;
  for (const end of slotEnds) done += Math.max(0, at - pause - end) * rate;
  for (const group of restarted) done -= addedBy(group, bag);
  return done;
}

/** Whether a bag is empty by an instant, from now, or as likely as not where tasks differ. Cost: O(lanes). */
export function isDrained(at: Duration, workers: Workers, bag: Bag): boolean {
  return countDone(at, workers, bag) >= bag.tasks - (bag.scatter === undefined ? rounding : asLikelyAsNot);
}

/**
 * When a bag is empty, from now: lanes take tasks eagerly until their requests end, and from then on slots work at
 * their average rate; `never` if none do.
 *
 * To a second, or a two thousandth if that is more.
 *
 * @param guess where the search begins, more than 0. Cost: O(lanes x 20), and half of that where it is less than a
 *   tenth too late.
 */
export function drainTime(workers: Workers, bag: Bag, guess: Duration = bag.time): Duration {
  let low = 0;
  let high = Math.min(never, guess);
  while (!isDrained(high, workers, bag)) {
    if (high >= never) return never;
    low = high;
    high = Math.min(never, 2 * high);
  }
  if (low === 0 && !isDrained(0.9 * high, workers, bag)) low = 0.9 * high;
  while (high - low > 1000 && high - low > high / 2000) {
    const middle = (low + high) / 2;
    if (isDrained(middle, workers, bag)) high = middle;
    else low = middle;
  }
  return high;
}
