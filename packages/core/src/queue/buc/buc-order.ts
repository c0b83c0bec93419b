import { invariant, type Duration, type Instant } from '../../shared/index.ts';

/** The order by scores. */
export interface BucOrder {
  /** The source's K, more than 0, in seconds: a point of score is worth 0.8 of it in waiting. */
  readonly weight: number;
  /**
   * By how much later a request may be submitted, at the most, and still go before another one; Infinity for what the
   * formula says.
   */
  readonly leadMax: Duration;
}

/** The weights that the source tried. */
export const bucWeights: readonly number[] = [1440, 10_800];

const second: Duration = 1000;

/**
 * The longest lead that the cluster gives by default: that of the best score with a walltime of 1000 s, 40 h with K =
 * 1440.
 */
export function usualLeadMax(weight: number): Duration {
  return 100 * weight * second;
}

/**
 * By how much earlier a request counts as submitted, for its user's score and its own walltime.
 *
 * With K = 1440 a point of score is worth 19 minutes and 12 seconds, and a walltime of an hour 2 h 13 min 20 s (of a
 * day, 5 min 33 s).
 *
 * @param score from 0 to 100.
 * @param walltime more than 0.
 * @source buc2020, Eq. 1:  R = (S x 0.8 + (1 / (W / 100000)) x 0.2) x K + T
 * Symbols: S = `score`, W = `walltime` in seconds, K = `weight`; this is R - T.
 * Departs from the source: it is bounded by `leadMax`. W = 1 s alone would be worth 20,000 K: with the smaller K,
 * eleven months.
 */
export function getLead({ weight, leadMax }: BucOrder, score: number, walltime: Duration): Duration {
  invariant(walltime > 0, `walltime is ${walltime} ms`);
  const points = score * 0.8 + (1 / (walltime / second / 100_000)) * 0.2;
  return Math.min(leadMax, points * weight * second);
}

/**
 * The rank of a request: the lower one goes first, which is the order of R at every instant.
 *
 * R is the lead plus the time waited. The time grows alike for all waiting requests, so their order never changes: it
 * is settled when each is submitted, by its submission, its walltime and the score of its user *then* (the source too
 * measures the effect on where a job is put into the queue at first). A score that changes later counts for later
 * requests only: a waiting request keeps its score, so that it loses a place only to another submission.
 *
 * No request starves, whatever arrives. Let A be the instant `leadMax` after a request's submission, n the number of
 * requests that are ahead of it at A and wait, and W the longest walltime. A lead is in 0..`leadMax`, so that a request
 * submitted after A has a rank above A - `leadMax`, which is this submission and no less than this rank: it goes
 * behind. So from A on the n ahead only become fewer. The head waits for running requests, at most W from when it
 * became the head: under FCFS no other starts before it, under EASY none that would delay it. Hence the k-th starts by
 * A + k W, and this one by A + (n + 1) W. Under conservative backfilling a place is delayed only by a later request
 * that goes before, so that the place at A is a promise. Processors set aside for reservations, or lost with a node,
 * come on top.
 */
export function bucRank(
  order: BucOrder,
  {
    score,
    walltime,
    submittedAt,
  }: { readonly score: number; readonly walltime: Duration; readonly submittedAt: Instant },
): number {
  return submittedAt - getLead(order, score, walltime);
}
