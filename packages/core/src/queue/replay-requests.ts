import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { QueuePolicy } from './queue-policy.ts';
import { RequestPlan } from './request-plan.ts';

/** A request of a trace: what was asked for and how long it really ran. */
export interface TracedRequest {
  readonly submittedAt: Instant;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** More than 0, at most `walltime`. */
  readonly runTime: Duration;
}

/** What one request got. */
export interface ReplayedRequest {
  /** The place it was given when it was submitted; undefined under a policy that promises nothing. */
  readonly promisedAt: Instant | undefined;
  readonly startedAt: Instant;
}

/**
 * Runs a trace through a policy on `capacity` processors; the result is indexed as `trace` is.
 *
 * At one instant: submissions in the trace's order, then ends in the order in which those requests started, each event followed by
 * the policy's decisions, then starts.
 *
 * @param trace sorted by submission; each width at most `capacity`.
 */
export function replayRequests(policy: QueuePolicy, capacity: ProcessorCount, trace: readonly TracedRequest[]): ReplayedRequest[] {
  const replay = new Replay(policy, capacity, trace);
  while (replay.next()) { /* Each call is one instant. */ }
  return replay.results;
}

class Replay {
  readonly results: ReplayedRequest[] = [];
  readonly #policy: QueuePolicy;
  readonly #trace: readonly TracedRequest[];
  readonly #plan: RequestPlan;
  readonly #promises: (Instant | undefined)[] = [];
  #submitted = 0;

  constructor(policy: QueuePolicy, capacity: ProcessorCount, trace: readonly TracedRequest[]) {
    this.#policy = policy;
    this.#trace = trace;
    this.#plan = new RequestPlan(capacity, trace[0]?.submittedAt ?? 0);
  }

  /** Handles the next instant at which something happens; false when nothing is left. */
  next(): boolean {
    const now = Math.min(this.#trace[this.#submitted]?.submittedAt ?? Infinity, this.#nextEnd(), this.#plan.nextStart);
    if (now === Infinity) return false;
    this.#plan.forget(now);
    this.#submit(now);
    this.#end(now);
    for (const { id } of this.#plan.findDue(now)) {
      this.#plan.start(id);
      this.results[id] = { promisedAt: this.#promises[id], startedAt: now };
    }
    return true;
  }

  readonly #place = (id: number, startsAt: Instant): void => { this.#plan.place(id, startsAt); };

  #submit(now: Instant): void {
    for (let request = this.#trace[this.#submitted]; request?.submittedAt === now; request = this.#trace[this.#submitted]) {
      const id = this.#submitted;
      this.#submitted += 1;
      this.#plan.add(id, request.width, request.walltime);
      this.#policy.onSubmitted(this.#plan, id, now, this.#place);
      this.#promises[id] = this.#policy.promises ? this.#plan.getWaiting(id).startsAt : undefined;
    }
  }

  #end(now: Instant): void {
    for (const { id } of [...this.#plan.running.values()].filter((request) => this.#endOf(request.id) === now)) {
      this.#plan.end(id, now);
      this.#policy.onEnded(this.#plan, now, this.#place);
    }
  }

  #nextEnd(): Instant {
    let next = Infinity;
    for (const { id } of this.#plan.running.values()) next = Math.min(next, this.#endOf(id));
    return next;
  }

  #endOf(id: number): Instant {
    return (this.results[id] as ReplayedRequest).startedAt + (this.#trace[id] as TracedRequest).runTime;
  }
}
