import type { Duration, Instant } from '@mutirao/core/shared';
import type { LocalHistory } from '../../resource/local-history.ts';
import type { SimulatedResource } from '../../resource/simulated-resource.ts';

/** How long local users waited while a grid job was there, and how long they would have in the same time without it. */
export interface LocalWaits {
  /** Local requests that waited at its submission or came before its end. */
  readonly requestCount: number;
  /** Waiting of all of them between submission and end of the job. */
  readonly withJob: Duration;
  readonly alone: Duration;
}

/**
 * Watches how long local users wait on a resource from now on.
 *
 * Waits are cut at the job's submission and at its end: its effect on users that still wait then is not counted.
 */
export class LocalWatch {
  readonly #resource: SimulatedResource;
  readonly #since: Instant;
  /** Those that wait at the beginning, and the first that comes after. */
  readonly #early: readonly number[];
  readonly #firstLater: number;
  #waited: Duration = 0;

  /** @param resource as it was before anything happened at `since`; it has no other listener. */
  constructor(resource: SimulatedResource, since: Instant) {
    this.#resource = resource;
    this.#since = since;
    this.#early = Array.from(resource.plan.waiting.values(), ({ id }) => id);
    this.#firstLater = resource.submittedCount;
    resource.onStarted = (started, now): void => {
      for (const { id } of started) if (id < resource.firstFreeId) this.#waited += this.#waitOf(id, now);
    };
  }

  /** What it came to. @param until what happens at this instant has happened. @param history of the same resource. */
  sumUp(until: Instant, history: LocalHistory): LocalWaits {
    const { plan, firstFreeId, submittedCount } = this.#resource;
    let withJob = this.#waited;
    for (const { id } of plan.waiting.values()) if (id < firstFreeId) withJob += this.#waitOf(id, until);
    let alone = 0;
    const add = (id: number): void => {
      const startsAt = history.startOf(id);
      alone += this.#waitOf(id, startsAt < until ? startsAt : until);
    };
    this.#early.forEach(add);
    for (let id = this.#firstLater; id < submittedCount; id += 1) add(id);
    return { requestCount: this.#early.length + submittedCount - this.#firstLater, withJob, alone };
  }

  #waitOf(id: number, until: Instant): Duration {
    return until - Math.max(this.#resource.setup.trace[id]?.submittedAt ?? until, this.#since);
  }
}
