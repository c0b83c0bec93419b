import type { Duration } from '../../shared/index.ts';
import type { RequestFacts, TaskGroup } from '../heuristic.ts';
import { longestWalltime } from '../obstacle.ts';
import type { FinishConstants } from './constants.ts';
import { learnFrom, widest } from './learn.ts';
import type { Estimate, SupposedTime } from './estimate.ts';

/** Supposed times that are less likely are left out. */
const weightMin = 0.01;
/** Tasks of a group that count as evidence for a time: more of them would add little. */
const witnessesMax = 3;
/** A time that tasks were seen to outlast keeps this share, because it is not known how they differ. */
const doubtShare = 0.02;

/**
 * Estimates task times: from completed tasks, corrected by those that run on; else from other resources; else every
 * time that would fit counts as possible, equally likely in every ratio, less those that running and cut tasks have
 * outlasted. Cost: O(groups of tasks x times).
 */
export function lookAtTasks(facts: RequestFacts, constants: FinishConstants): Estimate {
  const { taskTimes, taskTimesElsewhere: elsewhere, pending, cutOff = [], limits } = facts;
  const running = pending.flatMap(({ tasks = [] }) => tasks);
  const longest = Math.max(1, longestWalltime(limits));
  if (taskTimes !== undefined && taskTimes.count > 0) return learnFrom(facts, running, { fitting: longest, constants });
  if (elsewhere?.median !== undefined) {
    const time = Math.min(longest, Math.max(1, elsewhere.median));
    const most = elsewhere.ninetyNinth ?? elsewhere.ninetieth ?? 2 * time;
    return {
      times: [{ time, weight: 1 }],
      longest: Math.max(1, most / time),
      reason: { code: 'task-time-median-elsewhere', taskMs: time, completedTasks: elsewhere.count },
    };
  }
  return suppose([...running, ...cutOff], longest, constants);
}

function suppose(
  seen: readonly TaskGroup[],
  longest: Duration,
  { priorShortest, priorStep }: FinishConstants,
): Estimate {
  const all: SupposedTime[] = [];
  // From the longest mean on with which every task still fits, so that no limit falls between two times; in ascending
  // order at last.
  let time = Math.max(1, longest / widest.longest);
  do {
    all.unshift({ time, weight: chanceOfAll(seen, time) });
    time /= priorStep;
  } while (time >= priorShortest);
  const sum = sumOf(all);
  // Of very many that have outlasted every time none is likelier than nothing: then they take as long as any may.
  const likely =
    sum > 0
      ? all.filter(({ weight }) => weight >= weightMin * sum)
      : all.slice(-1).map(({ time }) => ({ time, weight: 1 }));
  const likelySum = sumOf(likely);
  const times = likely.map(({ time, weight }) => ({ time, weight: weight / likelySum }));
  const [first, last] = [times[0], times.at(-1)] as [SupposedTime, SupposedTime];
  const outlasted = seen.reduce((most, { time }) => Math.max(most, time), 0);
  const range = { shortestMs: first.time, longestMs: last.time };
  return {
    times,
    longest: widest.longest,
    reason:
      outlasted > 0
        ? { code: 'task-time-outlasted', ...range, outlastedMs: outlasted }
        : { code: 'task-time-unknown', ...range },
  };
}

function sumOf(times: readonly SupposedTime[]): number {
  return times.reduce((sum, { weight }) => sum + weight, 0);
}

function chanceOfAll(seen: readonly TaskGroup[], mean: Duration): number {
  return seen.reduce((chance, group) => chance * getChance(group, mean), 1);
}

/** The chance that tasks outlast what these did, if times were as wide as `widest`. */
function getChance({ count, time: age }: TaskGroup, mean: Duration): number {
  const one = Math.min(
    1,
    Math.max(doubtShare, 1 - (age / mean - widest.shortest) / (widest.longest - widest.shortest)),
  );
  let chance = one;
  for (let i = 1; i < Math.min(witnessesMax, count); i += 1) chance *= one;
  return chance;
}
