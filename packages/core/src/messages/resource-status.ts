import type { NodeShape } from '../resources/index.ts';
import type { Duration, ProcessorCount, ProcessorMillis } from '../shared/index.ts';

/**
 * What a provider's resource is and the state of its queue, as far as site selection needs it. A level: it replaces the
 * one before.
 */
export interface ResourceStatus {
  /**
   * All of a space-shared resource; 0 before its limits were read. Of time-shared machines those that joined say it,
   * and this is 0.
   */
  readonly processors: ProcessorCount;
  /** The most of one request; 0 where `processors` is. */
  readonly widthMax: ProcessorCount;
  readonly isTimeShared: boolean;
  /**
   * The longest walltime of one request; left out before the limits are known, for time-shared machines, and by
   * releases that do not report it.
   */
  readonly walltimeMax?: Duration;
  /** The nodes that slots can be on; left out if allocations are of single processors, and before it was read. */
  readonly nodes?: readonly NodeShape[];
  /** It takes no more work. */
  readonly isDraining: boolean;
  /** Left out before it was first read, and of time-shared machines. */
  readonly queue?: QueueStatus;
}

/**
 * The state of the queue of a space-shared resource. Times count from when it is sent, so that two clocks need not
 * agree.
 */
export interface QueueStatus {
  /** How long ago the queue was read. */
  readonly age: Duration;
  /** Why it cannot be read now; empty while it can. */
  readonly trouble: string;
  /** Of all requests that wait and run there, of any user. */
  readonly known: QueueSummary;
  /** Remaining work of the requests of the broker that receives the status; they are in `known`. */
  readonly ownWork: ProcessorMillis;
}

/**
 * What was assigned to a resource and has not ended, summed up, and when its processors come free behind all of it,
 * first come first served and by walltimes.
 */
export interface QueueSummary extends QueueSums {
  readonly count: number;
  /** Of their widths. */
  readonly widthSum: ProcessorCount;
  /** Of their widths times their walltimes. */
  readonly workSum: ProcessorMillis;
  /**
   * By time; processors that are free now are free at 0. Processors that come free one after the other may be reported
   * as one entry, by the last of them.
   */
  readonly free: readonly FreedProcessors[];
}

/** A number of processors that come free at one time. */
export interface FreedProcessors {
  readonly at: Duration;
  readonly processors: ProcessorCount;
}

/** Sums over the tasks of a tentative schedule; C is the end of one, r its submission, p its walltime. */
export interface QueueSums {
  /** max C. */
  readonly lastEnd: Duration;
  /** Sum of width C. */
  readonly weightedEnds: number;
  /** Sum of (C - r). */
  readonly turnarounds: number;
  /** Sum of (C - r) width. */
  readonly weightedTurnarounds: number;
  /** Sum of (C - r) width p. */
  readonly workedTurnarounds: number;
  /** Sum of p. */
  readonly walltimes: number;
}
