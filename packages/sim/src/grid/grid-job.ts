import type { ResourceLimits } from '@mutirao/core/messages';
import {
  groupTasks,
  RequestBudget,
  type HeuristicOptions,
  type ObservedWait,
  type PendingRequest,
  type RequestFacts,
  type RequestHeuristic,
  type ServedRequest,
} from '@mutirao/core/requests';
import type { Duration, Instant, Prng } from '@mutirao/core/shared';
import { Workqueue, type OwnRequest } from './workqueue.ts';

/** A job to be run on simulated resources. */
export interface GridJobSetup {
  readonly submittedAt: Instant;
  /** Run time of each task, more than 0 and at most the longest walltime of some resource. */
  readonly taskTimes: readonly Duration[];
  /** What processors draw tasks with. */
  readonly picks: Prng;
  readonly heuristic: RequestHeuristic;
  /** What each resource allows the job's user, by its index. */
  readonly limits: readonly ResourceLimits[];
  readonly options?: HeuristicOptions;
  /**
   * Whether a running request is released once it has no task and none waits; else it is held until the job or its
   * walltime ends.
   */
  readonly releasesIdle?: boolean;
  /**
   * `study`, if left out, is costa2005's: a decision is made at the submission and where a request ended, before
   * anything starts at that instant, and requests are kept until they end. `provider` is the live provider's: while
   * running requests cover the tasks, waiting ones are withdrawn and no other is submitted, and decisions come after
   * what starts at that instant, since the provider learns of an end when the queue has moved on.
   */
  readonly conduct?: 'study' | 'provider';
}

/** Why a decision is made. */
export type Trigger = NonNullable<RequestFacts['trigger']>;

/** A grid job while it runs. */
export class GridJob {
  readonly setup: GridJobSetup;
  readonly tasks: Workqueue;
  /** Every request made, in the order of submission. */
  readonly requests: OwnRequest[] = [];
  /** Those that have not ended, by resource and number. */
  readonly #pending: Map<number, OwnRequest>[];
  readonly #served: ServedRequest[][];
  /** Waits of those that started, the latest last, by resource. */
  readonly #waits: ObservedWait[][];
  /** What may still be asked for within the hour, by resource. */
  readonly budgets: readonly RequestBudget[];
  finishedAt: Instant | undefined;
  /** Resources at which a decision is due, and why. */
  readonly due = new Map<number, Trigger>();
  /** When a decision asked for another one, by resource; Infinity where none did. */
  readonly reviewAt: Instant[];
  /** When the last own request was released in which no task had begun, by resource. */
  readonly unusedAt = new Map<number, Instant>();
  /**
   * Own requests that were withdrawn while they waited, and released while they ran, because the heuristic gave them
   * up.
   */
  withdrawalCount = 0;
  releaseCount = 0;
  /** Tasks that have to be done before the next decision for their sake. */
  #nextMilestone = 1;
  /** Whether the first decisions were made. */
  isSubmitted = false;

  constructor(setup: GridJobSetup) {
    this.setup = setup;
    this.tasks = new Workqueue(setup.taskTimes, setup.picks);
    this.#pending = setup.limits.map(() => new Map());
    this.#served = setup.limits.map(() => []);
    this.#waits = setup.limits.map(() => []);
    this.budgets = setup.limits.map(() => new RequestBudget());
    this.reviewAt = setup.limits.map(() => Infinity);
  }

  /** Whether its heuristic decides at every event. */
  get isWatchful(): boolean {
    return this.setup.heuristic.decidesAt === 'queue events';
  }

  /** Whether a request without a task is released once no task waits. */
  get releasesIdle(): boolean {
    return this.setup.releasesIdle === true || this.setup.heuristic.releasesIdle === true;
  }

  /** When the job itself does something next: its submission, or the end of a task; Infinity once it is finished. */
  get nextInstant(): Instant {
    if (this.finishedAt !== undefined) return Infinity;
    return this.isSubmitted ? Math.min(this.tasks.nextEnd, ...this.reviewAt) : this.setup.submittedAt;
  }

  /** Notes that a decision is due; what concerns the own requests goes before what does not. */
  noteDue(resource: number, trigger: Trigger): void {
    if (trigger === 'own' || !this.due.has(resource)) this.due.set(resource, trigger);
  }

