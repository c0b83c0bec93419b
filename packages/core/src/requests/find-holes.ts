import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { FreeTime } from '../profile/index.ts';
import type { HeuristicOptions } from './heuristic.ts';
import type { Candidate } from './throughput.ts';

/** What a request for a hole may be. */
export interface HoleRules {
  readonly now: Instant;
  /** The estimated task time: the shortest walltime. A whole number of grains. */
  readonly taskTime: Duration;
  readonly walltimeMax: Duration;
  readonly grain: Duration;
  /** Processors of one task; each width is a multiple. */
  readonly perTask: ProcessorCount;
  readonly lanesMax: number;
  readonly holes: HeuristicOptions['holes'];
  readonly holeWalltime: HeuristicOptions['holeWalltime'];
}

/**
 * The requests that would fill the holes before the queue's end, in the order in which they were found; see
 * `HeuristicOptions.holes`.
 *
 * Throughput is counted from now; of equals the one with more tasks is better. Cuts the requests out of `free`. Cost,
 * with n breakpoints: O(n x segments of a hole), and O(n log n) on top for `best-first`.
 *
 * @source costa2005, section 3.3.3: the requests that fill the holes; of those that exclude one another, that of best
 *   throughput.
 * Departs from the source: how holes are enumerated is settled for this project, the source does not say.
 */
export function findHoles(free: FreeTime, rules: HoleRules): Candidate[] {
  switch (rules.holes) {
    case 'in-order':
      return takeInOrder(free, rules);
    case 'best-first':
      return takeBestFirst(free, rules);
    case 'maximal':
      return listMaximal(free, rules);
  }
}

function takeInOrder(free: FreeTime, rules: HoleRules): Candidate[] {
  const holes: Candidate[] = [];
  const queueEnd = free.end;
  for (let at = free.first; at >= 0 && free.startOf(at) < queueEnd; at = free.getNext(at)) {
    const best = findBestAt(free, at, rules);
    if (best === undefined) continue;
    free.cut(at, best.width, best.walltime);
    holes.push(best);
  }
  return holes;
}

/** A breakpoint and the best candidate there when it was last checked. */
interface Prospect {
  readonly at: number;
  readonly best: Candidate;
}

function takeBestFirst(free: FreeTime, rules: HoleRules): Candidate[] {
  const holes: Candidate[] = [];
  const prospects: Prospect[] = [];
  const queueEnd = free.end;
  const look = (at: number): Prospect | undefined => {
    const best = free.startOf(at) < queueEnd ? findBestAt(free, at, rules) : undefined;
    return best && { at, best };
  };
  for (let at = free.first; at >= 0; at = free.getNext(at)) insert(prospects, look(at), rules.now);
  for (let top = prospects.pop(); top !== undefined; top = prospects.pop()) {
    // Cutting only ever makes a prospect worse, so one that is still as good as it was is the best of all.
    const fresh = look(top.at);
    if (fresh?.best.width === top.best.width && fresh.best.walltime === top.best.walltime) {
      const made = free.cut(top.at, top.best.width, top.best.walltime);
      holes.push(top.best);
      insert(prospects, look(top.at), rules.now);
      if (made >= 0) insert(prospects, look(made), rules.now);
    } else {
      insert(prospects, fresh, rules.now);
    }
  }
  return holes;
}

/** Keeps the best last; earlier ones of equals are better. */
function insert(prospects: Prospect[], prospect: Prospect | undefined, now: Instant): void {
  if (prospect === undefined) return;
  let low = 0;
  let high = prospects.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBetter(prospect.best, (prospects[middle] as Prospect).best, now)) low = middle + 1;
    else high = middle;
  }
  prospects.splice(low, 0, prospect);
}

function listMaximal(free: FreeTime, rules: HoleRules): Candidate[] {
  const { perTask, lanesMax, walltimeMax } = rules;
  const holes = free.maximalHoles({
    unit: perTask,
    widthMax: lanesMax * perTask,
    extentMax: walltimeMax,
    until: free.end,
  });
  return Array.from(holes, ({ start, width, extent }) => shape(rules, start, width, extent)).filter(
    (candidate) => candidate !== undefined,
  );
}

/** The rectangle of best own throughput among those that begin with a segment; undefined where none holds a task. */
function findBestAt(free: FreeTime, at: number, rules: HoleRules): Candidate | undefined {
  const { now, taskTime, perTask, lanesMax, walltimeMax } = rules;
  const start = free.startOf(at);
  const rounds = Math.floor(walltimeMax / taskTime);
  const longest = start - now + rounds * taskTime;
  let best: Candidate | undefined;
  free.visitRectangles(at, lanesMax * perTask, walltimeMax, (width, extent) => {
    // A narrower one cannot beat the best so far, however long it may be.
    if (
      best !== undefined &&
      (Math.floor(width / perTask) * rounds) / longest < best.tasks / (best.startsAt + best.walltime - now)
    )
      return false;
    const candidate = shape(rules, start, width, extent);
    if (candidate !== undefined && (best === undefined || isBetter(candidate, best, now))) best = candidate;
    return width > perTask;
  });
  return best;
}

function shape(
  { taskTime, grain, perTask, holeWalltime }: HoleRules,
  startsAt: Instant,
  width: ProcessorCount,
  extent: Duration,
): Candidate | undefined {
  const lanes = Math.floor(width / perTask);
  const rounds = Math.floor(extent / taskTime);
  if (lanes === 0 || rounds === 0) return undefined;
  const walltime = holeWalltime === 'whole-tasks' ? rounds * taskTime : Math.floor(extent / grain) * grain;
  return {
    width: lanes * perTask,
    walltime,
    startsAt,
    lanes,
    tasks: lanes * rounds,
    origin: 'hole',
  };
}

/** Whether the one alone has more throughput than the other. */
function isBetter(one: Candidate, other: Candidate, now: Instant): boolean {
  const oneThroughput = one.tasks / (one.startsAt + one.walltime - now);
  const otherThroughput = other.tasks / (other.startsAt + other.walltime - now);
  return oneThroughput > otherThroughput || (oneThroughput === otherThroughput && one.tasks > other.tasks);
}
