import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';

/** A request of a trace and when it started in the simulation. */
export interface ServedLocally {
  readonly submittedAt: Instant;
  readonly startedAt: Instant;
  readonly width: ProcessorCount;
  readonly runTime: Duration;
  /** How long it waited on the machine that the log is of. */
  readonly loggedWait: Duration;
}

/** How a trace fared; fractions are of 1. Everything is 0 for an empty trace. */
export interface TraceMetrics {
  readonly requestCount: number;
  /**
   * @source costa2005, Eq. 4.2:  sum over requests of (p t_e) / (P x (last end - first submission))
   * Symbols: P = the machine's processors, p = `width`, t_e = `runTime`. Departs from the source: no; ends are those of
   * the log.
   */
  readonly offeredLoad: number;
  /** The same with the ends of the simulation. */
  readonly utilisation: number;
  readonly meanWait: Duration;
  readonly waitMax: Duration;
  /** Mean of max(1, (wait + run time) / max(run time, `slowdownThreshold`)). */
  readonly meanBoundedSlowdown: number;
  /** From the first submission to the last end of the simulation. */
  readonly makespan: Duration;
}

/** Run times below it count as it in the bounded slowdown. */
export const slowdownThreshold: Duration = 10_000;

/** Sums up a replayed trace. Cost: linear. */
export function measureTrace(served: readonly ServedLocally[], processors: ProcessorCount): TraceMetrics {
  let [work, wait, waitMax, slowdown] = [0, 0, 0, 0];
  let [first, lastLogged, lastEnd] = [Infinity, -Infinity, -Infinity];
  for (const { submittedAt, startedAt, width, runTime, loggedWait } of served) {
    const waited = startedAt - submittedAt;
    work += width * runTime;
    wait += waited;
    waitMax = Math.max(waitMax, waited);
    slowdown += Math.max(1, (waited + runTime) / Math.max(runTime, slowdownThreshold));
    first = Math.min(first, submittedAt);
    lastLogged = Math.max(lastLogged, submittedAt + loggedWait + runTime);
    lastEnd = Math.max(lastEnd, startedAt + runTime);
  }
  const count = served.length;
  if (count === 0)
    return {
      requestCount: 0,
      offeredLoad: 0,
      utilisation: 0,
      meanWait: 0,
      waitMax: 0,
      meanBoundedSlowdown: 0,
      makespan: 0,
    };
  return {
    requestCount: count,
    offeredLoad: work / (processors * (lastLogged - first)),
    utilisation: work / (processors * (lastEnd - first)),
    meanWait: wait / count,
    waitMax,
    meanBoundedSlowdown: slowdown / count,
    makespan: lastEnd - first,
  };
}
