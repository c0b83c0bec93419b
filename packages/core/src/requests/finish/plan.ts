import type { Duration } from '../../shared/index.ts';
import type { RequestFacts } from '../heuristic.ts';
import type { FinishConstants } from './constants.ts';
import { drainTime, isDrained, never, type Bag, type Workers } from './draining.ts';
import { logarithm } from './logarithm.ts';
import type { Estimate } from './estimate.ts';
import type { Skyline } from './skyline.ts';

/** What all plans of a decision go by. */
export interface PlanContext {
  readonly facts: RequestFacts;
  readonly constants: FinishConstants;
  readonly estimate: Estimate;
  /** The share of promised waits that requests wait. */
  readonly waitShare: number;
  /** Whether the queue seems not to backfill. */
  readonly isInTurn: boolean;
  /** Whether a withdrawn waiting request leaves its place to the next new one. */
  readonly keepsPlaces: boolean;
  /** The job, for each task time of the estimate. */
  readonly bags: readonly Bag[];
}

/** How good a plan is. */
export interface Rating {
  /** When the job ends, from now, for each task time of the estimate. */
  readonly finishes: readonly Duration[];
  /**
   * The mean of the logarithms of these, weighted as the estimate has it: that of their geometric mean. Less is better.
   */
  readonly score: number;
}

/** Running, waiting and future requests, and the processors that they leave free. */
export interface Plan extends Workers, Rating {
  readonly skyline: Skyline;
}

/** What is shorter by less is as good. */
const noticeable = 0.001;

/**
 * How good a plan with such workers is.
 *
 * @param near of a plan that probably ends not much later, if there is one. Cost: O(task times x lanes x 20), half of
 * that where it does.
 */
export function rate({ estimate: { times }, bags }: PlanContext, workers: Workers, near?: Rating): Rating {
  let score = 0;
  const finishes = bags.map((bag, index) => {
    const finish = drainNear(workers, bag, near?.finishes[index]);
    score += (times[index]?.weight ?? 0) * logarithm(finish);
    return finish;
  });
  return { finishes, score };
}

/**
 * Whether workers end the job earlier than a plan does by a share of its time, for any task time; far cheaper than
 * rating them.
 */
export function couldBeat({ bags }: PlanContext, { finishes }: Rating, workers: Workers, share = noticeable): boolean {
  return bags.some((bag, index) => isDrained((finishes[index] as Duration) * (1 - share), workers, bag));
}

/** A bound of the score counts an end that is later than a plan's by this factor; a smaller delay counts as none. */
const slowdown = 1.05;

/**
 * Whether workers may score below a plan: by their ends if those are earlier than its, and otherwise by a bound. Far
 * cheaper than rating them if one task time gains a little and the others lose, which is the usual case.
 */
export function couldScoreBelow(
  { estimate: { times }, bags }: PlanContext,
  { finishes, score }: Rating,
  workers: Workers,
): boolean {
  // Of so few the first to gain decides mostly, and to ask twice would cost more.
  if (bags.length <= 2) return true;
  let least = 0;
  bags.forEach((bag, index) => {
    const before = finishes[index] as Duration;
    const slower = Math.min(never, slowdown * before);
    const atLeast = (): Duration => (isDrained(slower, workers, bag) ? before : slower);
    least +=
      (times[index]?.weight ?? 0) *
      logarithm(isDrained(before, workers, bag) ? drainNear(workers, bag, before) : atLeast());
  });
  return least < score;
}

function drainNear(workers: Workers, bag: Bag, guess: Duration = never): Duration {
  return drainTime(workers, bag, guess < never ? guess : bag.time);
}

/** The score by which a plan is lower that ends earlier by a share of the time. */
export function getGain(share: number): number {
  return -logarithm(1 - share);
}
