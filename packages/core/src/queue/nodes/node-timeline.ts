import { AvailabilityProfile } from '../../profile/index.ts';
import type { Instant } from '../../shared/index.ts';
import { listAmounts, mebibyte, type ClusterNode, type NodeAmounts, type NodePart } from './cluster-node.ts';

/**
 * What one node has free over time, of each resource. More than that cannot be reserved: the profiles refuse it.
 */
export class NodeTimeline {
  readonly #processors: AvailabilityProfile;
  /** In mebibytes; undefined where it is not known. */
  readonly #memory: AvailabilityProfile | undefined;
  readonly #gpus: ReadonlyMap<string, AvailabilityProfile>;

  constructor(node: ClusterNode, from: Instant) {
    const { processors, memory, gpus } = listAmounts(node);
    this.#processors = new AvailabilityProfile(processors, from);
    this.#memory = memory === Infinity ? undefined : new AvailabilityProfile(memory / mebibyte, from);
    this.#gpus = new Map([...gpus].map(([kind, count]) => [kind, new AvailabilityProfile(count, from)]));
  }

  /** The least that is free of each resource in [start, end). */
  minFree(start: Instant, end: Instant): NodeAmounts {
    return {
      processors: this.#processors.minFree(start, end),
      memory: this.#memory === undefined ? Infinity : this.#memory.minFree(start, end) * mebibyte,
      gpus: new Map([...this.#gpus].map(([kind, profile]) => [kind, profile.minFree(start, end)])),
    };
  }

  /** @throws {InvariantError} when it is not free. */
  reserve(part: NodePart, start: Instant, end: Instant): void {
    for (const [profile, amount] of this.#listUses(part)) profile.reserve(amount, start, end);
  }

  /** @throws {InvariantError} when it was free. */
  release(part: NodePart, start: Instant, end: Instant): void {
    for (const [profile, amount] of this.#listUses(part)) profile.release(amount, start, end);
  }

  /** Forgets what was before an instant. */
  forget(before: Instant): void {
    for (const profile of this.#profiles()) profile.forget(before);
  }

  /** When what is free changes, in any order. */
  *listChanges(): Generator<Instant> {
    for (const profile of this.#profiles()) for (const { start } of profile.segments()) yield start;
  }

  /** The same text for timelines with the same free at all times. */
  describe(): string {
    return [...this.#profiles()]
      .map((profile) => [...profile.segments()].map(({ start, free }) => `${start}:${free}`).join(' '))
      .join('; ');
  }

  *#profiles(): Generator<AvailabilityProfile> {
    yield this.#processors;
    if (this.#memory !== undefined) yield this.#memory;
    yield* this.#gpus.values();
  }

  *#listUses({ processors, memory, gpus }: NodePart): Generator<readonly [AvailabilityProfile, number]> {
    yield [this.#processors, processors];
    if (this.#memory !== undefined) yield [this.#memory, memory / mebibyte];
    for (const [kind, count] of Object.entries(gpus)) {
      const profile = this.#gpus.get(kind);
      if (profile !== undefined) yield [profile, count];
    }
  }
}
