/** Why something is as it is. */
export interface Explanation {
  /** One sentence. */
  readonly summary: string;
  /** Sentences, the most telling first. */
  readonly details: readonly string[];
}

/** Machines, reasons and requests that an explanation lists at most. */
export const listedMax = 10;
