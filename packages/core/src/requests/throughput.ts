import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** A request that could be made (an element of P_t). */
export interface Candidate {
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** When it would start, were it submitted now (t^i). */
  readonly startsAt: Instant;
  /** Tasks that it runs at once. */
  readonly lanes: number;
  /** Whole tasks of the estimated time that it has room for. */
  readonly tasks: number;
  /** Fills a hole of the queue, or waits behind the queue's end. */
  readonly origin: 'hole' | 'end';
}

/**
 * The throughput of a set of requests, in whole tasks per millisecond from now to the last one's end; 0 for none.
 *
 * @source costa2005, Eq. 3.3: V(M, E) = [ sum over R_m in M of (t_r_m / E) p_m ] / max over R_m in M of (t_i_m + t_r_m)
 * Symbols: t_r = `walltime`, t_i = `startsAt`; (t_r / E) p is `tasks`.
 * Departs from the source, as settled: t_r / E is rounded down to whole tasks, else E would cancel out of every
 * comparison; instants
 * are relative to now. p counts the tasks that run at once, which for tasks of one processor is the width.
 */
export function getThroughput(requests: readonly Candidate[], now: Instant): number {
  let tasks = 0;
  let end = now;
  for (const request of requests) {
    tasks += request.tasks;
    end = Math.max(end, request.startsAt + request.walltime);
  }
  return end === now ? 0 : tasks / (end - now);
}

/** The throughput of a set in which one request is exchanged for another. Cost: O(set). */
export function throughputAfterSwap(
  requests: readonly Candidate[],
  index: number,
  other: Candidate,
  now: Instant,
): number {
  let { tasks } = other;
  let end = other.startsAt + other.walltime;
  for (let i = 0; i < requests.length; i += 1) {
    if (i === index) continue;
    const request = requests[i] as Candidate;
    tasks += request.tasks;
    end = Math.max(end, request.startsAt + request.walltime);
  }
  return tasks / (end - now);
}

/** A throughput in tasks per hour. */
export function perHour(perMillisecond: number): number {
  return perMillisecond * 3_600_000;
}
