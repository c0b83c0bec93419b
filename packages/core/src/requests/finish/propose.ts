import { lanesIn, longestWalltime } from '../obstacle.ts';
import { addBest, type PlannedRequest } from './add-request.ts';
import { useLanes } from './draining.ts';
import type { OwnRequestView } from './own-requests.ts';
import { couldBeat, getGain, rate, type Plan, type PlanContext } from './plan.ts';
import type { Skyline } from './skyline.ts';
import { isLastUnused } from './unused.ts';

/** What could be decided. */
export interface Proposal {
  readonly plan: Plan;
  readonly requests: readonly PlannedRequest[];
  readonly compared: readonly PlannedRequest[];
  readonly givenUp: readonly OwnRequestView[];
}

/** What may be decided. */
export interface Scope {
  /** With the own requests in it. */
  readonly skyline: Skyline;
  readonly own: readonly OwnRequestView[];
  /** Less than 0 where more requests are pending than may be by now. */
  readonly freeSlots: number;
  /** Tasks that run nowhere: only those can begin in a further request. */
  readonly waiting: number;
  /** Tasks to ask processors for, as the broker reports it; Infinity if it does not. */
  readonly unplaced: number;
  readonly submissionsMax: number;
  readonly withdrawalsMax: number;
  /** Whether own requests are given up only for what starts at once. */
  readonly isOnlyNow: boolean;
}

/** Own requests that one decision gives up at most. */
const exchangesMax = 2;

/** Fills the free slots, then exchanges own requests for better ones, where that is clearly better. */
export function propose(context: PlanContext, scope: Scope): Proposal {
  let proposal = fill(context, scope, []);
  for (let left = Math.min(exchangesMax, scope.withdrawalsMax); left > 0; left -= 1) {
    const better = exchange(context, scope, proposal);
    if (better === undefined) break;
    proposal = better;
  }
  return proposal;
}

/** The plan without some of the own requests, and with the best others in the slots that are then free. */
function fill(context: PlanContext, scope: Scope, givenUp: readonly OwnRequestView[]): Proposal {
  const { own, skyline, freeSlots, submissionsMax, isOnlyNow } = scope;
  const kept = own.filter((one) => !givenUp.includes(one));
  const waiting = givenUp.reduce((sum, one) => sum + tasksIn(one), scope.waiting);
  const workers = {
    lanes: useLanes(
      kept.flatMap(({ lanes }) => lanes),
      waiting,
    ),
    waiting,
    slotEnds: kept.map(({ slotEnd }) => slotEnd),
    restarted: givenUp.flatMap(({ request: { tasks = [] } }) => tasks),
  };
  const vacated = givenUp.filter((one) => leavesPlace(context, one));
  const bare: Plan = { ...workers, ...rate(context, workers), skyline: skyline.with(vacated) };
  let filled: Proposal = { plan: bare, requests: [], compared: [], givenUp };
  const unit = context.facts.demand.processors;
  const beginning =
    waiting + (isLastUnused(context.facts) ? 0 : kept.reduce((sum, one) => sum + tasksCutIn(one, context), 0));
  let unplaced = givenUp.reduce((sum, { width }) => sum + lanesIn(width, unit), scope.unplaced);
  for (
    let left = Math.min(freeSlots + givenUp.length, submissionsMax);
    left > 0 && beginning > 0 && unplaced > 0;
    left -= 1
  ) {
    const added = addBest(context, filled.plan, {
      isOnlyNow: isOnlyNow && givenUp.length > 0,
      lanesMax: Math.min(beginning, unplaced),
    });
    // Further requests must be worth it: each is a burden for the manager and for the others that wait there.
    if (added === undefined || isTooLittle(context, filled.plan, added.plan)) break;
    unplaced -= lanesIn(added.request.width, unit);
    filled = {
      ...filled,
      plan: added.plan,
      requests: [...filled.requests, added.request],
      compared: [...filled.compared, ...added.compared],
    };
  }
  return filled;
}

