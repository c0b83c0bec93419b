import type { QueuedRequest, QueueListing } from '@mutirao/core/messages';
import type { PlannedRequest } from '@mutirao/core/queue';
import type { RequestBudget, RequestDecision, RequestFacts } from '@mutirao/core/requests';
import { invariant, type Instant } from '@mutirao/core/shared';
import type { SimulatedResource } from '../resource/simulated-resource.ts';
import type { GridJob } from './grid-job.ts';

/** Asks a job's heuristic what to request of one of its resources now. */
export function decide(job: GridJob, index: number, resource: SimulatedResource, now: Instant): RequestDecision {
  const { heuristic } = job.setup;
  const plain = listFacts(job, index, resource, now);
  const facts = job.isWatchful ? watch(plain, job, index, resource) : plain;
  const decision = heuristic.draft(facts);
  const { drafts, givenUp = [] } = decision;
  const free = facts.limits.requestsMax - facts.pending.length + givenUp.length;
  invariant(drafts.length <= free, `${heuristic.name} drafted ${drafts.length} requests for ${free} slots`);
  const { budget = { submissions: Infinity, withdrawals: Infinity } } = facts;
  invariant(
    drafts.length <= budget.submissions,
    `${heuristic.name} drafted ${drafts.length} requests, ${budget.submissions} left of this hour`,
  );
  invariant(
    givenUp.length <= budget.withdrawals,
    `${heuristic.name} gave up ${givenUp.length} requests, ${budget.withdrawals} left of this hour`,
  );
  return decision;
}

/** Additional facts for a heuristic that decides at every event. */
function watch(facts: RequestFacts, job: GridJob, index: number, { plan }: SimulatedResource): RequestFacts {
  const { now } = facts;
  const [trigger, unusedAt] = [job.due.get(index), job.unusedAt.get(index)];
  return {
    ...facts,
    ...(trigger === undefined ? {} : { trigger }),
    ...(unusedAt === undefined ? {} : { unusedAt }),
    budget: (job.budgets[index] as RequestBudget).leftAt(now),
    pending: job.watchedFacts(index, now, (id) => plan.waiting.get(id)?.startsAt),
    taskSpread: job.tasks.spread,
    cutOff: job.tasks.cutOff,
    waits: [...job.waits(index)],
  };
}

function listFacts(job: GridJob, index: number, resource: SimulatedResource, now: Instant): RequestFacts {
  const { setup, tasks } = job;
  const limits = setup.limits[index];
  invariant(limits !== undefined, `resource ${index} has no limits`);
  const { plan } = resource;
  const { promises } = resource.setup.policy;
  return {
    now,
    limits,
    isFirst: !job.isSubmitted,
    ...(setup.options === undefined ? {} : { options: setup.options }),
    // Where every request has a place the profile itself says what a listing would.
    listing: {
      at: now,
      processorsFree: limits.processors - getBusy(plan.running.values()),
      requests: promises ? [] : listRequests(resource),
    },
    ...(promises ? { queue: { profile: plan.profile, waitingCount: plan.waiting.size } } : {}),
    pending: job.pendingFacts(index),
    served: job.servedFacts(index),
    demand: { pendingTasks: countWanted(job, index), processors: 1, deadline: undefined },
    taskTimes:
      tasks.doneCount === 0
        ? undefined
        : { longest: tasks.longest, mean: tasks.doneTime / tasks.doneCount, count: tasks.doneCount },
  };
}

/** Tasks for which a resource should have processors: all but those that run at other resources. */
function countWanted(job: GridJob, index: number): number {
  return Math.max(0, job.tasks.pendingCount - runningElsewhere(job, index));
}

/** Whether the processors that a job's requests hold at a resource are enough for its tasks there. */
export function isCovered(job: GridJob, index: number): boolean {
  let running = 0;
  for (const { width, startedAt } of job.pendingAt(index)) if (startedAt !== undefined) running += width;
  return countWanted(job, index) <= running;
}

function runningElsewhere(job: GridJob, index: number): number {
  let count = 0;
  for (const { resource, tasks } of job.pending()) if (resource !== index) count += tasks.size;
  return count;
}

function getBusy(running: Iterable<PlannedRequest>): number {
  let busy = 0;
  for (const { width } of running) busy += width;
  return busy;
}

function listRequests({ plan }: SimulatedResource): QueueListing['requests'] {
  const entry =
    (status: 'running' | 'queued') =>
    ({ id, width, walltime, startsAt }: PlannedRequest): QueuedRequest => ({
      managerRequestId: String(id),
      userId: '',
      width,
      walltime,
      status,
      submittedAt: 0,
      startsAt: startsAt ?? 0,
      endedAt: 0,
      endReason: '',
      clientRequestId: '',
    });
  return [
    ...Array.from(plan.running.values(), entry('running')),
    ...Array.from(plan.waiting.values(), entry('queued')),
  ];
}
