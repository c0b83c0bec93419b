import { invariant } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** A task that has run. */
export interface FinishedTask {
  /** r_j, from the same origin as the end. */
  readonly submittedAt: Instant;
  readonly width: ProcessorCount;
  /** p_j: the real one. More than 0. */
  readonly runTime: Duration;
  /** C_j. */
  readonly endedAt: Instant;
}

/** The 14 metrics in the order of the seed, by their names here, and whether more is better. */
export const siteSelectionMetrics = [
  { id: 'm1', name: 'competitive factor', moreIsBetter: false },
  { id: 'm2', name: 'makespan', moreIsBetter: false },
  { id: 'm3', name: 'utilisation', moreIsBetter: true },
  { id: 'm4', name: 'idle resources', moreIsBetter: false },
  { id: 'm5', name: 'throughput', moreIsBetter: true },
  { id: 'm6', name: 'mean turnaround', moreIsBetter: false },
  { id: 'm7', name: 'turnaround by width', moreIsBetter: false },
  { id: 'm8', name: 'turnaround by work', moreIsBetter: false },
  { id: 'm9', name: 'mean wait', moreIsBetter: false },
  { id: 'm10', name: 'wait by width', moreIsBetter: false },
  { id: 'm11', name: 'mean response time', moreIsBetter: false },
  { id: 'm12', name: 'mean slowdown', moreIsBetter: false },
  { id: 'm13', name: 'bounded slowdown', moreIsBetter: false },
  { id: 'm14', name: 'system slowdown', moreIsBetter: false },
] as const;

/** Run times below it count as it in m13. @source gonzalez2010's usual form: 10 s. */
export const boundedSlowdownThreshold: Duration = 10_000;

/**
 * The 14 metrics of a schedule, m1 first; times in ms, work in processor-ms, m5 in tasks per ms. Cost: linear.
 *
 * Settled for this project: the seed defines m1 alone (Eq. 16); the others are the usual ones, matched to its
 * strategies, and the lower bound of m1 is
 * max(max (r_j + p_j), sum size_j p_j / M).
 *
 * @param processors M, of all resources. @param tasks at least one; times count from the first submission, so that m2
 * is their last end.
 */
export function measurePlacement(tasks: Iterable<FinishedTask>, processors: ProcessorCount): number[] {
  let [count, makespan, work, longest, runTimes] = [0, 0, 0, 0, 0];
  let [turnarounds, byWidth, byWork, waits, waitsByWidth, slowdowns, bounded] = [0, 0, 0, 0, 0, 0, 0];
  for (const { submittedAt, width, runTime, endedAt } of tasks) {
    const turnaround = endedAt - submittedAt;
    count += 1;
    makespan = Math.max(makespan, endedAt);
    work += width * runTime;
    longest = Math.max(longest, submittedAt + runTime);
    runTimes += runTime;
    turnarounds += turnaround;
    byWidth += turnaround * width;
    byWork += turnaround * width * runTime;
    waits += turnaround - runTime;
    waitsByWidth += (turnaround - runTime) * width;
    slowdowns += turnaround / runTime;
    bounded += Math.max(1, turnaround / Math.max(runTime, boundedSlowdownThreshold));
  }
  invariant(count > 0, 'nothing has run');
  return [
    makespan / Math.max(longest, work / processors),
    makespan,
    work / (makespan * processors),
    makespan * processors - work,
    count / makespan,
    turnarounds / count,
    byWidth / count,
    byWork / count,
    waits / count,
    waitsByWidth / count,
    turnarounds / count,
    slowdowns / count,
    bounded / count,
    turnarounds / runTimes,
  ];
}
