import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import type { SwfRecord } from './swf-record.ts';

/** A record as a request of a local user. */
export interface SwfRequest {
  readonly jobId: number;
  readonly submittedAt: Instant;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** More than 0, at most `walltime`. */
  readonly runTime: Duration;
  /** How long it waited on the machine that the log is of; 0 where the log does not know. */
  readonly loggedWait: Duration;
  /** What it had asked for; 0 where the log does not know. */
  readonly requestedTime: Duration;
  /** Whether it ran longer than that on the machine that the log is of. */
  readonly hasOverrun: boolean;
  /** `notKnown` where the log does not know. */
  readonly userId: number;
}

/** Records that cannot be replayed, by the first reason that applies. */
export interface DroppedCounts {
  noSubmitTime: number;
  /** The run time is 0 or not known. */
  noRunTime: number;
  /** Neither allocated nor requested processors are more than 0. */
  noProcessors: number;
  /** Wider than the machine. */
  tooWide: number;
  /** A time is above `swfTimeMax`. */
  tooLong: number;
}

/** The requests of a log, and what was made of the others. */
export interface SelectedRequests {
  /** In the order of the records. */
  readonly requests: readonly SwfRequest[];
  readonly dropped: Readonly<DroppedCounts>;
  /** Requests that ran longer than they had asked for. */
  readonly overrunCount: number;
  /** Requests without a requested time; their run time stands for it. */
  readonly noRequestedTimeCount: number;
}

/** How records become requests. */
export interface SelectOptions {
  /** Processors of the machine. */
  readonly processors: ProcessorCount;
  /** Whether a request that ran longer than it had asked for is killed then; else its walltime is its run time. */
  readonly killsAtRequestedTime?: boolean;
}

/**
 * The latest submission and the longest time of a record that is replayed: some 3,000 years, so that sums of times stay
 * exact.
 */
const swfTimeMax: Duration = 1e14;

/**
 * Makes the requests of a log that can be replayed.
 *
 * Processors are the allocated ones, else the requested ones. The walltime is the larger of requested time and run
 * time, since a
 * log's machine did not always kill. Cost: linear.
 *
 * @source costa2005, section 4.1, as settled in the digest of the seeds.
 */
export function selectRequests(records: readonly SwfRecord[], options: SelectOptions): SelectedRequests {
  const requests: SwfRequest[] = [];
  const dropped: DroppedCounts = { noSubmitTime: 0, noRunTime: 0, noProcessors: 0, tooWide: 0, tooLong: 0 };
  let overrunCount = 0;
  let noRequestedTimeCount = 0;
  for (const record of records) {
    const width = record.allocatedProcessors > 0 ? record.allocatedProcessors : record.requestedProcessors;
    const obstacle = findObstacle(record, width, options.processors);
    if (obstacle !== undefined) {
      dropped[obstacle] += 1;
      continue;
    }
    const hasOverrun = record.requestedTime > 0 && record.runTime > record.requestedTime;
    if (record.requestedTime <= 0) noRequestedTimeCount += 1;
    else if (hasOverrun) overrunCount += 1;
    const isKilled = options.killsAtRequestedTime === true && record.requestedTime > 0;
    const walltime = isKilled ? record.requestedTime : Math.max(record.requestedTime, record.runTime);
    const { jobId, submittedAt, waitTime, runTime, userId } = record;
    requests.push({
      jobId,
      submittedAt,
      width,
      walltime,
      runTime: Math.min(runTime, walltime),
      loggedWait: Math.max(0, waitTime),
      requestedTime: Math.max(0, record.requestedTime),
      hasOverrun,
      userId,
    });
  }
  return { requests, dropped, overrunCount, noRequestedTimeCount };
}

function findObstacle(
  { submittedAt, waitTime, runTime, requestedTime }: SwfRecord,
  width: ProcessorCount,
  processors: ProcessorCount,
): keyof DroppedCounts | undefined {
  if (submittedAt < 0) return 'noSubmitTime';
  if (runTime <= 0) return 'noRunTime';
  if (width <= 0) return 'noProcessors';
  if (width > processors) return 'tooWide';
  return Math.max(submittedAt, waitTime, runTime, requestedTime) > swfTimeMax ? 'tooLong' : undefined;
}
