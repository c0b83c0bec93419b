import { describeTime, plural, type Duration } from '../../shared/index.ts';
import type { RequestFacts, TaskGroup } from '../heuristic.ts';
import { longestWalltime } from '../obstacle.ts';
import type { FinishConstants } from './constants.ts';

/** A time that tasks may take on average. */
export interface SupposedTime {
  readonly time: Duration;
  /** How likely it is; those of an outlook add up to 1. */
  readonly weight: number;
}

/** What tasks are thought to take. */
export interface Outlook {
  /** Ascending; one where it is known. Each fits the longest walltime. */
  readonly times: readonly SupposedTime[];
  /** What the longest task is thought to take beyond the mean; 0 where all are alike, or nothing is known. */
  readonly excess: Duration;
  /** A sentence. */
  readonly reason: string;
}

/** Supposed times that are less likely are not looked at. */
const weightMin = 0.01;
/** Tasks of a group that count for how likely a time is: what they tell is much the same. */
const witnessesMax = 3;
/** Of a time that tasks were seen to outlast something is left, since nobody knows how they differ. */
const doubtShare = 0.02;

/**
 * What tasks take, by what was seen: the completed ones, corrected by those that run on; else what they take at other resources; else every time is thought
 * possible that would fit, equally likely in every ratio, less what running and cut tasks have outlasted. Cost: O(groups of tasks x times).
 */
export function lookAtTasks(facts: RequestFacts, constants: FinishConstants): Outlook {
  const { taskTimes, taskTimesElsewhere: elsewhere, pending, cutOff = [], limits } = facts;
  const running = pending.flatMap(({ tasks = [] }) => tasks);
  const longest = Math.max(1, longestWalltime(limits));
  if (taskTimes !== undefined && taskTimes.count > 0) return learn(facts, running, longest);
  if (elsewhere?.median !== undefined) {
    const time = Math.min(longest, Math.max(1, elsewhere.median));
    const most = elsewhere.ninetyNinth ?? elsewhere.ninetieth ?? 2 * time;
    return { times: [{ time, weight: 1 }], excess: Math.max(0, most - time), reason: `A task is taken to last ${describeTime(time)}, the median of ${plural(elsewhere.count, 'task')} completed elsewhere.` };
  }
  return suppose([...running, ...cutOff], longest, constants);
}

function learn({ taskTimes, taskSpread }: RequestFacts, running: readonly TaskGroup[], fitting: Duration): Outlook {
  const { mean, longest, count } = taskTimes as NonNullable<RequestFacts['taskTimes']>;
  const deviation = taskSpread?.deviation ?? (longest - mean) / 2;
  // The first to complete are the shortest. Those that have run for longer than the mean count, too, as what they are likely to take.
  let [sum, weight, oldest] = [mean * count, count, longest];
  for (const { count: tasks, time } of running) {
    if (time <= mean) continue;
    sum += tasks * (time + deviation / 2);
    weight += tasks;
    oldest = Math.max(oldest, time);
  }
  const time = Math.min(fitting, Math.max(1, sum / weight));
  const isScattered = oldest > 1.02 * (taskSpread?.shortest ?? mean);
  const excess = Math.max(oldest - time, count < 5 && isScattered ? time / 2 : 0);
  const others = weight > count ? ` and ${plural(weight - count, 'task')} that run longer already` : '';
  return { times: [{ time, weight: 1 }], excess, reason: `A task is taken to last ${describeTime(time)}, by ${plural(count, 'completed task')}${others}.` };
}

function suppose(seen: readonly TaskGroup[], longest: Duration, { priorShortest, priorStep }: FinishConstants): Outlook {
  const all: SupposedTime[] = [];
  for (let time = Math.min(priorShortest, longest); time <= longest; time *= priorStep) all.push({ time, weight: seen.reduce((weight, group) => weight * chanceOf(group, time), 1) });
  const sum = sumOf(all);
  const likely = all.filter(({ weight }) => weight >= weightMin * sum);
  const likelySum = sumOf(likely);
  const times = likely.map(({ time, weight }) => ({ time, weight: weight / likelySum }));
  const [first, last] = [times[0], times.at(-1)] as [SupposedTime, SupposedTime];
  const outlasted = seen.reduce((most, { time }) => Math.max(most, time), 0);
  const because = outlasted > 0 ? `tasks have run for ${describeTime(outlasted)} and none has ended` : 'nothing has been observed yet';
  return { times, excess: 0, reason: `A task may last from ${describeTime(first.time)} to ${describeTime(last.time)}: ${because}.` };
}

function sumOf(times: readonly SupposedTime[]): number {
  return times.reduce((sum, { weight }) => sum + weight, 0);
}

/** The chance that tasks outlast what these did, if times were U(mean/4, 7 mean/4), the widest of costa2005's. */
function chanceOf({ count, time: age }: TaskGroup, mean: Duration): number {
  const one = Math.min(1, Math.max(doubtShare, 1 - (age / mean - 0.25) / 1.5));
  let chance = one;
  for (let i = 1; i < Math.min(witnessesMax, count); i += 1) chance *= one;
  return chance;
}
