import { nextReview } from '@mutirao/core/requests';
import { invariant, type Instant } from '@mutirao/core/shared';
import type { SimulatedResource } from '../resource/simulated-resource.ts';
import { decide, isCovered } from './decide.ts';
import { GridJob, type GridJobSetup } from './grid-job.ts';
import type { OwnRequest } from './workqueue.ts';

/** Called with what grid jobs do, a line for each event: `AT job J EVENT ...`, times in milliseconds. */
export type TraceLine = (line: string) => void;

/** Options of a run other than its jobs. */
export interface RunGridOptions {
  readonly trace?: TraceLine | undefined;
  /** Left out, it goes on until every job is finished. */
  readonly until?: Instant;
}

/**
 * Runs grid jobs on resources until all are finished, or until an instant; returns them in the order of `setups`.
 *
 * At one instant: submissions of local users, ends of tasks, ends of requests, decisions of the jobs (at their
 * submission and where
 * an own request ended) with what they submit, starts. Among equals the first job or resource comes first. A task that
 * ends with its
 * walltime is done. When a job is finished its requests are taken out, running ones first, and that is an end like
 * others. A job of
 * the live provider's conduct decides after the starts.
 *
 * @param resources are changed; each is as it was before the first instant that matters.
 * @param until nothing later happens; a job that is not finished by then has no `finishedAt`. Some never are: requests
 * whose walltimes overlap can hand a task on for ever,
 * each to one that ends too soon for it.
 */
export function runGrid(
  resources: readonly SimulatedResource[],
  setups: readonly GridJobSetup[],
  { trace, until = Infinity }: RunGridOptions = {},
): GridJob[] {
  const world = new GridWorld(resources, setups, trace);
  while (world.step(until)) {
    /* Each call is one instant. */
  }
  return world.jobs;
}

class GridWorld {
  readonly jobs: GridJob[];
  readonly #resources: readonly SimulatedResource[];
  readonly #trace: TraceLine | undefined;
  /** The next number of an own request, by resource. */
  readonly #nextIds: number[];

  constructor(resources: readonly SimulatedResource[], setups: readonly GridJobSetup[], trace: TraceLine | undefined) {
    this.jobs = setups.map((setup) => new GridJob(setup));
    this.#resources = resources;
    this.#trace = trace;
    this.#nextIds = resources.map(({ firstFreeId }) => firstFreeId);
  }

