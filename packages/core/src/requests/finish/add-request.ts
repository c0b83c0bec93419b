import type { Hole } from '../../profile/index.ts';
import type { Duration, ProcessorCount } from '../../shared/index.ts';
import { lanesIn, getLanesMax, longestWalltime } from '../obstacle.ts';
import { countDone, doneInLane, startBeside, useLanes, type Lanes, type Workers } from './draining.ts';
import { couldBeat, couldScoreBelow, rate, type Plan, type PlanContext, type Rating } from './plan.ts';

/** A request that a plan has; times are counted from now. */
export interface PlannedRequest {
  /** When it starts at the latest, by the queue's promises. */
  readonly start: Duration;
  readonly expectedStart: Duration;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
}

/** Which requests are thought of. */
export interface AddingRules {
  /** Only those that start at once. */
  readonly isOnlyNow: boolean;
  /** Tasks that it may run at once, at most. */
  readonly lanesMax: number;
}

/** A plan with one request more. */
export interface Addition {
  readonly request: PlannedRequest;
  readonly plan: Plan;
  /** Others that were the best in their turn, the latest last. */
  readonly compared: readonly PlannedRequest[];
}

interface Rated {
  readonly request: PlannedRequest;
  readonly rating: Rating;
}

/**
 * Adds to a plan the request with which the job is done first; undefined if none makes it earlier.
 *
 * Tries every maximal hole, whole; then narrows and shortens the request to what the plan needs of it. Cost: O(holes x
 * task times x lanes), and more for each that is better than all before it.
 */
export function addBest(context: PlanContext, plan: Plan, rules: AddingRules): Addition | undefined {
  const compared: PlannedRequest[] = [];
  let best: Rated | undefined;
  visitRequests(context, plan, rules, (request) => {
    const workers = withRequest(context, plan, request);
    const before = best?.rating ?? plan;
    if (
      isUnusedNow(workers, request) ||
      !couldBeat(context, before, workers) ||
      !couldScoreBelow(context, before, workers)
    )
      return;
    const plain = rate(context, workers, before);
    const rating = {
      ...plain,
      score: plain.score + context.constants.wasteCost * wasteExpected(context, request, plain),
    };
    if (rating.score >= before.score || isWasteful(context, request, rating)) return;
    if (best !== undefined) compared.push(best.request);
    best = { request, rating };
  });
  const request = best && trim(context, plan, best);
  // Narrowed and shortened it may fit into a place before the one that it was found in.
  if (request === undefined || startsUnused(context, plan, request)) return undefined;
  const workers = withRequest(context, plan, request);
  const { start, walltime, width } = request;
  return {
    request,
    compared,
    plan: {
      ...workers,
      ...rate(context, workers, best?.rating),
      skyline: plan.skyline.without(start, start + walltime, width),
    },
  };
}

/**
 * What of a request is lost where tasks last longer than it does, as a share of the job's work; by how likely that is.
 * Cost: O(task times).
 */
function wasteExpected(
  { bags, estimate: { times }, facts: { demand } }: PlanContext,
  { expectedStart, walltime, width }: PlannedRequest,
  { finishes }: Rating,
): number {
  let expected = 0;
  bags.forEach(({ tasks, time }, index) => {
    if (time <= walltime || (finishes[index] as Duration) < expectedStart) return;
    expected += ((times[index]?.weight ?? 0) * lanesIn(width, demand.processors) * walltime) / (tasks * time);
  });
  return expected;
}

/**
 * Whether tasks that a request cuts waste too much of it, compared with the longest request allowed; false if the job
 * ends inside it.
 */
function isWasteful(
  { bags, estimate: { scatter }, constants, facts }: PlanContext,
  { expectedStart, walltime }: PlannedRequest,
  { finishes }: Rating,
): boolean {
  if (scatter === undefined || (finishes[0] as Duration) <= expectedStart + walltime) return false;
  const { time } = bags[0] as PlanContext['bags'][number];
  // Where tasks take nearly as long as a request may, the longest one loses as much: if it were refused too, the job
  // would never end.
  const [times, longest] = [walltime / time, longestWalltime(facts.limits) / time];
  return (
    doneInLane(times, scatter) / times < constants.efficiencyMin * Math.min(1, doneInLane(longest, scatter) / longest)
  );
}

