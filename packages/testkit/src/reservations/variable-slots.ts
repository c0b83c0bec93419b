/** A slot of the seed's list: an interval over which the set of reservations is constant. */
export interface VariableSlot {
  readonly start: number;
  readonly end: number;
  /** The sum of their amounts, of all and of those of low priority. */
  used: number;
  low: number;
}

/** A reservation as the list knows it. */
export interface SlotReservation {
  readonly id: number;
  readonly amount: number;
  readonly start: number;
  readonly end: number;
  readonly earliestStart: number;
  /** Of low priority: without a latest end. */
  readonly isLow: boolean;
}

/** What is asked: to be within [from, latestEnd], Infinity without one. */
export interface SlotWant {
  readonly id: number;
  readonly amount: number;
  readonly duration: number;
  readonly from: number;
  readonly latestEnd: number;
}

/**
 * SUVS and SUVS-P as kunrath2008 writes them (4.2.2 to 4.2.4), step by step over a linear list of Variable Slots: the
 * slow twin of a calendar.
 *
 * Slots are never joined, and there are none where nothing is reserved. A list that nobody searches by halves: each
 * walk begins at its head.
 */
export class VariableSlots {
  readonly cap: number;
  readonly slots: VariableSlot[] = [];
  readonly reservations = new Map<number, SlotReservation>();

  constructor(cap: number) {
    this.cap = cap;
  }

  /** SUVS: the start, or undefined when it is refused. Places nothing. */
  findStart({ amount, duration, from, latestEnd }: SlotWant, ignoresLow = false): number | undefined {
    let start = from;
    while (start + duration <= latestEnd) {
      const blocked = this.#findBlocked(this.cap - amount, start, start + duration, ignoresLow);
      if (blocked === undefined) return start;
      start = blocked.end;
    }
    return undefined;
  }

  /** The first slot of a window in which more is used. */
  #findBlocked(usedMax: number, start: number, end: number, ignoresLow: boolean): VariableSlot | undefined {
    for (const slot of this.slots) {
      if (slot.start >= end) return undefined;
      if (slot.end > start && slot.used - (ignoresLow ? slot.low : 0) > usedMax) return slot;
    }
    return undefined;
  }

  /** SUVS: places, or answers undefined. */
  request(want: SlotWant): SlotReservation | undefined {
    const start = this.findStart(want);
    return start === undefined ? undefined : this.#place(want, start);
  }

  /**
   * SUVS-P, with no bound on how many are moved: the reservation and the ids of those that were placed again, or
   * undefined.
   */
  requestWithPriority(
    want: SlotWant,
  ): { readonly placed: SlotReservation; readonly again: readonly number[] } | undefined {
    const placed = this.request(want);
    if (placed !== undefined) return { placed, again: [] };
    const start = this.findStart(want, true);
    if (want.latestEnd === Infinity || start === undefined) return undefined;
    const inTheWay = [...this.reservations.values()]
      .filter((each) => each.isLow && each.start < start + want.duration && each.end > start)
      .sort((one, other) => one.start - other.start || one.id - other.id);
    for (const { id } of inTheWay) this.cancel(id);
    const high = this.#place(want, start);
    for (const { id, amount, start: oldStart, end, earliestStart } of inTheWay) {
      this.request({ id, amount, duration: end - oldStart, from: earliestStart, latestEnd: Infinity });
    }
    return { placed: high, again: inTheWay.map(({ id }) => id) };
  }

  /** Takes a reservation out of its slots. */
  cancel(id: number): void {
    const reservation = this.reservations.get(id);
    if (reservation === undefined) return;
    this.reservations.delete(id);
    const { start, end, amount, isLow } = reservation;
    for (const slot of this.slots) {
      if (slot.start >= end || slot.end <= start) continue;
      slot.used -= amount;
      if (isLow) slot.low -= amount;
    }
    const kept = this.slots.filter(({ used }) => used > 0);
    this.slots.splice(0, this.slots.length, ...kept);
  }

  #place({ id, amount, duration, from, latestEnd }: SlotWant, start: number): SlotReservation {
    const placed = { id, amount, start, end: start + duration, earliestStart: from, isLow: latestEnd === Infinity };
    this.reservations.set(id, placed);
    this.put(placed);
    return placed;
  }

  /** Splits slots at the ends of a reservation, makes new ones where there are none, and adds it to those between. */
  put({ start, end, amount, isLow }: SlotReservation): void {
    this.#cutAt(start);
    this.#cutAt(end);
    let index = this.slots.findIndex((slot) => slot.end > start);
    if (index < 0) index = this.slots.length;
    for (let at = start; at < end; index += 1) {
      const next = this.slots[index]?.start ?? Infinity;
      if (next > at) this.slots.splice(index, 0, { start: at, end: Math.min(end, next), used: 0, low: 0 });
      const slot = this.slots[index] as VariableSlot;
      slot.used += amount;
      if (isLow) slot.low += amount;
      at = slot.end;
    }
  }

  /** Cuts the slot in two that an instant is inside of, if there is one. */
  #cutAt(at: number): void {
    const index = this.slots.findIndex(({ start, end }) => start < at && end > at);
    if (index < 0) return;
    const { start, end, used, low } = this.slots[index] as VariableSlot;
    this.slots.splice(index, 1, { start, end: at, used, low }, { start: at, end, used, low });
  }
}
