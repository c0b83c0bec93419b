import type { ResourceLimits } from '@mutirao/core/messages';
import type { HeuristicOptions, PendingRequest, RequestHeuristic, ServedRequest } from '@mutirao/core/requests';
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
  /** Whether a running request is released once it has no task and none waits; else it is held until the job or its walltime ends. */
  readonly releasesIdle?: boolean;
  /**
   * `study`, if left out, is costa2005's: a decision is made at the submission and where a request ended, before anything starts at
   * that instant, and requests are kept until they end. `provider` is the live provider's: while running requests cover the tasks, those
   * that wait are withdrawn and no other is asked for, and decisions come after what starts at that instant, since it hears of
   * an end when the queue has moved on.
   */
  readonly conduct?: 'study' | 'provider';
}

/** A grid job while it runs. */
export class GridJob {
  readonly setup: GridJobSetup;
  readonly tasks: Workqueue;
  /** Every request made, in the order of submission. */
  readonly requests: OwnRequest[] = [];
  /** Those that have not ended, by resource and number. */
  readonly #pending: Map<number, OwnRequest>[];
  readonly #served: ServedRequest[][];
  finishedAt: Instant | undefined;
  /** Resources at which a decision is due. */
  readonly due = new Set<number>();
  /** Whether the first decisions were made. */
  isSubmitted = false;

  constructor(setup: GridJobSetup) {
    this.setup = setup;
    this.tasks = new Workqueue(setup.taskTimes, setup.picks);
    this.#pending = setup.limits.map(() => new Map());
    this.#served = setup.limits.map(() => []);
  }

  /** When the job itself does something next: its submission, or the end of a task; Infinity once it is finished. */
  get nextInstant(): Instant {
    if (this.finishedAt !== undefined) return Infinity;
    return this.isSubmitted ? this.tasks.nextEnd : this.setup.submittedAt;
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

  /** What a heuristic hears of the pending requests. */
  pendingFacts(resource: number): PendingRequest[] {
    return Array.from(this.pendingAt(resource), ({ id, width, walltime, startedAt }) => ({
      requestId: String(id), width, walltime, status: startedAt === undefined ? 'queued' : 'running', startedAt: startedAt ?? 0,
    }));
  }

  /** What a heuristic hears of the requests that ran and ended, oldest first. */
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
    this.tasks.abort(request);
    if (startedAt !== undefined) this.#at(this.#served, resource).push({ requestId: String(id), width, walltime, startedAt, endedAt: now, taskTime });
  }

  #at<T>(byResource: readonly T[], resource: number): T {
    return byResource[resource] as T;
  }
}
