import type { AvailabilityProfile } from '../profile/index.ts';
import type { Instant, ProcessorCount } from '../shared/index.ts';

/** Processors that are set aside for a time: requests are packed around them. */
export interface ReservationBlock {
  readonly id: number;
  readonly start: Instant;
  /** Later than `start`. */
  readonly end: Instant;
  readonly count: ProcessorCount;
}

interface Piece {
  readonly start: Instant;
  readonly end: Instant;
  readonly width: ProcessorCount;
}

/** A block with what it has of the profile. */
interface PlacedBlock {
  readonly reservationBlock: ReservationBlock;
  /** Disjoint, sorted by start, each as wide as the block or as what there was. */
  pieces: readonly Piece[];
  /** Whether a piece is narrower than the block. */
  isShort: boolean;
}

/**
 * The reservationBlocks of one plan, in the order in which they were raised.
 *
 * Invariant: at every instant a block has its count, or what running requests and the reservationBlocks raised before
 * it leave. If one has less than its count, nothing is free, so that processors that a request gives back early go to
 * the reservationBlocks first.
 */
export class ReservationBlocks {
  readonly #byId = new Map<number, PlacedBlock>();
  /** Of reservationBlocks with `isShort`. */
  #shortCount = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** In the order in which they were raised. */
  *values(): Generator<ReservationBlock> {
    for (const { reservationBlock } of this.#byId.values()) yield reservationBlock;
  }

  /** An independent copy, for a copy of the profile. */
  clone(): ReservationBlocks {
    const copy = new ReservationBlocks();
    for (const [id, held] of this.#byId) copy.#byId.set(id, { ...held });
    copy.#shortCount = this.#shortCount;
    return copy;
  }

  /** Raises a block: it takes what is free, up to its count. Cost: O(log n + segments of it). */
  raise(profile: AvailabilityProfile, reservationBlock: ReservationBlock): void {
    const held: PlacedBlock = { reservationBlock, pieces: [], isShort: false };
    this.#byId.set(reservationBlock.id, held);
    this.#take(profile, held);
  }

  /**
   * Takes a block away; one that is not there stays away. Cost: O(log n + segments of it, and of reservationBlocks that
   * are short).
   */
  raze(profile: AvailabilityProfile, id: number): void {
    const held = this.#byId.get(id);
    if (held === undefined) return;
    this.#giveBack(profile, held);
    this.#byId.delete(id);
    this.topUp(profile);
  }

  /**
   * Gives processors that have become free to blocks that are short, the first to have been raised first. Cost: O(1) if
   * none is short.
   */
  topUp(profile: AvailabilityProfile): void {
    if (this.#shortCount === 0) return;
    for (const held of this.#byId.values()) {
      if (!held.isShort) continue;
      this.#giveBack(profile, held);
      this.#take(profile, held);
    }
  }

  /**
   * Processors that reservationBlocks set aside at an instant, whether they have them or not. Cost:
   * O(reservationBlocks).
   */
  countAt(at: Instant): ProcessorCount {
    let count = 0;
    for (const { reservationBlock } of this.#byId.values())
      if (reservationBlock.start <= at && at < reservationBlock.end) count += reservationBlock.count;
    return count;
  }

  #take(profile: AvailabilityProfile, held: PlacedBlock): void {
    const { start, end, count } = held.reservationBlock;
    const from = Math.max(start, profile.from);
    const pieces: Piece[] = [];
    if (from < end) {
      for (const segment of profile.segments(from, end)) {
        const width = Math.min(count, segment.free);
        held.isShort ||= width < count;
        if (width > 0) pieces.push({ start: Math.max(from, segment.start), end: Math.min(end, segment.end), width });
      }
    }
    for (const piece of pieces) profile.reserve(piece.width, piece.start, piece.end);
    held.pieces = pieces;
    if (held.isShort) this.#shortCount += 1;
  }

  #giveBack(profile: AvailabilityProfile, held: PlacedBlock): void {
    for (const { width, start, end } of held.pieces) profile.release(width, start, end);
    if (held.isShort) this.#shortCount -= 1;
    held.isShort = false;
  }
}
