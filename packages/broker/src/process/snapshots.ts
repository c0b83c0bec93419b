import { snapshot, type BrokerChange, type BrokerState } from '@mutirao/core/machines/broker';
import type { Duration, Instant } from '@mutirao/core/shared';
import type { Clock } from '@mutirao/runtime/driver';
import { isFullDisk } from '@mutirao/runtime/files';
import type { Journal } from '@mutirao/runtime/journal';

/** When snapshots are taken. */
export interface SnapshotRules {
  /** Changes since the last one that make another one worth while. */
  readonly changesMin: number;
  /** Snapshots take at most one part in this many of the process's time. */
  readonly timeShare: number;
  /** Pause after there was no room for one. */
  readonly fullPause: Duration;
}

/** Often enough for a quick restart, seldom enough not to be noticed. */
export const defaultSnapshotRules: SnapshotRules = { changesMin: 2000, timeShare: 50, fullPause: 10_000 };

/** Keeps snapshots of a state in its journal, so that a restart replays little. */
export class Snapshots {
  readonly #journal: Journal<BrokerChange>;
  readonly #clock: Clock;
  readonly #rules: SnapshotRules;
  #lastSequence: number;
  #notBefore: Instant = 0;

  constructor(options: {
    readonly journal: Journal<BrokerChange>;
    readonly clock: Clock;
    readonly lastSequence: number;
    readonly rules?: SnapshotRules;
  }) {
    this.#journal = options.journal;
    this.#clock = options.clock;
    this.#lastSequence = options.lastSequence;
    this.#rules = options.rules ?? defaultSnapshotRules;
  }

  /**
   * Takes one where it is due. Called after changes up to the journal's last are in `state`. Returns how long it took;
   * undefined when none was due.
   */
  takeWhenDue(state: BrokerState): Duration | undefined {
    if (this.#journal.lastSequence() - this.#lastSequence < this.#rules.changesMin) return undefined;
    if (this.#clock.now() < this.#notBefore) return undefined;
    try {
      return this.take(state);
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      // The journal has it all; a later snapshot will do.
      this.#notBefore = this.#clock.now() + this.#rules.fullPause;
      return undefined;
    }
  }

  /** Takes one now, unless nothing changed since the last. Returns how long it took. */
  take(state: BrokerState): Duration {
    const began = this.#clock.now();
    const sequence = this.#journal.lastSequence();
    if (sequence > this.#lastSequence) this.#journal.writeSnapshot(sequence, snapshot(state));
    this.#lastSequence = sequence;
    const took = this.#clock.now() - began;
    this.#notBefore = began + took * this.#rules.timeShare;
    return took;
  }
}
