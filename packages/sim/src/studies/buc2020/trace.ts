import type { ScoredTracedRequest } from '@mutirao/core/queue';
import { Prng, type ProcessorCount } from '@mutirao/core/shared';
import type { SwfRequest } from '@mutirao/formats';
import { injectedCount, injectedUsers, injectedWalltime, type BucLog, type BucSettings } from './setups.ts';

/** A log as the study takes it. */
export interface BucTrace {
  readonly log: BucLog;
  /** By submission. */
  readonly requests: readonly ScoredTracedRequest[];
  /** Requests without a requested time, of which no precision is known; they are left out. */
  readonly untimedCount: number;
  readonly overrunCount: number;
  readonly medianWidth: ProcessorCount;
}

/**
 * Makes the trace of a log. A request that ran longer than it had asked for keeps its run time as its walltime, and
 * counts for no score.
 */
export function getTrace(log: BucLog, found: readonly SwfRequest[]): BucTrace {
  const timed = found.filter(({ requestedTime }) => requestedTime > 0);
  const requests = timed.map(({ submittedAt, width, walltime, runTime, hasOverrun, userId }) => ({
    submittedAt,
    width,
    walltime,
    runTime,
    userId: `user ${userId}`,
    hasOverrun,
  }));
  const widths = requests.map(({ width }) => width).sort((one, other) => one - other);
  return {
    log,
    requests,
    untimedCount: found.length - timed.length,
    overrunCount: requests.filter(({ hasOverrun }) => hasOverrun).length,
    medianWidth: widths[Math.floor((widths.length - 1) / 2)] ?? 1,
  };
}

/**
 * Puts the three users' jobs among those of a log, each user's at separate instants, drawn evenly over the log's time.
 *
 * The jobs have the log's median width and a walltime of 3600 s; one of precision 0 runs for a second.
 *
 * @param scaled the log's requests with the submission times of the load.
 * @param run the same number, the same shares of the time, whatever the load.
 */
export function inject(
  scaled: readonly ScoredTracedRequest[],
  { log, medianWidth }: BucTrace,
  { seed }: BucSettings,
  run: number,
): ScoredTracedRequest[] {
  const [from, until] = [scaled[0]?.submittedAt ?? 0, scaled.at(-1)?.submittedAt ?? 0];
  const injected = injectedUsers.flatMap(({ userId, precision }) => {
    const rng = new Prng(`${seed} ${log.id} ${run} ${userId}`);
    return Array.from(
      { length: injectedCount },
      (): ScoredTracedRequest => ({
        submittedAt: Math.floor(from + rng.fraction() * (until - from)),
        width: medianWidth,
        walltime: injectedWalltime,
        runTime: Math.max(1000, precision * injectedWalltime),
        userId,
        hasOverrun: false,
      }),
    );
  });
  // Sorting is stable: of one instant the log's come first.
  return [...scaled, ...injected].sort((one, other) => one.submittedAt - other.submittedAt);
}