function visitRequests(
  context: PlanContext,
  { skyline, finishes, lanes }: Plan,
  { isOnlyNow, lanesMax }: AddingRules,
  visit: (request: PlannedRequest) => void,
): void {
  const {
    facts,
    estimate: { times },
    waitShare,
  } = context;
  const {
    demand: { processors: unit, pendingTasks },
    limits,
  } = facts;
  const grain = limits.walltimeGranularity;
  const shortest = (times[0]?.time ?? Infinity) * (context.bags[0]?.scatter?.shortest ?? 1);
  // What begins later than that has no task done before the job is.
  const latest = Math.max(...finishes.map((finish, index) => finish - (times[index]?.time ?? 0))) / waitShare;
  const until = isOnlyNow ? 0 : latest;
  skyline.visitHoles(
    {
      unit,
      widthMax: Math.min(getLanesMax(facts), lanesMax, pendingTasks) * unit,
      extentMax: longestWalltime(limits),
      until: () => until,
    },
    ({ start, width, extent }: Hole) => {
      const walltime = Math.floor(extent / grain) * grain;
      if (walltime < shortest || walltime === 0) return;
      const expectedStart = startBeside(
        lanes,
        { count: lanesIn(width, unit), from: start * waitShare },
        lanesIn(limits.processors, unit),
      );
      visit({ start, expectedStart, width, walltime });
    },
  );
}

function withRequest(
  { facts }: PlanContext,
  { lanes, waiting, slotEnds, restarted }: Plan,
  { width, walltime, expectedStart: from }: PlannedRequest,
): Workers {
  const added: Lanes = {
    count: lanesIn(width, facts.demand.processors),
    from,
    age: 0,
    end: from + walltime,
  };
  return {
    lanes: useLanes([...lanes, added], waiting),
    waiting,
    slotEnds: [...slotEnds, added.end],
    restarted,
  };
}

/** Whether a request that starts now finds no task that waits: it would be released at once. */
function isUnusedNow(
  { lanes }: Workers,
  { expectedStart, walltime }: Pick<PlannedRequest, 'expectedStart' | 'walltime'>,
): boolean {
  return (
    expectedStart === 0 &&
    lanes.some(({ age, from, end, used }) => age === 0 && from === 0 && end === walltime && used === 0)
  );
}

/** Whether the resource would start a request now, for which no task waits. */
function startsUnused(context: PlanContext, plan: Plan, { width, walltime }: PlannedRequest): boolean {
  if (plan.waiting > 0 || plan.skyline.findEarliest(width, walltime) > 0) return false;
  return isUnusedNow(withRequest(context, plan, { start: 0, expectedStart: 0, width, walltime }), {
    expectedStart: 0,
    walltime,
  });
}

/**
 * The same request, no wider and no longer than the plan needs to end as early, with the time that the last one held
 * without a task in addition; undefined if the plan does not need it.
 */
function trim(context: PlanContext, plan: Plan, { request, rating }: Rated): PlannedRequest | undefined {
  const {
    facts: {
      demand: { processors: unit },
      limits: { walltimeGranularity: grain },
      idleHeldTime = 0,
    },
    bags,
  } = context;
  let lanes = 0;
  let walltime = 0;
  bags.forEach((_, index) => {
    const needed = getNeed(context, plan, { request, index, finish: rating.finishes[index] as Duration });
    lanes = Math.max(lanes, needed.lanes);
    walltime = Math.max(walltime, needed.walltime);
  });
  if (lanes === 0) return undefined;
  return {
    ...request,
    width: lanes * unit,
    walltime: Math.min(request.walltime, Math.ceil((idleHeldTime + walltime) / grain) * grain),
  };
}

/** What a plan that ends at `finish` needs of a request, for one task time. */
function getNeed(
  { bags, constants, estimate, facts }: PlanContext,
  plan: Plan,
  { request, index, finish }: { readonly request: PlannedRequest; readonly index: number; readonly finish: Duration },
): { lanes: number; walltime: Duration } {
  const bag = bags[index] as PlanContext['bags'][number];
  const { expectedStart, walltime, width } = request;
  const used = finish - expectedStart;
  const rounds = doneInLane(Math.min(walltime, used) / bag.time, bag.scatter);
  const rest = bag.tasks - countDone(finish, plan, bag);
  if (rounds <= 0 || rest < 1e-6) return { lanes: 0, walltime: 0 };
  const lanes = Math.min(lanesIn(width, facts.demand.processors), Math.ceil((rest - 1e-6) / rounds));
  // Where the job ends inside a margin costs nothing, since it is given back then; else tasks would begin in it that it
  // cuts.
  const margin = used < walltime ? constants.walltimeMargin : 0;
  const excess = (estimate.longest - 1) * bag.time;
  const needed = bag.scatter === undefined ? rounds * (bag.time + excess) : Math.max(bag.time, used + excess) + excess;
  return { lanes, walltime: needed * (1 + margin) };
}