  /** Notes that processors of a resource were freed, by any user. */
  noteFreed(resource: number): void {
    if (this.isWatchful && this.isSubmitted && this.finishedAt === undefined) this.noteDue(resource, 'queue');
  }

  /** Notes the reviews that earlier decisions asked for by now. */
  noteReviews(now: Instant): void {
    this.reviewAt.forEach((at, index) => {
      if (at > now) return;
      this.reviewAt[index] = Infinity;
      this.noteDue(index, 'review');
    });
  }

  /** Whether tasks have become enough more since this was last true, a quarter. */
  passMilestone(): boolean {
    const { doneCount } = this.tasks;
    if (doneCount < this.#nextMilestone) return false;
    this.#nextMilestone = Math.ceil((doneCount * 5) / 4) + 1;
    return true;
  }

  /** Own requests at a resource that have not ended, in the order of submission. */
  pendingAt(resource: number): Iterable<OwnRequest> {
    return this.#at(this.#pending, resource).values();
  }

  /** Those of all resources. */
  *pending(): Generator<OwnRequest> {
    for (const requests of this.#pending) yield* requests.values();
  }

  findPending(resource: number, id: number): OwnRequest | undefined {
    return this.#at(this.#pending, resource).get(id);
  }

  /** What a heuristic gets about the pending requests. */
  pendingFacts(resource: number): PendingRequest[] {
    return Array.from(this.pendingAt(resource), ({ id, width, walltime, startedAt }) => ({
      requestId: String(id),
      width,
      walltime,
      status: startedAt === undefined ? 'queued' : 'running',
      startedAt: startedAt ?? 0,
    }));
  }

  /** The same for one that decides at every event. Cost: O(running tasks). */
  watchedFacts(resource: number, now: Instant, startOf: (id: number) => Instant | undefined): PendingRequest[] {
    return Array.from(
      this.pendingAt(resource),
      ({ id, width, walltime, startedAt, submittedAt, promisedStart, idle, tasks }) => {
        const predictedStart = startedAt === undefined ? startOf(id) : undefined;
        return {
          requestId: String(id),
          listedAs: String(id),
          width,
          walltime,
          status: startedAt === undefined ? 'queued' : 'running',
          startedAt: startedAt ?? 0,
          submittedAt,
          ...(promisedStart === undefined ? {} : { promisedStart }),
          ...(predictedStart === undefined ? {} : { predictedStart }),
          ...(startedAt === undefined
            ? {}
            : { idle, tasks: groupTasks(Array.from(tasks.values(), (began) => now - began)) }),
        };
      },
    );
  }

  /** Waits of own requests that have started. */
  waits(resource: number): readonly ObservedWait[] {
    return this.#at(this.#waits, resource);
  }

  /** Notes that a request has started. */
  start(request: OwnRequest, now: Instant): void {
    const { width, walltime, submittedAt, promisedStart } = request;
    request.startedAt = now;
    request.idle = width;
    if (promisedStart !== undefined)
      this.#at(this.#waits, request.resource).push({
        width,
        walltime,
        promised: promisedStart - submittedAt,
        actual: now - submittedAt,
      });
  }

  /** What a heuristic gets about the requests that ran and ended, oldest first. */
  servedFacts(resource: number): readonly ServedRequest[] {
    return [...this.#at(this.#served, resource)];
  }

  add(request: OwnRequest): void {
    this.requests.push(request);
    this.#at(this.#pending, request.resource).set(request.id, request);
  }

  /** Notes that a request ended, whether it ran or not; its tasks go back into the bag. */
  end(request: OwnRequest, now: Instant): void {
    const { id, resource, width, walltime, startedAt, taskTime } = request;
    request.endedAt = now;
    this.#at(this.#pending, resource).delete(id);
    this.tasks.abort(request, now);
    if (startedAt !== undefined)
      this.#at(this.#served, resource).push({
        requestId: String(id),
        width,
        walltime,
        startedAt,
        endedAt: now,
        taskTime,
      });
  }

  #at<T>(byResource: readonly T[], resource: number): T {
    return byResource[resource] as T;
  }
}
