import { findHeuristic, heuristicDefaults, getWaste, type RequestHeuristic } from '@mutirao/core/requests';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  type QueuePolicy,
  type TracedRequest,
} from '@mutirao/core/queue';
import { invariant, Prng, type Duration, type Instant, type ProcessorMillis } from '@mutirao/core/shared';
import type { GridJob } from '../../grid/grid-job.ts';
import { runGrid } from '../../grid/run-grid.ts';
import { drawTaskTimes } from '../../grid/sample-jobs.ts';
import type { OwnRequest } from '../../grid/workqueue.ts';
import type { LocalHistory } from '../../resource/local-history.ts';
import type { SimulatedResource } from '../../resource/simulated-resource.ts';
import { nameDraw } from '../costa2005/scenarios.ts';
import { LocalWatch, type LocalWaits } from './local-waits.ts';
import { mostInAnHour } from './request-rates.ts';
import type { HeuristicsChunk, PolicyName } from './scenarios.ts';
import { varyFinish } from './variants.ts';

/** One grid job of the study. */
export interface HeuristicRun {
  /** maxPR. */
  readonly requestsMax: number;
  /** The same number, the same rng; grows with the instant. */
  readonly run: number;
  /** When it was submitted. */
  readonly instant: Instant;
  readonly turnaround: Duration;
  readonly waste: ProcessorMillis;
  /** Run time of its tasks. */
  readonly taskTime: ProcessorMillis;
  /** From its submission to the first start of a request of it. */
  readonly firstWait: Duration;
  readonly submissions: number;
  /**
   * Requests that were taken out while they waited, and while they ran (given up, or idle), before the job was done.
   */
  readonly withdrawals: number;
  readonly releases: number;
  /** The most submissions in any hour, and the most of the other two together. */
  readonly submissionsPerHour: number;
  readonly takenOutPerHour: number;
  readonly local: LocalWaits;
  /** Whether it finished after the last local request had ended. */
  readonly endsAfterLog: boolean;
  /**
   * Whether it was stopped after `patience`, which is its turnaround then; its requests may hand tasks on for ever,
   * each to one that ends too soon for them.
   */
  readonly isEndless: boolean;
}

/** A job that is not done after ten years, a year and more after every log has ended, is stopped. */
export const patience: Duration = 10 * 365 * 24 * 3_600_000;

/** Walltimes are asked for in whole seconds. */
const granularity: Duration = 1000;
const hour: Duration = 3_600_000;

/** The policy of that name. */
export function getPolicy(name: PolicyName): QueuePolicy {
  switch (name) {
    case 'fcfs':
      return firstComeFirstServed;
    case 'easy':
      return easyBackfilling;
    default:
      return conservativeBackfilling(name);
  }
}

/**
 * The walltime limit of a log without a known one: what 99 of 100 requests keep within, in whole hours; at least five,
 * so that every task fits.
 */
export function usualWalltime(requests: readonly TracedRequest[]): Duration {
  const walltimes = requests.map(({ walltime }) => walltime).sort((one, other) => one - other);
  return Math.max(5, Math.ceil((walltimes[Math.floor(0.99 * (walltimes.length - 1))] ?? 0) / hour)) * hour;
}

/**
 * Runs all grid jobs of a chunk, in the order of instant and maxPR.
 *
 * The time of the trace, from first to last submission, is cut into as many slices as there are instants; one instant
 * is drawn in each. Instants, task times and draws depend
 * on the seed, the job type and the number of the run alone, so that heuristics and values of maxPR are compared
 * pairwise; job types
 * that differ in heterogeneity alone meet the same instants.
 *
 * @param history that of the chunk's trace, under the chunk's policy.
 */