/** Tasks that wait for a processor again once a request is given up. */
function tasksIn({ request: { tasks = [] } }: OwnRequestView): number {
  return tasks.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Tasks that a running request may cut at its end: they will wait again, and the request for them may be submitted
 * already.
 */
function tasksCutIn(
  { end, request: { tasks = [] } }: OwnRequestView,
  { estimate: { times, longest } }: PlanContext,
): number {
  const most = longest * (times.at(-1)?.time ?? 0);
  return tasks.reduce((sum, { count, time }) => (most - time > end ? sum + count : sum), 0);
}

function isTooLittle({ constants }: PlanContext, before: Plan, after: Plan): boolean {
  return before.slotEnds.length > 0 && before.score - after.score < getGain(constants.fillGain);
}

/** The best exchange of one more own request for others; undefined if none is clearly better. */
function exchange(context: PlanContext, scope: Scope, proposal: Proposal): Proposal | undefined {
  let best: Proposal | undefined;
  for (const one of scope.own) {
    if (
      one.request.status === 'submitting' ||
      proposal.givenUp.includes(one) ||
      (isUnpromised(one) && !isTooWide(context, one) && !waitsItsTurn(context, one))
    )
      continue;
    const found = exchangeOne(context, scope, proposal, one);
    if (found !== undefined && (best === undefined || found.plan.score < best.plan.score)) best = found;
  }
  return best;
}

function exchangeOne(
  context: PlanContext,
  scope: Scope,
  proposal: Proposal,
  one: OwnRequestView,
): Proposal | undefined {
  const isSpare = isTooWide(context, one);
  const isAnyTime = isSpare || waitsItsTurn(context, one);
  if (!isAnyTime && scope.isOnlyNow && !couldGain(context, scope, proposal, one)) return undefined;
  const filled = fill(context, isAnyTime ? { ...scope, isOnlyNow: false } : scope, [...proposal.givenUp, one]);
  const isClear = proposal.plan.score - filled.plan.score >= gainNeeded(context, one, isSpare);
  if (!isClear || (filled.requests.length === 0 && !isSpare)) return undefined;
  const isForward = (other: OwnRequestView): boolean =>
    other.isRunning ||
    isTooWide(context, other) ||
    filled.requests.some((request) =>
      waitsItsTurn(context, other) ? isLarger(request, other) : comesBefore(request, other),
    );
  return filled.givenUp.every(isForward) ? filled : undefined;
}

/**
 * A waiting request without a predicted start keeps its place as long as the queue seems to backfill: that another
 * request would start earlier is a guess as well.
 */
function isUnpromised({ isRunning, request: { predictedStart } }: OwnRequestView): boolean {
  return !isRunning && predictedStart === undefined;
}

/**
 * Whether the queue seems not to backfill, so that no other request could start before it, but a larger one in its
 * place may be worth more. Each replacement is larger, so that this comes to an end. Not at an event of the queue: a
 * request that could start by then may be about to.
 */
function waitsItsTurn({ facts: { trigger }, isInTurn }: PlanContext, one: OwnRequestView): boolean {
  return isInTurn && isUnpromised(one) && trigger !== 'queue';
}

function isLarger({ width, walltime }: PlannedRequest, { request }: OwnRequestView): boolean {
  return width * walltime > request.width * request.walltime;
}

/**
 * Whether a request comes before one that waits: it starts earlier, or at the same time and is larger. Only for such a
 * request is another given up, whatever the estimate: if nothing else happens and the manager gives the places that
 * were found, each exchange moves the first changed request forward, so that exchanges come to an end.
 */
function comesBefore(planned: PlannedRequest, own: OwnRequestView): boolean {
  const { width, walltime, start } = planned;
  const { request, start: ownStart } = own;
  // If a waiting request could start now, the manager would have started it: the reason is not in the listing, and
  // would delay the other one as well.
  if (start === 0 && width >= request.width && walltime >= request.walltime) return false;
  return start < ownStart || (start === ownStart && isLarger(planned, own));
}

/**
 * Whether giving up one more for requests that start at once could be clearly better: with at most the processors that
 * are free now, for the longest walltime, and slots that are nearly as good as free now. Far cheaper than to find the
 * requests, and mostly the answer is no.
 */
function couldGain(
  context: PlanContext,
  { own, skyline, freeSlots, waiting }: Scope,
  { plan, givenUp }: Proposal,
  one: OwnRequestView,
): boolean {
  const {
    facts: { demand, limits },
    constants,
  } = context;
  const gone = [...givenUp, one];
  const kept = own.filter((other) => !gone.includes(other));
  const free = gone.reduce(
    (sum, other) => (other.start === 0 && leavesPlace(context, other) ? sum + other.width : sum),
    skyline.freeNow,
  );
  const most = { count: lanesIn(free, demand.processors), from: 0, age: 0, end: longestWalltime(limits) };
  const waitingThen = gone.reduce((sum, other) => sum + tasksIn(other), waiting);
  const slotEnds = [
    ...kept.map(({ slotEnd }) => slotEnd),
    ...Array.from({ length: Math.max(0, freeSlots + gone.length) }, () => 0),
  ];
  const workers = {
    lanes: [...kept.flatMap(({ lanes }) => lanes), most],
    waiting: waitingThen,
    slotEnds,
    restarted: [],
  };
  return couldBeat(context, plan, workers, one.isRunning ? constants.releaseGain : constants.withdrawGain);
}

/**
 * A running request leaves its place to its successor. The place of a withdrawn waiting request mostly goes to those
 * behind it; if the queue keeps places, a narrower replacement fits where the request was.
 */
function leavesPlace(context: PlanContext, one: OwnRequestView): boolean {
  return one.isRunning || (context.keepsPlaces && isTooWide(context, one));
}

/** Whether a request waits for far more processors than tasks are left: most would idle until the last task ends. */
export function isTooWide(
  { facts: { demand }, constants }: PlanContext,
  { isRunning, width }: OwnRequestView,
): boolean {
  return !isRunning && lanesIn(width, demand.processors) > constants.widthSpare * demand.pendingTasks;
}

/** By how much the score has to fall for a request to be given up; what is too wide may cost a little. */
function gainNeeded(
  { constants: { releaseGain, withdrawGain, spareLoss } }: PlanContext,
  { isRunning }: OwnRequestView,
  isSpare: boolean,
): number {
  if (isSpare) return -getGain(spareLoss);
  return getGain(isRunning ? releaseGain : withdrawGain);
}
