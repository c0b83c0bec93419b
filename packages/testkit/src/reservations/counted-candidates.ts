import type { SlotWant } from './variable-slots.ts';

/** A reservation of counted resources. */
export interface CountedReservation {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  readonly resources: readonly number[];
}

/**
 * Multiple reservations as kunrath2008 writes them (4.1): each candidate start is tried in turn, and all reservations
 * are looked at for each.
 */
export class CountedCandidates {
  readonly count: number;
  readonly reservations = new Map<number, CountedReservation>();

  /** @param count how many resources. */
  constructor(count: number) {
    this.count = count;
  }

  /**
   * The reservation, placed; undefined when it is refused. Of the free resources, those that have been idle the
   * longest, then the lowest numbers.
   */
  request(want: SlotWant): CountedReservation | undefined {
    for (const start of this.candidates(want)) {
      const free = this.freeThroughout(start, start + want.duration);
      if (free.length < want.amount) continue;
      const idleSince = (resource: number): number =>
        this.#of(resource)
          .filter(({ end }) => end <= start)
          .reduce((latest, { end }) => Math.max(latest, end), 0);
      free.sort((one, other) => idleSince(one) - idleSince(other) || one - other);
      const placed = {
        id: want.id,
        start,
        end: start + want.duration,
        resources: free.slice(0, want.amount).sort((one, other) => one - other),
      };
      this.reservations.set(want.id, placed);
      return placed;
    }
    return undefined;
  }

  /** The earliest start, and each end of a reservation from which the limits can be kept, ascending. */
  candidates({ duration, from, latestEnd }: SlotWant): number[] {
    const ends = [...this.reservations.values()].map(({ end }) => end).filter((end) => end > from);
    return [...new Set([from, ...ends])]
      .filter((start) => start + duration <= latestEnd)
      .sort((one, other) => one - other);
  }

  /** Resources that nobody has in a window. */
  freeThroughout(start: number, end: number): number[] {
    const all = Array.from({ length: this.count }, (_, resource) => resource);
    return all.filter((resource) => this.#of(resource).every((each) => each.end <= start || each.start >= end));
  }

  #of(resource: number): CountedReservation[] {
    return [...this.reservations.values()].filter(({ resources }) => resources.includes(resource));
  }
}
