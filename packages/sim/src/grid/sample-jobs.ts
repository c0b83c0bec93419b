import { heuristicDefaults, getWaste, type HeuristicOptions, type RequestHeuristic } from '@mutirao/core/requests';
import { invariant, Prng } from '@mutirao/core/shared';
import type { Duration, Instant, ProcessorCount, ProcessorMillis } from '@mutirao/core/shared';
import type { LocalHistory } from '../resource/local-history.ts';
import type { GridJob } from './grid-job.ts';
import { runGrid, type TraceLine } from './run-grid.ts';

/** How much task times differ: constant; U(mean/2, 3 mean/2); U(mean/4, 7 mean/4). */
export type Heterogeneity = 1 | 2 | 4;

/** A kind of grid job, and how requests are made for it. */
export interface JobScenario {
  readonly heuristic: RequestHeuristic;
  readonly taskCount: number;
  readonly meanTaskTime: Duration;
  readonly heterogeneity: Heterogeneity;
  /** maxPR. */
  readonly requestsMax: number;
  /** maxP. */
  readonly widthMax: ProcessorCount;
  /** maxT_r; no less than the longest task. */
  readonly walltimeMax: Duration;
  readonly options?: HeuristicOptions;
  readonly releasesIdle?: boolean;
}

/** What one grid job came to. */
export interface JobSample {
  /** When it was submitted. */
  readonly instant: Instant;
  readonly turnaround: Duration;
  readonly waste: ProcessorMillis;
  /** Run time of its tasks. */
  readonly taskTime: ProcessorMillis;
  /** Requests submitted. */
  readonly requestCount: number;
  /** Of these, those that the heuristic withdrew while they waited, and released while they ran. */
  readonly withdrawalCount: number;
  readonly releaseCount: number;
  /** Whether it finished after the last local request had ended. */
  readonly endsAfterLog: boolean;
}

/** Walltimes are asked for in whole seconds. */
const granularity: Duration = 1000;

/** Longest task time that a scenario can draw. */
export function longestTaskTime({
  meanTaskTime,
  heterogeneity,
}: Pick<JobScenario, 'meanTaskTime' | 'heterogeneity'>): Duration {
  return Math.ceil(meanTaskTime * spreads[heterogeneity][1]);
}

const spreads: Readonly<Record<Heterogeneity, readonly [least: number, most: number]>> = {
  1: [1, 1],
  2: [1 / 2, 3 / 2],
  4: [1 / 4, 7 / 4],
};

/** Draws the run times of a job's tasks; 1 ms at least. */
export function drawTaskTimes(
  scenario: Pick<JobScenario, 'taskCount' | 'meanTaskTime' | 'heterogeneity'>,
  prng: Prng,
): Duration[] {
  const [least, most] = spreads[scenario.heterogeneity];
  const from = scenario.meanTaskTime * least;
  const range = scenario.meanTaskTime * (most - least);
  return Array.from({ length: scenario.taskCount }, () =>
    Math.max(1, Math.round(from + (range === 0 ? 0 : range * prng.fraction()))),
  );
}

/**
 * Runs one grid job of a scenario on a resource at a random instant of its history.
 *
 * Instant, task times and the order in which tasks are drawn depend on seed and run alone: every heuristic faces the
 * same rng.
 */
export function sampleJob(
  history: LocalHistory,
  scenario: JobScenario,
  rng: { readonly seed: string; readonly run: number },
  trace?: TraceLine,
): JobSample {
  const root = new Prng(`seed ${rng.seed}`).fork(`run ${rng.run}`);
  const instant = history.start + Math.floor(root.fork('instant').fraction() * (history.end - history.start));
  const { processors } = history.setup;
  const { heuristic, requestsMax, widthMax, walltimeMax, options = heuristicDefaults, releasesIdle = false } = scenario;
  const limits = {
    processors,
    requestsMax,
    widthMax: Math.min(widthMax, processors),
    walltimeMax,
    walltimeGranularity: granularity,
  };
  const taskTimes = drawTaskTimes(scenario, root.fork('tasks'));
  const [job] = runGrid(
    [history.resourceAt(instant)],
    [
      {
        submittedAt: instant,
        taskTimes,
        picks: root.fork('picks'),
        heuristic,
        limits: [limits],
        options,
        releasesIdle,
      },
    ],
    { trace },
  );
  invariant(job !== undefined, 'one job was run');
  return getSample(job, history);
}

function getSample(
  { setup: { submittedAt }, requests, tasks, finishedAt, withdrawalCount, releaseCount }: GridJob,
  { end }: LocalHistory,
): JobSample {
  invariant(finishedAt !== undefined, 'the job is finished');
  const held = requests.flatMap(({ width, startedAt, endedAt }) =>
    startedAt === undefined ? [] : [{ width, startedAt, endedAt: endedAt ?? finishedAt }],
  );
  return {
    instant: submittedAt,
    turnaround: finishedAt - submittedAt,
    waste: getWaste(held, tasks.doneTime),
    taskTime: tasks.doneTime,
    requestCount: requests.length,
    withdrawalCount,
    releaseCount,
    endsAfterLog: finishedAt > end,
  };
}
