import type { Reason } from '../../reasons/index.ts';
import type { Duration } from '../../shared/index.ts';
import type { Scatter } from './draining.ts';

/** A time that tasks may take on average. */
export interface SupposedTime {
  readonly time: Duration;
  /** How likely it is; those of an estimate add up to 1. */
  readonly weight: number;
}

/** What tasks are thought to take. */
export interface Estimate {
  /**
   * Ascending; a single one if all tasks take the same, nothing longer would fit, or only other resources have measured
   * times. Each fits the longest walltime.
   */
  readonly times: readonly SupposedTime[];
  /** Left out where all are alike, or nothing is known. */
  readonly scatter?: Scatter | undefined;
  /** What the longest task is thought to take, in times of the mean; 1 or more. */
  readonly longest: number;
  /** The evidence for it. */
  readonly reason: Reason;
}
