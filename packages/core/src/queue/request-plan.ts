import { AvailabilityProfile } from '../profile/index.ts';
import { invariant } from '../shared/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';

/** A request as a queue policy sees it. */
export interface PlannedRequest {
  /** The resource's number for it. */
  readonly id: number;
  readonly width: ProcessorCount;
  readonly walltime: Duration;
  /** When it starts or started; undefined while it has no place. */
  readonly startsAt: Instant | undefined;
}

/**
 * The requests of one space-shared resource, and the profile of what they leave free.
 *
 * Invariant: the profile is the capacity minus every placed or running request over [startsAt, startsAt + walltime). It is
 * changed by `add`, `place`, `start` and `end` alone, so that whoever owns it can journal them.
 */
export class RequestPlan {
  readonly #profile: AvailabilityProfile;
  readonly #waiting = new Map<number, PlannedRequest>();
  readonly #running = new Map<number, PlannedRequest>();

  /** @param from nothing before it matters. */
  constructor(capacity: ProcessorCount, from: Instant) {
    this.#profile = new AvailabilityProfile(capacity, from);
  }

  /** To be read, not written. */
  get profile(): AvailabilityProfile {
    return this.#profile;
  }

  /** Requests that have not started, in the order of arrival. */
  get waiting(): ReadonlyMap<number, PlannedRequest> {
    return this.#waiting;
  }

  /** Requests that started and have not ended, in the order in which they started. */
  get running(): ReadonlyMap<number, PlannedRequest> {
    return this.#running;
  }

  /** Adds a request at the end of the queue, without a place. */
  add(id: number, width: ProcessorCount, walltime: Duration): void {
    this.#waiting.set(id, { id, width, walltime, startsAt: undefined });
  }

  /** Gives a waiting request a place, or another one. Cost: O(segments). @throws {InvariantError} when it does not fit there. */
  place(id: number, startsAt: Instant): void {
    const request = this.getWaiting(id);
    this.#vacate(request);
    this.#profile.reserve(request.width, startsAt, startsAt + request.walltime);
    this.#waiting.set(id, { ...request, startsAt });
  }

  /** Makes a placed request a running one; its place stays what it was. */
  start(id: number): void {
    const request = this.getWaiting(id);
    invariant(request.startsAt !== undefined, `request ${id} starts without a place`);
    this.#waiting.delete(id);
    this.#running.set(id, request);
  }

  /** Takes a request out; what it would still have held is free again. Cost: O(segments). */
  end(id: number, at: Instant): void {
    const request = this.#running.get(id) ?? this.getWaiting(id);
    const { width, startsAt, walltime } = request;
    if (startsAt !== undefined) this.#profile.shorten(width, Math.max(at, startsAt), startsAt + walltime);
    this.#running.delete(id);
    this.#waiting.delete(id);
  }

  /** Forgets the profile's past. */
  forget(before: Instant): void {
    this.#profile.forget(before);
  }

  /** Waiting requests whose place begins now or has begun, in the order of arrival. Cost: O(waiting). */
  findDue(now: Instant): PlannedRequest[] {
    const due: PlannedRequest[] = [];
    for (const request of this.#waiting.values()) if (request.startsAt !== undefined && request.startsAt <= now) due.push(request);
    return due;
  }

  /** The earliest start of a waiting request; Infinity without one. Cost: O(waiting). */
  get nextStart(): Instant {
    let next = Infinity;
    for (const { startsAt } of this.#waiting.values()) next = Math.min(next, startsAt ?? Infinity);
    return next;
  }

  /** @throws {InvariantError} when there is no such waiting request. */
  getWaiting(id: number): PlannedRequest {
    const request = this.#waiting.get(id);
    invariant(request !== undefined, `request ${id} does not wait`);
    return request;
  }

  /**
   * Whether a waiting request could start now and keep its processors for its whole walltime, everybody else's place standing.
   *
   * Cost: O(segments of the walltime).
   */
  canStart({ width, walltime, startsAt = Infinity }: PlannedRequest, now: Instant): boolean {
    // Its own place, later than now and as long as the walltime, holds what it wants from there on.
    return this.#profile.fits(width, Math.min(walltime, startsAt - now), now);
  }

  /** The earliest place from `now` on for a waiting request, everybody else's place standing. Cost: O(segments). */
  findEarliestPlace(request: PlannedRequest, now: Instant): Instant {
    const { width, walltime, startsAt } = request;
    this.#vacate(request);
    const place = this.#profile.earliestFit(width, walltime, now);
    if (startsAt !== undefined) this.#profile.reserve(width, startsAt, startsAt + walltime);
    return place;
  }

  #vacate({ width, walltime, startsAt }: PlannedRequest): void {
    if (startsAt !== undefined) this.#profile.release(width, startsAt, startsAt + walltime);
  }
}
