import type { Reason } from '../../reasons/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import type { RequestFacts, TaskGroup } from '../heuristic.ts';
import type { FinishConstants } from './constants.ts';
import type { Scatter } from './draining.ts';
import type { Estimate, SupposedTime } from './estimate.ts';

/**
 * How tasks are thought to differ where that is not known, as shares of the mean: U(mean/4, 7 mean/4), the widest of
 * costa2005's.
 */
export const widest = { shortest: 0.25, longest: 1.75 };

/** Times that differ by less, as a share of their mean, count as one. */
const scatterMin = 0.05;

/** As many completed tasks are doubted: until there are more, tasks are thought to differ widely. */
const doubtCount = 2;
/** The deviation of what is evenly distributed is its breadth by this. */
const rootOf12 = 3.4641016151377544;

/** What learning uses in addition to observations. */
interface Learning {
  /** The longest time that fits a request. */
  readonly fitting: Duration;
  readonly constants: Pick<FinishConstants, 'likeShare' | 'timeDoubt' | 'timeDoubtWeight'>;
}

/** What was seen of how tasks differ. */
interface SeenTimes {
  readonly shortest: Duration;
  readonly longest: Duration;
  readonly deviation: Duration;
}

/** Tasks that have outlasted a completed one, whether they run or were cut. */
interface Outlasting {
  readonly count: number;
  /** How long they ran, added up, and the longest. */
  readonly sum: Duration;
  readonly oldest: Duration;
}

/** The shortest time of a completed task; 0 where there is none. */
function getShortest({ taskTimes, taskSpread }: Pick<RequestFacts, 'taskTimes' | 'taskSpread'>): Duration {
  const mean = taskTimes?.mean ?? 0;
  return Math.min(mean, taskSpread?.shortest ?? mean);
}

/**
 * When it will be clear whether tasks are alike; undefined if it is already, or cannot be determined.
 *
 * Tasks that are alike and began together end one shortly after the other. When the first of them has just ended, and
 * others have run as long, these seem to be as short; a moment later they have ended too, or have outlasted it. A
 * decision before then would assume tasks as short as the shortest. That moment is twice `likeShare` of its time at
 * most, once if ages are exact. Cost: O(groups of tasks).
 *
 * @param running how long tasks have run.
 */
export function likenessShownAt(
  facts: Pick<RequestFacts, 'now' | 'taskTimes' | 'taskSpread' | 'taskAgeError' | 'cutOff'>,
  running: readonly TaskGroup[],
  { likeShare }: Pick<FinishConstants, 'likeShare'>,
): Instant | undefined {
  const { now, taskTimes, taskAgeError = 0, cutOff = [] } = facts;
  const shortest = getShortest(facts);
  const outlasts = shortest * (1 + likeShare);
  if (
    taskTimes === undefined ||
    shortest <= 0 ||
    taskTimes.longest > outlasts ||
    [...running, ...cutOff].some(({ time }) => time > outlasts)
  )
    return undefined;
  // A share of that at most, or those that began a while later would count, too.
  const least = shortest - Math.min(taskAgeError, shortest * likeShare);
  const likes = running.filter(({ time }) => time >= least && time < outlasts);
  // Where as many have ended there is enough to go by.
  if (likes.reduce((sum, { count }) => sum + count, 0) <= taskTimes.count) return undefined;
  return now + Math.floor(outlasts - Math.max(...likes.map(({ time }) => time))) + 1;
}

/**
 * Estimates the time of the remaining tasks from completed ones and from those that have outlasted a completed one.
 *
 * The first to complete are the shortest, and those that are cut again and again the longest, so that the mean of the
 * completed ones is too low at first, and too low for the remaining ones.
 *
 * @source Buckley and James, "Linear regression with censored data", Biometrika 66 (1979): a task that has outlasted a
 *   counts as E(T | T > a), here (a + L) / 2 as for U(s, L); solved for the longest: L - s = (2 n (c - s) + sum (a - s)
 *   + k (7 s - s)) / (n + k)
 * Symbols: n = `count`, c = `mean`, s = `shortest`, a = how long each of those that outlast it ran, L = `longest`, k =
 * `doubtCount`: the number of tasks that the prior U(m/4, 7m/4) counts for. The remaining tasks have the mean m' with n
 * c + p m' = (n + p) (s + L) / 2, with p pending tasks.
 *
 * Where tasks differ, chance decides how many of them a request will cut, however well their mean is known. So the
 * estimate allows for all of them taking a tenth longer, and a plan that ends the job by a hair is worth less than one
 * with something to spare.
 *
 * @param running how long tasks have run.
 */
