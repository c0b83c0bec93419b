import type { ReplicationCap } from '../messages/index.ts';
import type { Instant, ProcessorCount, ProcessorMillis } from '../shared/index.ts';

/** The cost of a job's replicas so far, and the most that it may become whichever of them wins. */
export interface ReplicationCost {
  /** By replicas whose result was accepted. */
  readonly used: ProcessorMillis;
  /** By replicas that a sibling beat, or that were given up for the cap. */
  readonly losers: ProcessorMillis;
  /** Of the replicas that run, what is a loser's at worst. */
  readonly atRisk: ProcessorMillis;
}

/** The replicas of one task as a cap sees them. */
export interface TaskRuns {
  readonly processors: ProcessorCount;
  /** When those were placed of which one may win. */
  readonly living: readonly Instant[];
  /** When the replicas were placed that were given up, and run until their machines learn of it. */
  readonly givenUp: readonly Instant[];
  /** What successes have cost that wait for their verdict. */
  readonly waiting: readonly ProcessorMillis[];
}

/**
 * How much more processor-time losers may cost before a job's cap forbids it; below 0 if it is exceeded already,
 * Infinity without a limit.
 */
export function budgetLeft(cap: ReplicationCap, { used, losers, atRisk }: ReplicationCost): ProcessorMillis {
  return cap.kind === 'share' ? (used * cap.percent) / 100 - losers - atRisk : Infinity;
}

/**
 * The worst cost of a task's losers, if all of its replicas end at `at`: all that were given up, and of the others all
 * but the cheapest. Never falls as `at` grows.
 */
export function lossBy({ processors, living, givenUp, waiting }: TaskRuns, at: Instant): ProcessorMillis {
  const costOf = (dispatchedAt: Instant): ProcessorMillis => Math.max(0, at - dispatchedAt) * processors;
  const sure = givenUp.reduce((sum, dispatchedAt) => sum + costOf(dispatchedAt), 0);
  return sure + allButLeast([...living.map(costOf), ...waiting]);
}

function allButLeast(costs: readonly ProcessorMillis[]): ProcessorMillis {
  let sum = 0;
  let least: ProcessorMillis | undefined;
  for (const cost of costs) {
    // Not all less the least: costs may be Infinity.
    sum += least === undefined ? 0 : Math.max(cost, least);
    least = Math.min(cost, least ?? cost);
  }
  return sum;
}
