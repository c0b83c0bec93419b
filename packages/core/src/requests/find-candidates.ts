import type { Duration } from '../shared/index.ts';
import { findHoles } from './find-holes.ts';
import type { RequestFacts } from './heuristic.ts';
import { lanesIn, getLanesMax, longestWalltime } from './obstacle.ts';
import { listOptions } from './options.ts';
import { ownRank } from './own-rank.ts';
import { readQueue } from './read-queue.ts';
import type { Candidate } from './throughput.ts';

/**
 * P_t: the requests that would fill the holes of the queue, then maxPR of the largest area behind its end.
 *
 * Those behind the end stand side by side as far as the resource is wide, then one after another; each as if no hole
 * were filled. If the queue has a ranking, its end is that of the requests that one of the largest area would be
 * behind; its holes are those that all requests leave, including those that would give way.
 *
 * @source costa2005, section 3.3.3
 * Departs from the source: see `findHoles`.
 */
export function findCandidates(facts: RequestFacts, taskTime: Duration): Candidate[] {
  const { now, limits, demand } = facts;
  const { holes, holeWalltime } = listOptions(facts);
  const { free } = readQueue(facts);
  const largest = largestRequest(facts, taskTime);
  // Behind those that would be ahead of it, which in the order of arrival are all.
  const rank = facts.queue === undefined ? ownRank(facts.listing, largest.walltime, now) : Infinity;
  const queueEnd = rank === Infinity ? free.end : readQueue(facts, { rank }).free.end;
  const found = findHoles(free, {
    now,
    taskTime,
    walltimeMax: longestWalltime(limits),
    grain: limits.walltimeGranularity,
    perTask: demand.processors,
    lanesMax: getLanesMax(facts),
    holes,
    holeWalltime,
  });
  const abreast = Math.max(1, lanesIn(limits.processors, largest.width));
  for (let i = 0; i < limits.requestsMax; i += 1) {
    found.push({ ...largest, startsAt: queueEnd + Math.floor(i / abreast) * largest.walltime });
  }
  return found;
}

/** (maxP, maxT_r), as many whole tasks wide as it can be, behind the end of an empty queue. */
function largestRequest(facts: RequestFacts, taskTime: Duration): Candidate {
  const lanes = getLanesMax(facts);
  const walltime = longestWalltime(facts.limits);
  return {
    width: lanes * facts.demand.processors,
    walltime,
    startsAt: facts.now,
    lanes,
    tasks: lanes * Math.floor(walltime / taskTime),
    origin: 'end',
  };
}
