import type { AvailabilityProfile } from '../profile/index.ts';
import type { Instant, ProcessorCount } from '../shared/index.ts';

/** Processors that are set aside for a time: requests are packed around them. */
export interface Wall {
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

/** A wall with what it has of the profile. */
interface HeldWall {
  readonly wall: Wall;
  /** Disjoint, sorted by start, each as wide as the wall or as what there was. */
  pieces: readonly Piece[];
  /** Whether a piece is narrower than the wall. */
  isShort: boolean;
}

/**
 * The walls of one plan, in the order in which they were raised.
 *
 * Invariant: at every instant a wall has its count, or what running requests and the walls raised before it leave.
 * Where one has less than
 * its count nothing is free, so that what a request gives back early goes to the walls first.
 */
export class Walls {
  readonly #byId = new Map<number, HeldWall>();
  /** Of walls with `isShort`. */
  #shortCount = 0;

  get size(): number {
    return this.#byId.size;
  }

  /** In the order in which they were raised. */
  *values(): Generator<Wall> {
    for (const { wall } of this.#byId.values()) yield wall;
  }

  /** An independent copy, for a copy of the profile. */
  clone(): Walls {
    const copy = new Walls();
    for (const [id, held] of this.#byId) copy.#byId.set(id, { ...held });
    copy.#shortCount = this.#shortCount;
    return copy;
  }

  /** Raises a wall: it takes what is free, up to its count. Cost: O(log n + segments of it). */
  raise(profile: AvailabilityProfile, wall: Wall): void {
    const held: HeldWall = { wall, pieces: [], isShort: false };
    this.#byId.set(wall.id, held);
    this.#take(profile, held);
  }

  /**
   * Takes a wall away; one that is not there stays away. Cost: O(log n + segments of it, and of walls that are short).
   */
  raze(profile: AvailabilityProfile, id: number): void {
    const held = this.#byId.get(id);
    if (held === undefined) return;
    this.#giveBack(profile, held);
    this.#byId.delete(id);
    this.topUp(profile);
  }

  /**
   * Gives to walls that are short what has become free, the first to have been raised first. Cost: O(1) where none is.
   */
  topUp(profile: AvailabilityProfile): void {
    if (this.#shortCount === 0) return;
    for (const held of this.#byId.values()) {
      if (!held.isShort) continue;
      this.#giveBack(profile, held);
      this.#take(profile, held);
    }
  }

  /** Processors that walls set aside at an instant, whether they have them or not. Cost: O(walls). */
  countAt(at: Instant): ProcessorCount {
    let count = 0;
    for (const { wall } of this.#byId.values()) if (wall.start <= at && at < wall.end) count += wall.count;
    return count;
  }

  #take(profile: AvailabilityProfile, held: HeldWall): void {
    const { start, end, count } = held.wall;
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

  #giveBack(profile: AvailabilityProfile, held: HeldWall): void {
    for (const { width, start, end } of held.pieces) profile.release(width, start, end);
    if (held.isShort) this.#shortCount -= 1;
    held.isShort = false;
  }
}
