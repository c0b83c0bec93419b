import type { Instant } from '@mutirao/core/shared';
import { SimulatedResource, type ResourceSetup } from './simulated-resource.ts';

/** Checkpoints of a history: enough that the way from one to the next is short, few enough to keep. */
const checkpointMax = 1000;

/** The states of a resource as its local users alone would leave it, at any instant of its trace. */
export class LocalHistory {
  readonly setup: ResourceSetup;
  /** The first submission; 0 for an empty trace. */
  readonly start: Instant;
  /** When the last local request ends. */
  readonly end: Instant;
  /** When each local request starts, by its number; NaN for one that never does. */
  readonly #starts: Float64Array;
  /** In order of time: the resource before anything happened at `at`. */
  readonly #checkpoints: { readonly at: Instant; readonly resource: SimulatedResource }[] = [];

  /** Goes through the whole trace once. Cost: that of a replay. */
  constructor(setup: ResourceSetup) {
    this.setup = setup;
    this.start = setup.trace[0]?.submittedAt ?? 0;
    this.#starts = new Float64Array(setup.trace.length).fill(NaN);
    const resource = new SimulatedResource(setup);
    const every = Math.max(1, Math.ceil(setup.trace.length / checkpointMax));
    let last = this.start;
    for (let now = resource.nextInstant; now < Infinity; now = resource.nextInstant) {
      if (resource.submittedCount >= this.#checkpoints.length * every)
        this.#checkpoints.push({ at: now, resource: resource.clone() });
      resource.submitLocals(now);
      if (resource.endDue(now).length > 0) last = now;
      for (const { id } of resource.startDue(now)) this.#starts[id] = now;
    }
    this.end = last;
  }

  /** When a local request starts without other users; NaN for one that never does. @param id its index in the trace. */
  startOf(id: number): Instant {
    return this.#starts[id] ?? NaN;
  }

  /**
   * The resource in its state after all events before `instant`, as a copy that belongs to the caller.
   *
   * Cost: that of a copy and of a thousandth of the replay.
   */
  resourceAt(instant: Instant): SimulatedResource {
    let low = 0;
    let high = this.#checkpoints.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#checkpoints[middle]?.at ?? Infinity) <= instant) low = middle + 1;
      else high = middle;
    }
    const resource = this.#checkpoints[low - 1]?.resource.clone() ?? new SimulatedResource(this.setup);
    resource.advance(instant);
    return resource;
  }
}
