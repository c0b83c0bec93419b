import type { Reason } from '../../../reasons/index.ts';

/** One reason, or a sentence where there is no code for it. */
export type Detail = Reason | string;

/** Why something is as it is. */
export interface Explanation {
  readonly summary: Detail;
  /** The most telling first. */
  readonly details: readonly Detail[];
}

/** Why tasks wait: the end of a sentence about them, and more. */
export interface WaitExplanation extends Explanation {
  readonly summary: string;
}

/** Machines, reasons and requests that an explanation lists at most. */
export const listedMax = 10;
