import type { Reason } from '../../../reasons/index.ts';

/** Why something is as it is. */
export interface Explanation {
  readonly summary: Reason;
  /** Why the subject waits; left out if it does not. */
  readonly waiting?: Reason;
  /** The most informative first. */
  readonly details: readonly Reason[];
}

/** Why tasks wait, and more about it. */
export interface Waiting {
  readonly why: Reason;
  readonly details: readonly Reason[];
}

/** Machines, reasons and requests that an explanation lists at most. */
export const listedMax = 10;
