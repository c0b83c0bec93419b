import type { Instant } from '../shared/index.ts';
import { reviewPauseMin, type RequestDecision, type RequestFacts } from './heuristic.ts';

/** A decision, and what was wanted before it. */
export interface ReviewFacts {
  readonly now: Instant;
  /** Why it was decided. */
  readonly trigger: RequestFacts['trigger'];
  /** When the decision before it wanted a review; Infinity for never. */
  readonly before: Instant;
}

/**
 * When a heuristic that watches the queue decides again although nothing happens; Infinity for never. A change of
 * others' requests does not replace a review that the heuristic asked for: that review comes in its time.
 */
export function nextReview(
  { reviewAt = Infinity }: Pick<RequestDecision, 'reviewAt'>,
  { now, trigger, before }: ReviewFacts,
): Instant {
  const kept = trigger === 'queue' && before > now ? before : Infinity;
  return Math.max(Math.min(reviewAt, kept), now + reviewPauseMin);
}