export function learnFrom(
  facts: RequestFacts,
  running: readonly TaskGroup[],
  { fitting, constants }: Learning,
): Estimate {
  const {
    taskTimes,
    taskSpread,
    cutOff = [],
    demand: { pendingTasks },
  } = facts;
  const { mean, longest, count } = taskTimes as NonNullable<RequestFacts['taskTimes']>;
  const shortest = getShortest(facts);
  const outlasting = findOutlasting([...running, ...cutOff], shortest * (1 + constants.likeShare), pendingTasks);
  if (outlasting.count === 0)
    return learnFromCompleted(
      { mean, longest, shortest, deviation: taskSpread?.deviation ?? (longest - mean) / 2 },
      count,
      { fitting, constants },
    );
  const beyond =
    2 * count * (mean - shortest) +
    (outlasting.sum - outlasting.count * shortest) +
    doubtCount * (widest.longest / widest.shortest - 1) * shortest;
  const most = Math.max(longest, outlasting.oldest, shortest + beyond / (count + doubtCount));
  const left = (((shortest + most) / 2) * (count + pendingTasks) - mean * count) / pendingTasks;
  const time = Math.min(fitting, Math.max(1, mean, Math.min(most, left)));
  // None of those that have outlasted a is shorter than that, and the remaining tasks are more and more of these.
  const least = (outlasting.sum + (pendingTasks - outlasting.count) * shortest) / pendingTasks;
  const scatter = getScatter(
    { shortest: Math.min(least, time), longest: most, deviation: (most - shortest) / rootOf12 },
    time,
  );
  const times = doubt(time, { fitting, constants });
  return {
    times,
    scatter,
    longest: scatter.longest,
    reason: describeTimes(times, count, outlasting.count),
  };
}

/** A learnt time, and how much longer it may be. */
function doubt(time: Duration, { fitting, constants: { timeDoubt, timeDoubtWeight } }: Learning): SupposedTime[] {
  const longer = Math.min(fitting, time * (1 + timeDoubt));
  return longer > time
    ? [
        { time, weight: 1 - timeDoubtWeight },
        { time: longer, weight: timeDoubtWeight },
      ]
    : [{ time, weight: 1 }];
}

function describeTimes(
  [learnt, longer]: readonly SupposedTime[],
  completedTasks: number,
  longerRunningTasks: number,
): Reason {
  return {
    code: 'task-time-learnt',
    taskMs: learnt?.time ?? 0,
    ...(longer === undefined ? {} : { longerTaskMs: longer.time }),
    completedTasks,
    longerRunningTasks,
  };
}

/** The same where none has run longer than the shortest. */
function learnFromCompleted(
  { mean, longest, shortest, deviation }: SeenTimes & { readonly mean: Duration },
  count: number,
  learning: Learning,
): Estimate {
  const time = Math.min(learning.fitting, Math.max(1, mean));
  const scatter = deviation <= scatterMin * time ? undefined : getScatter({ shortest, longest, deviation }, time);
  const times = scatter === undefined ? [{ time, weight: 1 }] : doubt(time, learning);
  return {
    times,
    scatter,
    longest: Math.max(1, scatter?.longest ?? longest / time),
    reason: describeTimes(times, count, 0),
  };
}

/** @param countMax more cannot be: some were cut several times. */
function findOutlasting(groups: readonly TaskGroup[], shortest: Duration, countMax: number): Outlasting {
  let [count, sum, oldest] = [0, 0, 0];
  for (const { count: tasks, time } of groups) {
    if (time <= shortest) continue;
    const counted = Math.min(tasks, countMax - count);
    count += counted;
    sum += counted * time;
    oldest = Math.max(oldest, time);
  }
  return { count, sum, oldest };
}

/** How tasks differ, as shares of what they take on average. */
function getScatter({ shortest, longest, deviation }: SeenTimes, time: Duration): Scatter {
  const share = deviation / time;
  return {
    shortest: Math.min(shortest / time, 1 - scatterMin),
    longest: Math.max(1 + scatterMin, longest / time),
    loss: (1 + share * share) / 2,
  };
}
