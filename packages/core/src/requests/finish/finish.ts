import type { Reason } from '../../reasons/index.ts';
import type { RequestDecision, RequestFacts, RequestHeuristic } from '../heuristic.ts';
import { findObstacle, getFreeSlots, isBounded, tasksWithoutSlot } from '../obstacle.ts';
import { finishConstants, type FinishConstants } from './constants.ts';
import { describeProposal } from './describe.ts';
import { foresee } from './foresee.ts';
import { lookLater } from './later.ts';
import { likenessShownAt } from './learn.ts';
import { lookAtTasks } from './look-at-tasks.ts';
import { keepsPlaces, viewOwn, estimateWaitShare } from './own-requests.ts';
import type { PlanContext } from './plan.ts';
import { propose, type Scope } from './propose.ts';

/**
 * Asks for the requests with which the whole job is expected to end first, and gives up own ones for clearly better
 * ones.
 *
 * Not of the thesis: it answers the question that chapter 6 of costa2005 leaves open, when to ask as `static` does and
 * when as `adaptive`
 * does, by comparing what matters to the user, the end of the job. Costs at most 10 ms at 10,000 queued requests.
 */
export const finishHeuristic: RequestHeuristic = finishWith(finishConstants);

/** The heuristic with other constants, for studies of what they do. */
export function finishWith(constants: FinishConstants): RequestHeuristic {
  return { name: 'finish', decidesAt: 'queue events', releasesIdle: true, draft: (facts) => decide(facts, constants) };
}

function decide(facts: RequestFacts, constants: FinishConstants): RequestDecision {
  const obstacle = findStop(facts);
  if (obstacle !== undefined) return { drafts: [], reasons: [obstacle] };
  const reviewAt = likenessShownAt(
    facts,
    facts.pending.flatMap(({ tasks = [] }) => tasks),
    constants,
  );
  if (reviewAt !== undefined)
    return {
      drafts: [],
      reasons: [{ code: 'finish-waits-for-similar-tasks', waitMs: reviewAt - facts.now }],
      reviewAt,
    };
  const { skyline, places, isInTurn } = foresee(facts);
  const waitShare = estimateWaitShare(facts, constants);
  const own = viewOwn(facts.pending, { facts, skyline, waitShare, places });
  const estimate = lookAtTasks(facts, constants);
  const bags = estimate.times.map(({ time }) => {
    const tasks = { time, scatter: estimate.scatter };
    return {
      tasks: facts.demand.pendingTasks,
      ...tasks,
      later: lookLater({ facts, skyline, waitShare, futureShare: constants.futureShare }, tasks),
    };
  });
  const context: PlanContext = {
    facts,
    constants,
    estimate,
    waitShare,
    bags,
    isInTurn,
    keepsPlaces: keepsPlaces(facts, constants),
  };
  return describeProposal(context, propose(context, { ...listBounds(facts), skyline, own }));
}

function listBounds(facts: RequestFacts): Omit<Scope, 'skyline' | 'own'> {
  const { budget = { submissions: Infinity, withdrawals: Infinity }, listingState = 'complete', trigger } = facts;
  return {
    freeSlots: getFreeSlots(facts),
    waiting: waitingTasks(facts),
    unplaced: isBounded(facts) ? tasksWithoutSlot(facts) : Infinity,
    submissionsMax: budget.submissions,
    // An incomplete listing does not justify giving anything up.
    withdrawalsMax: listingState === 'complete' ? budget.withdrawals : 0,
    isOnlyNow: trigger === 'queue',
  };
}

/** Tasks that run nowhere: only those can begin in a further request. */
function waitingTasks({ pending, demand: { pendingTasks } }: RequestFacts): number {
  let running = 0;
  for (const { tasks = [] } of pending) for (const { count } of tasks) running += count;
  return Math.max(0, pendingTasks - running);
}

/** Why there is nothing to compare. */
function findStop(facts: RequestFacts): Reason | undefined {
  const { pending, limits, trigger, queue, listing, now } = facts;
  const isFull = getFreeSlots(facts) <= 0;
  // Present requests may be exchanged, so that neither a full set of requests nor a place for every task is an
  // obstacle.
  const obstacle = findObstacle(
    pending.length > 0 && limits.requestsMax > 0
      ? { ...facts, pending: [], demand: { ...facts.demand, unplacedTasks: undefined } }
      : facts,
  );
  if (obstacle !== undefined) return obstacle;
  if (!isFull || trigger !== 'queue' || (queue?.profile.freeAt(now) ?? listing.processorsFree) > 0) return undefined;
  return { code: 'request-slots-taken-nothing-free', slots: limits.requestsMax };
}
