import { Heap, InvariantError } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { QueuePolicy } from './queue-policy.ts';
import type { RequestPlan } from './request-plan.ts';
import type { PlannedRequest } from './request-list.ts';

/** A request whose run time is known, as it is in a trace. */
export interface TimedRequest {
  readonly id: number;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** More than 0, at most `walltime`. */
  readonly runTime: Duration;
  /** Its rank in the queue; left out where the order is that of arrival. */
  readonly rank?: number;
}

interface Ending {
  readonly id: number;
  readonly endsAt: Instant;
  /** Grows with starts. */
  readonly order: number;
}

/**
 * One space-shared resource in virtual time: a policy, its plan, and the ends of what runs.
 *
 * Its driver goes from instant to instant and at each calls `submit` for what arrives, then `endDue`, then `startDue`.
 */
export class ResourceReplay {
  readonly #policy: QueuePolicy;
  readonly #plan: RequestPlan;
  /** Of the requests that wait. */
  #runTimes = new Map<number, Duration>();
  /** Ends of what runs; entries of requests that were taken out before are stale. */
  #endings = new Heap<Ending>(endsBefore);
  #startedCount = 0;
  /**
   * Placed at this instant and to be started at its end, in this order; kept for policies that promise nothing alone.
   */
  #starting: number[] = [];

  /** @param plan without requests. */
  constructor(policy: QueuePolicy, plan: RequestPlan) {
    this.#policy = policy;
    this.#plan = plan;
  }

  /** To be read, not written. */
  get plan(): RequestPlan {
    return this.#plan;
  }

  /** When something happens next, if nothing is submitted; Infinity for never. */
  get nextInstant(): Instant {
    return Math.min(this.#nextEnd(), this.#plan.nextStart);
  }

  /** An independent copy. Cost: O(requests that live + segments). */
  clone(): ResourceReplay {
    const copy = new ResourceReplay(this.#policy, this.#plan.clone());
    copy.#runTimes = new Map(this.#runTimes);
    copy.#endings = new Heap(endsBefore, this.#endings.elements);
    copy.#startedCount = this.#startedCount;
    copy.#starting = [...this.#starting];
    return copy;
  }

  /**
   * Takes a request; returns the place that it is given, undefined under a policy that gives none ahead. It is a
   * promise in the order of arrival.
   */
  submit({ id, width, walltime, runTime, rank }: TimedRequest, now: Instant): Instant | undefined {
    this.#plan.forget(now);
    this.#plan.add(id, width, walltime, rank);
    this.#runTimes.set(id, runTime);
    this.#policy.onSubmitted(this.#plan, id, now, this.#place);
    return this.#policy.promises ? this.#plan.getWaiting(id).startsAt : undefined;
  }

  /** Takes a request out before its end, or before its start. */
  withdraw(id: number, now: Instant): void {
    this.#plan.forget(now);
    this.#plan.end(id, now);
    this.#runTimes.delete(id);
    this.#policy.onEnded(this.#plan, now, this.#place);
  }

  /** Ends what ends now, in the order in which it started; returns the ids. */
  endDue(now: Instant): readonly number[] {
    const ended: number[] = [];
    while (this.#nextEnd() <= now) {
      const { id } = this.#endings.pop() as Ending;
      this.#plan.forget(now);
      this.#plan.end(id, now);
      this.#policy.onEnded(this.#plan, now, this.#place);
      ended.push(id);
    }
    return ended;
  }

  /**
   * Starts the requests that start now: those that were promised this instant in the order of arrival, the others in
   * the order of the policy's decisions.
   */
  startDue(now: Instant): readonly PlannedRequest[] {
    const due = this.#policy.promises ? this.#plan.findDue(now) : this.#takeStarting();
    for (const { id } of due) {
      const runTime = this.#runTimes.get(id);
      if (runTime === undefined) throw new InvariantError(`request ${id} was never submitted`);
      this.#runTimes.delete(id);
      this.#plan.start(id);
      this.#endings.push({ id, endsAt: now + runTime, order: this.#startedCount });
      this.#startedCount += 1;
    }
    return due;
  }

  readonly #place = (id: number, startsAt: Instant | undefined): void => {
    this.#plan.place(id, startsAt);
    if (!this.#policy.promises) this.#starting.push(id);
  };

  #takeStarting(): PlannedRequest[] {
    const starting = this.#starting.map((id) => this.#plan.waiting.get(id)).filter((request) => request !== undefined);
    this.#starting = [];
    return starting;
  }

  #nextEnd(): Instant {
    for (let next = this.#endings.first; next !== undefined; next = this.#endings.first) {
      if (this.#plan.running.has(next.id)) return next.endsAt;
      this.#endings.pop();
    }
    return Infinity;
  }
}

function endsBefore(one: Ending, other: Ending): boolean {
  return one.endsAt < other.endsAt || (one.endsAt === other.endsAt && one.order < other.order);
}
