import type { RequestCandidate } from '../../messages/index.ts';
import type { Reason } from '../../reasons/index.ts';
import type { Duration, Instant, ProcessorCount } from '../../shared/index.ts';
import type { DraftedRequest, RequestDecision, RequestFacts } from '../heuristic.ts';
import { lanesIn } from '../obstacle.ts';
import type { PlannedRequest } from './add-request.ts';
import type { OwnRequestView } from './own-requests.ts';
import type { PlanContext, Rating } from './plan.ts';
import { isTooWide, type Proposal } from './propose.ts';
import { isLastUnused } from './unused.ts';

/** Candidates that are kept with a decision, the chosen ones included. */
const shownMax = 12;
/** How often it is looked whether one that waits its turn should be a larger one. */
const turnReview: Duration = 15 * 60_000;

/** A proposal as a decision, with its reasons. */
export function describeProposal(context: PlanContext, proposal: Proposal): RequestDecision {
  const { estimate } = context;
  const { plan, requests, givenUp, compared } = proposal;
  const reasons = [describeEnd(context, plan), estimate.reason, ...describeDoubt(context)];
  const nothingBetter: Reason = { code: 'finish-no-better-request' };
  const reviewAt = findReview(context);
  return {
    drafts: requests.map((request) => draft(request, reasons)),
    reasons: [...reasons, ...(requests.length === 0 && givenUp.length === 0 ? [nothingBetter] : [])],
    ...(givenUp.length === 0
      ? {}
      : {
          givenUp: givenUp.map((one) => ({
            requestId: one.request.requestId,
            reasons: [...explainGivenUp(context, one, requests), ...reasons],
          })),
        }),
    candidates: [
      ...requests.map((request) => show(context, request, true)),
      ...compared
        .slice(-shownMax)
        .reverse()
        .map((request) => show(context, request, false)),
    ].slice(0, shownMax),
    taskTimeEstimate: Math.ceil(getMiddle(context).time),
    ...(reviewAt === undefined ? {} : { reviewAt }),
  };
}

function describeEnd(context: PlanContext, { finishes }: Rating): Reason {
  const { index, time } = getMiddle(context);
  const { pendingTasks, gangProcessors = 0 } = context.facts.demand;
  return {
    code: 'finish-expected-end',
    pendingTasks,
    ...(gangProcessors === 0 ? {} : { gangProcessors }),
    endMs: finishes[index] as Duration,
    taskMs: time,
  };
}

/** The task time than which a shorter one is as likely as a longer one. */
function getMiddle({ estimate: { times } }: PlanContext): { readonly index: number; readonly time: Duration } {
  let below = 0;
  // The last has what rounding leaves.
  const index = times.findIndex(({ weight }, at) => at === times.length - 1 || (below += weight) > 0.5 + 1e-9);
  return { index, time: times[index]?.time ?? 0 };
}

function describeDoubt({ facts, isInTurn }: PlanContext): Reason[] {
  const { listingState = 'complete' } = facts;
  const reasons: Reason[] = [];
  if (listingState !== 'complete') reasons.push({ code: `finish-queue-${listingState}` });
  if (isInTurn) reasons.push({ code: 'finish-no-backfill' });
  if (isLastUnused(facts)) reasons.push({ code: 'finish-last-request-unused' });
  return reasons;
}

function draft(request: PlannedRequest, reasons: readonly Reason[]): DraftedRequest {
  const { width, walltime } = request;
  return {
    width,
    walltime,
    reasons: [{ code: 'finish-earliest-completion', ...describeRequest(request) }, ...reasons],
  };
}

/** A request as parameters of a reason. */
interface DescribedRequest {
  readonly processors: ProcessorCount;
  readonly walltimeMs: Duration;
  readonly startMs: Duration;
  readonly expectedStartMs: Duration;
}

function describeRequest({ width, walltime, start, expectedStart }: PlannedRequest): DescribedRequest {
  return { processors: width, walltimeMs: walltime, startMs: start, expectedStartMs: Math.min(start, expectedStart) };
}

/** Why a request is given up, and what takes its place. */
function explainGivenUp(context: PlanContext, one: OwnRequestView, requests: readonly PlannedRequest[]): Reason[] {
  const { pendingTasks } = context.facts.demand;
  const why: Reason = isTooWide(context, one)
    ? { code: 'finish-withdrawn-too-wide', processors: one.width, pendingTasks }
    : { code: one.isRunning ? 'finish-released-for-better' : 'finish-withdrawn-for-better' };
  return [why, ...requests.map((request): Reason => ({ code: 'finish-replaced-by', ...describeRequest(request) }))];
}

function show(context: PlanContext, { width, walltime, start }: PlannedRequest, chosen: boolean): RequestCandidate {
  const { now, demand } = context.facts;
  const tasks = lanesIn(width, demand.processors) * Math.floor(walltime / getMiddle(context).time);
  return { width, walltime, startsAt: now + start, throughput: (tasks / (start + walltime)) * 3_600_000, chosen };
}

/** When there will be something to see though nothing happens; undefined where there will not. */
function findReview({ facts, isInTurn }: PlanContext): Instant | undefined {
  const { now, pending } = facts;
  // At full quarters of an hour, so that what happens in between puts it off no further.
  const looks = [
    reviewTasks(facts),
    ...(isInTurn && pending.some(({ status }) => status === 'queued')
      ? [(Math.floor(now / turnReview) + 1) * turnReview]
      : []),
  ].filter((at) => at !== undefined);
  return looks.length === 0 ? undefined : Math.min(...looks);
}

/**
 * Before task times are known, running tasks give information by not ending: looks again each time that they have run
 * half as long again.
 */
function reviewTasks({ now, pending, taskTimes }: RequestFacts): Instant | undefined {
  if (taskTimes !== undefined || !pending.some(({ status }) => status === 'running')) return undefined;
  const oldest = pending.reduce((most, { tasks = [] }) => Math.max(most, tasks[0]?.time ?? 0), 0);
  return now + Math.max(60_000, Math.ceil(oldest / 2));
}