export function runChunk(chunk: HeuristicsChunk, history: LocalHistory, seed: string): HeuristicRun[] {
  const heuristic = chunk.variant === undefined ? findHeuristic(chunk.heuristic) : varyFinish(chunk.variant);
  invariant(heuristic?.name === chunk.heuristic, `there is no heuristic ${chunk.heuristic}`);
  return Array.from({ length: chunk.instantCount }, (_, run) => {
    const rng = new Prng(`seed ${seed} ${nameDraw(chunk.type)}`).fork(`run ${run}`);
    const instant = drawInstant(history, (run + rng.fork('instant').fraction()) / chunk.instantCount);
    const before = history.resourceAt(instant);
    const taskTimes = drawTaskTimes(chunk.type, rng.fork('tasks'));
    return chunk.pending.map((requestsMax) => ({
      requestsMax,
      run,
      ...runJob(before.clone(), {
        chunk,
        heuristic,
        history,
        instant,
        taskTimes,
        picks: rng.fork('picks'),
        requestsMax,
      }),
    }));
  }).flat();
}

function drawInstant({ start, setup: { trace } }: LocalHistory, share: number): Instant {
  return start + Math.floor(share * ((trace.at(-1)?.submittedAt ?? start) - start));
}

interface JobSetup {
  readonly chunk: HeuristicsChunk;
  readonly heuristic: RequestHeuristic;
  readonly history: LocalHistory;
  readonly instant: Instant;
  readonly taskTimes: readonly Duration[];
  readonly picks: Prng;
  readonly requestsMax: number;
}

function runJob(resource: SimulatedResource, setup: JobSetup): Omit<HeuristicRun, 'requestsMax' | 'run'> {
  const { chunk, heuristic, history, instant, taskTimes, picks, requestsMax } = setup;
  const { processors } = history.setup;
  const limits = {
    processors,
    requestsMax,
    widthMax: processors,
    walltimeMax: chunk.trace.walltimeMax,
    walltimeGranularity: granularity,
  };
  const watch = new LocalWatch(resource, instant);
  const until = instant + patience;
  const [job] = runGrid(
    [resource],
    [
      {
        submittedAt: instant,
        taskTimes,
        picks,
        heuristic,
        limits: [limits],
        options: heuristicDefaults,
      },
    ],
    { until },
  );
  invariant(job !== undefined, 'one job was run');
  const { finishedAt = until } = job;
  return {
    instant,
    ...measure(job, finishedAt),
    local: watch.sumUp(finishedAt, history),
    endsAfterLog: finishedAt > history.end,
    isEndless: job.finishedAt === undefined,
  };
}

/** @param finishedAt when it was done or stopped. */
function measure(
  { setup, requests, tasks }: GridJob,
  finishedAt: Instant,
): Omit<HeuristicRun, 'requestsMax' | 'run' | 'instant' | 'local' | 'endsAfterLog' | 'isEndless'> {
  const held = requests.flatMap(({ width, startedAt, endedAt }) =>
    startedAt === undefined ? [] : [{ width, startedAt, endedAt: endedAt ?? finishedAt }],
  );
  const endsEarly = ({ startedAt = Infinity, walltime, endedAt = finishedAt }: OwnRequest): boolean =>
    endedAt < finishedAt && endedAt < startedAt + walltime;
  const takenOut = requests.filter(endsEarly);
  const withdrawals = takenOut.filter(({ startedAt }) => startedAt === undefined).length;
  return {
    turnaround: finishedAt - setup.submittedAt,
    waste: getWaste(held, tasks.doneTime),
    taskTime: tasks.doneTime,
    firstWait: held.reduce((first, { startedAt }) => Math.min(first, startedAt), finishedAt) - setup.submittedAt,
    submissions: requests.length,
    withdrawals,
    releases: takenOut.length - withdrawals,
    submissionsPerHour: mostInAnHour(requests.map(({ submittedAt }) => submittedAt)),
    takenOutPerHour: mostInAnHour(
      takenOut.map(({ endedAt = finishedAt }) => endedAt).sort((one, other) => one - other),
    ),
  };
}
