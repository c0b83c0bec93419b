import type { RequestCandidate } from '../../messages/index.ts';
import { describeTime, plural, type Duration, type Instant } from '../../shared/index.ts';
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
  const reviewAt = findReview(context);
  return {
    drafts: requests.map((request) => draft(request, reasons)),
    reasons: [
      ...reasons,
      ...(requests.length === 0 && givenUp.length === 0
        ? ['No further request, and none in place of another, would bring that forward enough.']
        : []),
    ],
    ...(givenUp.length === 0
      ? {}
      : {
          givenUp: givenUp.map((one) => ({
            requestId: one.request.requestId,
            reasons: [sayWhyGivenUp(context, one, requests), ...reasons],
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

function describeEnd(context: PlanContext, { finishes }: Rating): string {
  const { index, time } = getMiddle(context);
  return (
    `The job, ${plural(context.facts.demand.pendingTasks, 'task')}, is expected to end in ` +
    `${describeTime(finishes[index] as Duration)}, if a task lasts ${describeTime(time)}.`
  );
}

/** The task time than which a shorter one is as likely as a longer one. */
function getMiddle({ estimate: { times } }: PlanContext): { readonly index: number; readonly time: Duration } {
  let below = 0;
  // The last has what rounding leaves.
  const index = times.findIndex(({ weight }, at) => at === times.length - 1 || (below += weight) > 0.5 + 1e-9);
  return { index, time: times[index]?.time ?? 0 };
}

function describeDoubt({ facts, isInTurn }: PlanContext): string[] {
  const { listingState = 'complete' } = facts;
  return [
    ...(listingState === 'complete'
      ? []
      : [`The queue is ${listingState}: by what is known of it, and nothing is given up for what may not be there.`]),
    ...(isInTurn
      ? [
          'Requests wait that could start now: nobody seems to pass anybody, and nothing is counted on before ' +
            'the last of the queue starts.',
        ]
      : []),
    ...(isLastUnused(facts)
      ? [
          'The last request was released before a task began in it: until another one starts, nothing is asked ' +
            'for ahead of tasks that may be cut off.',
        ]
      : []),
  ];
}

function draft(request: PlannedRequest, reasons: readonly string[]): DraftedRequest {
  const { width, walltime } = request;
  return {
    width,
    walltime,
    reasons: [
      `Of all that is free, ${describeRequest(request)} has the job done first, beside what is there.`,
      ...reasons,
    ],
  };
}

/** `8 processors for 2 h 0 min, from now on`. */
function describeRequest({ width, walltime, start, expectedStart }: PlannedRequest): string {
  const expected = expectedStart < start ? `, expected in ${describeTime(expectedStart)}` : '';
  const when = start === 0 ? 'from now on' : `in ${describeTime(start)} at the latest${expected}`;
  return `${plural(width, 'processor')} for ${describeTime(walltime)}, ${when},`;
}

function sayWhyGivenUp(context: PlanContext, one: OwnRequestView, requests: readonly PlannedRequest[]): string {
  const others = requests.map((request) => describeRequest(request)).join(' and ');
  if (!isTooWide(context, one))
    return `${one.isRunning ? 'Released' : 'Withdrawn'}: ${others} in its slot bring the end of the job forward by far.`;
  const why =
    `it waits for ${plural(one.width, 'processor')}, far more than ` +
    `${plural(context.facts.demand.pendingTasks, 'pending task')} can use.`;
  return requests.length === 0 ? `Withdrawn: ${why}` : `Withdrawn for ${others} since ${why}`;
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
 * While nothing is known of task times, running tasks tell by not ending: each time that they have run half as long
 * again.
 */
function reviewTasks({ now, pending, taskTimes }: RequestFacts): Instant | undefined {
  if (taskTimes !== undefined || !pending.some(({ status }) => status === 'running')) return undefined;
  const oldest = pending.reduce((most, { tasks = [] }) => Math.max(most, tasks[0]?.time ?? 0), 0);
  return now + Math.max(60_000, Math.ceil(oldest / 2));
}
