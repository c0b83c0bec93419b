import {
  RequestPlan,
  ResourceReplay,
  type PlannedRequest,
  type QueuePolicy,
  type TimedRequest,
  type TracedRequest,
} from '@mutirao/core/queue';
import type { Instant, ProcessorCount } from '@mutirao/core/shared';

/** What a space-shared resource is simulated from. */
export interface ResourceSetup {
  readonly policy: QueuePolicy;
  readonly processors: ProcessorCount;
  /** Requests of local users by submission, each at most as wide as the machine. */
  readonly trace: readonly TracedRequest[];
}

/**
 * A space-shared resource with its local users, in virtual time.
 *
 * Local requests are numbered as in the trace, others from `firstFreeId` on. Its driver goes from instant to instant
 * and at each calls
 * `submitLocals`, `endDue` and `startDue`, in this order.
 */
export class SimulatedResource {
  readonly setup: ResourceSetup;
  readonly #replay: ResourceReplay;
  #submittedCount = 0;
  /** Called with what starts, at the instant of it; copies have none. */
  onStarted: ((started: readonly PlannedRequest[], now: Instant) => void) | undefined;

  constructor(
    setup: ResourceSetup,
    replay = new ResourceReplay(setup.policy, new RequestPlan(setup.processors, setup.trace[0]?.submittedAt ?? 0)),
  ) {
    this.setup = setup;
    this.#replay = replay;
  }

  /** The first number that no local request has. */
  get firstFreeId(): number {
    return this.setup.trace.length;
  }

  /** Local requests submitted so far. */
  get submittedCount(): number {
    return this.#submittedCount;
  }

  /** The requests that wait and run; to be read. */
  get plan(): RequestPlan {
    return this.#replay.plan;
  }

  /** When something happens next; Infinity for never again. */
  get nextInstant(): Instant {
    return Math.min(this.setup.trace[this.#submittedCount]?.submittedAt ?? Infinity, this.#replay.nextInstant);
  }

  /** An independent copy that shares the trace. Cost: O(requests that live + segments). */
  clone(): SimulatedResource {
    const copy = new SimulatedResource(this.setup, this.#replay.clone());
    copy.#submittedCount = this.#submittedCount;
    return copy;
  }

  /** Submits the local requests of this instant, in the order of the trace. */
  submitLocals(now: Instant): void {
    const { trace } = this.setup;
    for (
      let request = trace[this.#submittedCount];
      request?.submittedAt === now;
      request = trace[this.#submittedCount]
    ) {
      const { width, walltime, runTime } = request;
      const id = this.#submittedCount;
      this.#submittedCount += 1;
      this.#replay.submit({ id, width, walltime, runTime }, now);
    }
  }

  /** Takes a request of anyone but a local user. */
  submit(request: TimedRequest, now: Instant): void {
    this.#replay.submit(request, now);
  }

  /** Takes a request out before its end, or before its start. */
  withdraw(id: number, now: Instant): void {
    this.#replay.withdraw(id, now);
  }

  /** Ends what ends now; returns the numbers. */
  endDue(now: Instant): readonly number[] {
    return this.#replay.endDue(now);
  }

  /** Starts what starts now. */
  startDue(now: Instant): readonly PlannedRequest[] {
    const started = this.#replay.startDue(now);
    this.onStarted?.(started, now);
    return started;
  }

  /** Goes through all instants before `until`, with local users only. */
  advance(until: Instant): void {
    for (let now = this.nextInstant; now < until; now = this.nextInstant) {
      this.submitLocals(now);
      this.endDue(now);
      this.startDue(now);
    }
  }
}
