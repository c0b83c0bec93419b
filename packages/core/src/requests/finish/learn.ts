import { describeTime, plural, type Duration } from '../../shared/index.ts';
import type { RequestFacts, TaskGroup } from '../heuristic.ts';
import type { Scatter } from './draining.ts';
import type { Outlook } from './outlook.ts';

/** How tasks are thought to differ where that is not known, as shares of the mean: U(mean/4, 7 mean/4), the widest of costa2005's, and its deviation. */
export const widest = { shortest: 0.25, longest: 1.75, deviation: 0.433 };

/** Times that differ by less, as a share of their mean, count as alike. */
const alikeShare = 0.05;
/** Tasks of about the same time end one shortly after the other; one that has run longer than the shortest by this is thought to be another kind of task. */
const outlastsShare = 1.02;

/** Tasks that have outlasted a completed one, whether they run or were cut. */
interface Outlasting {
  readonly count: number;
  /** How long they ran, added up, and the longest. */
  readonly sum: Duration;
  readonly oldest: Duration;
}

/**
 * What the tasks that are left take, by the completed ones and those that have outlasted one of these.
 *
 * The first to complete are the shortest, and those that are cut again and again the longest, so that the mean of the completed ones is too low at first, and for what is left.
 *
 * @source Buckley and James, "Linear regression with censored data", Biometrika 66 (1979): who has outlasted a counts as E(T | T > a), here (a + 7/4 m) / 2 as for U(m/4, 7m/4); solved
 * for the mean:  m = (n c + sum a / 2) / (n + r / 8)
 * Symbols: n = `count`, c = `mean`, r = `outlasting.count`, a = how long each of these ran, added up in `outlasting.sum`.
 * Departs from the source: no iteration is needed, since the distribution is fixed but for its mean. What is left has the mean m' of which n c + p m' = (n + p) m, with p pending tasks.
 *
 * @param fitting the longest time that fits a request.
 */
export function learnFrom(facts: RequestFacts, running: readonly TaskGroup[], fitting: Duration): Outlook {
  const { taskTimes, taskSpread, cutOff = [], demand: { pendingTasks } } = facts;
  const { mean, longest, count } = taskTimes as NonNullable<RequestFacts['taskTimes']>;
  const shortest = taskSpread?.shortest ?? mean;
  const outlasting = findOutlasting([...running, ...cutOff], shortest * outlastsShare, pendingTasks);
  const overall = (mean * count + outlasting.sum / 2) / (count + (1 - widest.longest / 2) * outlasting.count);
  const left = (overall * (count + pendingTasks) - mean * count) / pendingTasks;
  const time = Math.min(fitting, Math.max(1, mean, Math.min(widest.longest * overall, left)));
  const most = Math.max(longest, outlasting.oldest);
  const scatter = scatterOf({ shortest: shortest / time, longest: most / time, deviation: (taskSpread?.deviation ?? (longest - mean) / 2) / time }, outlasting.count, count);
  const others = outlasting.count > 0 ? ` and ${plural(outlasting.count, 'task')} that ran longer than the shortest of them` : '';
  return {
    times: [{ time, weight: 1 }], scatter, excess: Math.max(0, (scatter?.longest ?? most / time) - 1) * time,
    reason: `A task is taken to last ${describeTime(time)}, by ${plural(count, 'completed task')}${others}.`,
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

/** How tasks differ, by those that were seen; undefined where they are alike. As long as many run on, little has been seen. */
function scatterOf(seen: Omit<Scatter, 'loss'> & { readonly deviation: number }, outlasting: number, completed: number): Scatter | undefined {
  if (outlasting === 0 && seen.deviation <= alikeShare) return undefined;
  const isEarly = outlasting > completed / 4;
  const deviation = Math.max(isEarly ? widest.deviation : 0, seen.deviation);
  const longest = Math.max(1 + alikeShare, isEarly ? widest.longest : 0, seen.longest);
  return { shortest: Math.min(seen.shortest, 1 - alikeShare), longest, loss: (1 + deviation * deviation) / 2 };
}
