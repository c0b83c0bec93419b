import { invariant, type Duration } from '../../shared/index.ts';

/** What a cluster knows of how well a user estimates. */
export interface UserScore {
  /** From 0 to 100. */
  readonly score: number;
  /** Ended requests that it was made of. */
  readonly countedCount: number;
  /** Mean precision of those, from 0 to 1; 0 without any. */
  readonly precisionMean: number;
}

/** The score of a user without requests so far. */
export const newcomer: UserScore = { score: 60, countedCount: 0, precisionMean: 0 };

/**
 * The share of its walltime that a request ran for, from 0 to 1; undefined for one that ran longer, which is discarded.
 *
 * @param walltime more than 0.
 * @source buc2020, Eq. 2:  P = R / W
 * Symbols: P = precision, R = `runTime`, W = `walltime`. Departs from the source: no.
 */
export function findPrecision(runTime: Duration, walltime: Duration): number | undefined {
  invariant(walltime > 0, `walltime is ${walltime} ms`);
  return runTime > walltime ? undefined : Math.max(0, runTime) / walltime;
}

/** What the score gains by a precision of 0, and the factors of the precision and of its square. */
const [atNothing, byPrecision, bySquare] = [-4, 10.75, 3.25] as const;

/**
 * What a score gains by the end of a request: -4 for a precision of 0, 2.1875 for one half, 10 for 1. @param precision
 * from 0 to 1.
 */
export function gainOfScore(precision: number): number {
  return atNothing + precision * (byPrecision + precision * bySquare);
}

/**
 * The score after one more request ended: it gains -4 + 10.75 P + 3.25 P^2 and stays within 0 and 100. The one place
 * where scores change.
 *
 * The source says only that a score is between 0 and 100, changes with each finished job and depends on precision. The
 * rule is fitted to its three injected users of 100 jobs each, by the mean of the scores that their jobs met, the
 * newcomer's being the first:
 *
 * | precision | mean in the source | by this rule | residual |
 * |---|---|---|---|
 * | 0 | 4.8 | 4.80 | 0.00 |
 * | 0.5 | 96.14 | 96.140625 | +0.0006 |
 * | 1 | 99 | 99.00 | 0.00 |
 *
 * With a start of 60 whole steps, -4 and +10, meet the two ends to the last digit: 60 + 56 + ... + 4 = 480, and 40 + 30
 * + 20 + 10 is missing to 100 x 100. A straight line between them would give one half 3 (a mean of 97.2); the square
 * brings that to 2.1875. The gain is 0 at a precision of 0.338. The means of the source's real users (2.7, 45.93,
 * 68.22), whose jobs are not known, lie within the range of the rule: 2.7 is a precision of 0 in 178 jobs, the others
 * one near 0.34 or a mixture.
 *
 * @param precision from 0 to 1.
 * @source buc2020, which gives the three means and no rule.
 * Departs from the source: the rule is ours.
 */
export function countPrecision({ score, countedCount, precisionMean }: UserScore, precision: number): UserScore {
  return {
    score: Math.min(100, Math.max(0, score + gainOfScore(precision))),
    countedCount: countedCount + 1,
    precisionMean: precisionMean + (precision - precisionMean) / (countedCount + 1),
  };
}
