import { lanesIn, getLanesMax, longestWalltime } from '../obstacle.ts';
import type { RequestFacts } from '../heuristic.ts';
import type { Duration } from '../../shared/index.ts';
import { doneInLane, type Bag, type SlotLater } from './draining.ts';
import type { Skyline } from './skyline.ts';

/** The known facts of a queue for estimating what a slot will bring. */
export interface LaterFacts {
  readonly facts: RequestFacts;
  readonly skyline: Skyline;
  /** The share of promised waits that requests wait. */
  readonly waitShare: number;
  /** The share of the best rate that is hoped for. */
  readonly futureShare: number;
}

/** A lane that is not as likely as not to have one task done does not count as one that does the job. */
const worthwhile = 0.5;

/**
 * What a slot brings once its present request has ended, if tasks take `time`. The next request waits as long as the
 * one that would now finish the job first, and works at the best rate that any could have now, waiting included. All
 * slots together have at most the share of the resource that repeated requests for all of it would have: in between,
 * others have it, whose requests come before later ones. Cost: that of visiting all holes.
 */
export function lookLater(
  { facts, skyline, waitShare, futureShare }: LaterFacts,
  { time, scatter }: Pick<Bag, 'time' | 'scatter'>,
): SlotLater {
  const {
    demand: { processors: perTask, pendingTasks },
    limits,
  } = facts;
  const lanesMax = getLanesMax(facts);
  const extentMax = longestWalltime(limits);
  const tasksMax = lanesMax * doneInLane(extentMax / time, scatter);
  let best = { end: Infinity, wait: 0 };
  let rate = 0;
  /** Of the request with that rate. */
  let ratePerLane = 0;
  // What begins later than that neither ends the job earlier nor works at a better rate, however wide and long it is.
  const until = (): Duration => Math.max(best.end, tasksMax / rate - extentMax) / waitShare;
  skyline.visitHoles({ unit: perTask, widthMax: lanesMax * perTask, extentMax, until }, ({ start, width, extent }) => {
    const rounds = doneInLane(extent / time, scatter);
    if (rounds <= 0) return;
    const wait = start * waitShare;
    const lanes = lanesIn(width, perTask);
    const perLane = rounds / (wait + extent);
    if (lanes * perLane > rate) {
      rate = lanes * perLane;
      ratePerLane = perLane;
    }
    const end = wait + Math.ceil(pendingTasks / lanes) * time;
    if (rounds >= worthwhile && end < best.end) best = { end, wait };
  });
  const rateMax = (ratePerLane * lanesIn(limits.processors, perTask)) / Math.max(1, limits.requestsMax);
  return { pause: best.wait + time, rate: futureShare * Math.min(rate, rateMax) };
}
