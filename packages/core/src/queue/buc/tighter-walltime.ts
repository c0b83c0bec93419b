import type { Duration, Instant, ProcessorCount, ProcessorMillis } from '../../shared/index.ts';
import type { Slot } from '../../resources/index.ts';
import type { QueuePlan, QueuePolicy } from '../queue-policy.ts';
import { bucRank, type BucOrder } from './buc-order.ts';
import type { UserScore } from './user-score.ts';

/** What a request would have gained by a tighter walltime. */
export interface WalltimeGain {
  readonly walltime: Duration;
  /** Requests ahead of it in the order, as it is and with the tighter walltime. */
  readonly aheadCount: number;
  readonly tighterAheadCount: number;
  /** How long it is expected to wait, as it is and with the tighter walltime. */
  readonly expectedWait: Duration;
  readonly tighterExpectedWait: Duration;
}

/** A request that is about to be queued. */
export interface FreshRequest {
  readonly user: UserScore;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** Undefined for single processors. */
  readonly shape?: Slot | undefined;
  readonly submittedAt: Instant;
}

/** Added to the mean run time of a user's requests, so that half of them would not be killed. */
const margin = 1.25;
/** A walltime that is tighter by less than this share is not worth reporting. */
const worthMin = 0.05;

/**
 * A walltime that would have been enough by the user's history: the mean precision and a quarter more, rounded up to
 * the granularity; half for a user without a history. Undefined if the walltime is tight already.
 *
 * @param granularity 1 or more.
 */
export function tighterWalltime(
  walltime: Duration,
  { countedCount, precisionMean }: UserScore,
  granularity: Duration,
): Duration | undefined {
  const share = countedCount === 0 ? 0.5 : margin * precisionMean;
  const tighter = Math.max(granularity, Math.ceil((share * walltime) / granularity) * granularity);
  return tighter > (1 - worthMin) * walltime ? undefined : tighter;
}

/** The queue as it is before a request is taken in. */
export interface QueueBefore {
  readonly order: BucOrder;
  readonly policy: Pick<QueuePolicy, 'promises'>;
  readonly plan: QueuePlan;
  /** Walltimes are whole numbers of it. */
  readonly granularity: Duration;
}

/**
 * The gain of a tighter walltime for a request that is about to be queued; undefined if no tighter one is known, or it
 * would gain nothing.
 *
 * Under a policy that gives places ahead the waits are those of the places that it would get, and an earlier one is the
 * gain, by passing others or by fitting into a hole. Under the others it is a place further ahead, and a wait is
 * estimated as the processor time that running requests have left and those ahead ask for, over the processors: rough,
 * since early ends make it shorter and requests that do not fit side by side longer.
 * Cost: O(running + log n), or two searches for a place, each O(behind x segments).
 */
export function gainOfTighter(queue: QueueBefore, request: FreshRequest): WalltimeGain | undefined {
  const walltime = tighterWalltime(request.walltime, request.user, queue.granularity);
  if (walltime === undefined) return undefined;
  const [asked, tighter] = [getProspect(queue, request), getProspect(queue, { ...request, walltime })];
  if (queue.policy.promises ? tighter.expectedWait >= asked.expectedWait : tighter.aheadCount === asked.aheadCount)
    return undefined;
  return {
    walltime,
    aheadCount: asked.aheadCount,
    tighterAheadCount: tighter.aheadCount,
    expectedWait: asked.expectedWait,
    tighterExpectedWait: tighter.expectedWait,
  };
}

function getProspect(
  { order, policy, plan }: QueueBefore,
  { submittedAt, walltime, width, shape, user: { score } }: FreshRequest,
): { readonly aheadCount: number; readonly expectedWait: Duration } {
  const rank = bucRank(order, { submittedAt, walltime, score });
  const { count: aheadCount, work } = plan.sumProvisioning(rank);
  const place = policy.promises ? plan.findPlaceAhead({ rank, width, walltime, shape }, submittedAt) : Infinity;
  // A request that is wider than the present capacity has no place, whatever its walltime.
  return { aheadCount, expectedWait: place < Infinity ? place - submittedAt : waitBehind(plan, work, submittedAt) };
}

function waitBehind(plan: QueuePlan, work: ProcessorMillis, now: Instant): Duration {
  let running = 0;
  for (const { width, walltime, startsAt = now } of plan.running.values())
    running += width * Math.max(0, startsAt + walltime - now);
  return Math.ceil((running + work) / Math.max(1, plan.capacity));
}