  /** Goes to the next instant; false when every job is finished, or nothing is left until then. */
  step(until: Instant): boolean {
    if (this.jobs.every(({ finishedAt }) => finishedAt !== undefined)) return false;
    const now = this.#nextInstant();
    invariant(now < Infinity, 'a grid job waits for something that never comes');
    if (now > until) return false;
    for (const resource of this.#resources) resource.submitLocals(now);
    for (const job of this.jobs) this.#endTasks(job, now);
    this.#resources.forEach((resource, index) => {
      this.#endRequests(resource, index, now);
    });
    for (const job of this.jobs) if (job.setup.conduct !== 'provider') this.#decide(job, now);
    this.#startAll(now);
    for (const job of this.jobs) if (job.setup.conduct === 'provider') this.#decideAsProvider(job, now);
    return true;
  }

  #nextInstant(): Instant {
    let next = Infinity;
    for (const { nextInstant } of this.#resources) next = Math.min(next, nextInstant);
    for (const { nextInstant } of this.jobs) next = Math.min(next, nextInstant);
    return next;
  }

  #startAll(now: Instant): void {
    this.#resources.forEach((resource, index) => {
      this.#startRequests(resource, index, now);
    });
  }

  #endTasks(job: GridJob, now: Instant): void {
    job.noteReviews(now);
    if (job.tasks.nextEnd > now) return;
    const freed = job.tasks.finishDue(now);
    if (job.tasks.pendingCount === 0) return this.#finish(job, now);
    if (job.isWatchful && job.passMilestone()) for (const { resource } of freed) job.noteDue(resource, 'own');
    for (const request of freed) {
      if (getWalltimeEnd(request) > now) job.tasks.fill(request, now);
      this.#releaseIdle(job, request, now);
    }
  }

  #finish(job: GridJob, now: Instant): void {
    job.finishedAt = now;
    job.due.clear();
    job.reviewAt.fill(Infinity);
    this.#note(job, now, 'finishes');
    const pending = [...job.pending()];
    for (const request of pending.filter(({ startedAt }) => startedAt !== undefined)) this.#takeOut(job, request, now);
    for (const request of pending.filter(({ startedAt }) => startedAt === undefined)) this.#takeOut(job, request, now);
  }

  #releaseIdle(job: GridJob, request: OwnRequest, now: Instant): void {
    if (!job.releasesIdle || request.tasks.size > 0) return;
    if (!request.isUsed) job.unusedAt.set(request.resource, now);
    this.#takeOut(job, request, now);
    if (job.isWatchful) job.noteDue(request.resource, 'own');
  }

  #takeOut(job: GridJob, request: OwnRequest, now: Instant): void {
    this.#note(job, now, `takes out request ${request.id} of resource ${request.resource}`);
    job.end(request, now);
    this.#resources[request.resource]?.withdraw(request.id, now);
  }

  #endRequests(resource: SimulatedResource, index: number, now: Instant): void {
    const ended = resource.endDue(now);
    if (ended.length > 0) for (const job of this.jobs) job.noteFreed(index);
    for (const id of ended) {
      if (id < resource.firstFreeId) continue;
      for (const job of this.jobs) {
        const request = job.findPending(index, id);
        if (request === undefined) continue;
        this.#note(job, now, `loses request ${id} of resource ${index} with ${request.tasks.size} tasks`);
        job.end(request, now);
        job.noteDue(index, 'own');
        for (const other of job.pending()) if (getWalltimeEnd(other) > now) job.tasks.fill(other, now);
      }
    }
  }

  #decide(job: GridJob, now: Instant): void {
    const isFirst = !job.isSubmitted && job.setup.submittedAt <= now;
    const due = isFirst ? this.#resources.keys() : [...job.due.keys()].sort((one, other) => one - other);
    for (const index of due) this.#decideAt(job, index, now);
    job.due.clear();
    job.isSubmitted ||= isFirst;
  }

  #decideAsProvider(job: GridJob, now: Instant): void {
    this.#withdrawCovered(job, now);
    for (const index of job.due.keys()) if (isCovered(job, index)) job.due.delete(index);
    do {
      this.#decide(job, now);
      this.#startAll(now);
    } while (this.#withdrawCovered(job, now));
  }

  /** Takes out what waits where running requests cover the tasks; false when nothing does. */
  #withdrawCovered(job: GridJob, now: Instant): boolean {
    const surplus = [...job.pending()].filter(
      ({ startedAt, resource }) => startedAt === undefined && isCovered(job, resource),
    );
    for (const request of surplus) this.#takeOut(job, request, now);
    return surplus.length > 0;
  }

  #decideAt(job: GridJob, index: number, now: Instant): void {
    const resource = this.#resources[index];
    invariant(resource !== undefined, `there is no resource ${index}`);
    const decision = decide(job, index, resource, now);
    const { drafts, givenUp = [] } = decision;
    job.reviewAt[index] = nextReview(decision, {
      now,
      trigger: job.due.get(index),
      before: job.reviewAt[index] as Instant,
    });
    for (const { requestId } of givenUp) this.#giveUp(job, index, { id: Number(requestId), now });
    for (const { width, walltime } of drafts) {
      const id = this.#nextIds[index] as number;
      this.#nextIds[index] = id + 1;
      this.#note(job, now, `asks resource ${index} for ${width} processors for ${walltime} as request ${id}`);
      resource.submit({ id, width, walltime, runTime: walltime }, now);
      const promisedStart = resource.setup.policy.promises ? resource.plan.waiting.get(id)?.startsAt : undefined;
      job.add({
        id,
        resource: index,
        width,
        walltime,
        submittedAt: now,
        promisedStart,
        startedAt: undefined,
        endedAt: undefined,
        idle: 0,
        tasks: new Map(),
        taskTime: 0,
        isUsed: false,
      });
      job.budgets[index]?.noteSubmission(now);
    }
  }

  #giveUp(job: GridJob, resource: number, { id, now }: { readonly id: number; readonly now: Instant }): void {
    const request = job.findPending(resource, id);
    invariant(request !== undefined, `request ${id} of resource ${resource} cannot be given up: it is not pending`);
    job.budgets[resource]?.noteWithdrawal(now);
    if (request.startedAt === undefined) job.withdrawalCount += 1;
    else job.releaseCount += 1;
    this.#takeOut(job, request, now);
    for (const other of job.pending())
      if (other.startedAt !== undefined && getWalltimeEnd(other) > now) job.tasks.fill(other, now);
  }

  #startRequests(resource: SimulatedResource, index: number, now: Instant): void {
    for (const { id } of resource.startDue(now)) {
      if (id < resource.firstFreeId) continue;
      for (const job of this.jobs) {
        const request = job.findPending(index, id);
        if (request === undefined) continue;
        this.#note(job, now, `gets request ${id} of resource ${index}`);
        job.start(request, now);
        if (job.isWatchful) job.noteDue(index, 'own');
        job.tasks.fill(request, now);
        this.#releaseIdle(job, request, now);
      }
    }
  }

  #note(job: GridJob, now: Instant, event: string): void {
    this.#trace?.(`${now} job ${this.jobs.indexOf(job)} ${event}`);
  }
}

/** When a request's walltime ends; Infinity while it has not started. */
function getWalltimeEnd({ startedAt = Infinity, walltime }: OwnRequest): Instant {
  return startedAt + walltime;
}
