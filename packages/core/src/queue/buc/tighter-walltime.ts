import type { Duration, Instant } from '../../shared/index.ts';
import type { RequestPlan } from '../request-plan.ts';
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
  readonly walltime: Duration;
  readonly submittedAt: Instant;
}

/** Above what a user's requests ran for on the mean, so that half of them would not be killed. */
const margin = 1.25;
/** A walltime that is tighter by less than this share is not worth telling of. */
const worthMin = 0.05;

/**
 * A walltime that would have done by what is known of the user: her mean precision and a quarter more, rounded up to the granularity; of one of whom
 * nothing is known, half. Undefined where hers is tight.
 *
 * @param granularity 1 or more.
 */
export function tighterWalltime(walltime: Duration, { countedCount, precisionMean }: UserScore, granularity: Duration): Duration | undefined {
  const share = countedCount === 0 ? 0.5 : margin * precisionMean;
  const tighter = Math.max(granularity, Math.ceil(share * walltime / granularity) * granularity);
  return tighter > (1 - worthMin) * walltime ? undefined : tighter;
}

/**
 * What a tighter walltime would have gained a request that is about to be queued; undefined where no tighter one is known, or it would pass nobody.
 *
 * A wait is estimated as the processor time that is left to what runs and asked for by who is ahead, over the processors: rough, since early ends make it
 * shorter and what does not fit side by side longer. Cost: O(running + log n).
 *
 * @param plan without the request itself.
 */
export function gainOfTighter(order: BucOrder, plan: RequestPlan, request: FreshRequest, granularity: Duration): WalltimeGain | undefined {
  const { submittedAt, user } = request;
  const walltime = tighterWalltime(request.walltime, user, granularity);
  if (walltime === undefined) return undefined;
  const ahead = plan.sumAhead(bucRank(order, { ...request, score: user.score }));
  const tighterAhead = plan.sumAhead(bucRank(order, { submittedAt, walltime, score: user.score }));
  if (tighterAhead.count === ahead.count) return undefined;
  let running = 0;
  for (const { width, walltime: whole, startsAt = submittedAt } of plan.running.values()) running += width * Math.max(0, startsAt + whole - submittedAt);
  const waitBehind = (work: number): Duration => Math.ceil((running + work) / Math.max(1, plan.profile.capacity));
  return {
    walltime, aheadCount: ahead.count, tighterAheadCount: tighterAhead.count, expectedWait: waitBehind(ahead.work), tighterExpectedWait: waitBehind(tighterAhead.work),
  };
}
