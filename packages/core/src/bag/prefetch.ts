import type { Duration } from '../shared/index.ts';

/** What the depth of a machine's queue depends on. */
export interface PrefetchFacts {
  /** The machine answers at once: no time needs to be observed. */
  readonly noOp: boolean;
  /** Tasks that the machine runs at once, 1 or more. */
  readonly slots: number;
  /** Within which half of the tasks end there; undefined while that is not known. */
  readonly taskTimeMedian: Duration | undefined;
}

/** How much work a machine holds beyond what it runs. */
export interface PrefetchRules {
  /** Work that a queue should hold. */
  readonly target: Duration;
  /** Most replicas at one machine, running and waiting. */
  readonly replicasMax: number;
}

/** Tasks this many times longer than the target gain nothing worth a queue: it would save a round trip of each. */
const longTaskFactor = 100;

/**
 * How many replicas may wait at a machine beyond those that it runs, so that it need not idle for a round trip.
 *
 * None before a time is known (except for no-ops), none for tasks that take more than a hundred round trips; otherwise
 * enough to fill `target`, one at least. The median counts, not the mean: one task of hours among thousands of
 * milliseconds does not make a queue last longer, and replicas that wait behind it are withdrawn.
 */
export function prefetchDepth(facts: PrefetchFacts, rules: PrefetchRules): number {
  const most = Math.max(0, rules.replicasMax - facts.slots);
  if (facts.noOp) return most;
  const median = facts.taskTimeMedian;
  if (median === undefined || median >= rules.target * longTaskFactor) return 0;
  return Math.min(most, Math.ceil((rules.target * facts.slots) / Math.max(median, 0.1)));
}
