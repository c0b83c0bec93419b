import { invariant } from '../shared/index.ts';
import type { Instant } from '../shared/index.ts';
import { byStart, findAgain } from './displace.ts';
import type { Absence, Occupancy } from './occupancy.ts';
import type { Moved, PlacedReservation } from './request.ts';
import type { PlacedReservations } from './placed-reservations.ts';

/** Unavailable capacity: a maintenance window, or resources that failed. */
export interface Block {
  readonly id: number;
  readonly start: Instant;
  /** Undefined: for good. */
  readonly end: Instant | undefined;
  /** Of counted resources: which, ascending; empty for shared ones. */
  readonly resources: readonly number[];
  /** Of shared ones: how much of what the owner offers; of counted ones, how many they are. */
  readonly amount: number;
}

/** What a block did to the reservations in its way. */
export interface BlockOutcome {
  /** Those with another place, or other resources, in order of their former starts, then ids. */
  readonly moved: readonly Moved[];
  /** Those which had begun before the block does, and end where it begins. In the same order. */
  readonly shortened: readonly Moved[];
  /**
   * Those without a place within their limits, or which had begun where the block begins at once: they are off the
   * calendar. In the same order.
   */
  readonly lost: readonly PlacedReservation[];
}

/** The blocks of one resource. */
export class Blocks {
  readonly #blocks = new Map<number, Block>();
  /** The capacity that each has taken: of counted resources, only units that no other block had. */
  readonly #taken = new Map<number, readonly Absence[]>();

  /** All of them, in order of id. */
  list(): readonly Block[] {
    return [...this.#blocks.values()].sort((one, other) => one.id - other.id);
  }

  /** Occupies what a block takes; no reservation is in its way. Cost: O(log n) for each resource. */
  put(book: PlacedReservations, block: Block): void {
    invariant(!this.#blocks.has(block.id), `block ${block.id} is there twice`);
    this.#blocks.set(block.id, block);
    const taken = takenBy(block, book.all);
    this.#taken.set(block.id, taken);
    for (const each of taken) {
      book.all.block(each);
      book.firm?.block(each);
    }
  }

  /** Gives back what a block took and no other takes; false when it is not there. */
  remove(book: PlacedReservations, id: number): boolean {
    const block = this.#blocks.get(id);
    if (block === undefined) return false;
    this.#give(book, id);
    this.#blocks.delete(id);
    const others = this.list().filter((other) => other.start < findEnd(block) && findEnd(other) > block.start);
    // Their parts may lie where this one's were.
    for (const other of others) this.#give(book, other.id);
    for (const other of others) {
      this.#blocks.delete(other.id);
      this.put(book, other);
    }
    return true;
  }

  /** Forgets blocks that have ended. */
  forget(at: Instant): void {
    for (const block of this.list()) {
      if (findEnd(block) > at) continue;
      this.#blocks.delete(block.id);
      this.#taken.delete(block.id);
    }
  }

  #give(book: PlacedReservations, id: number): void {
    for (const each of this.#taken.get(id) ?? []) {
      book.all.unblock(each);
      book.firm?.unblock(each);
    }
    this.#taken.delete(id);
  }
}

/** When a block ends; Infinity for good. */
export function findEnd({ end }: Block): Instant {
  return end ?? Infinity;
}

function takenBy(block: Block, { idle }: Occupancy): readonly Absence[] {
  const { start, amount } = block;
  const end = findEnd(block);
  if (idle === undefined) return [{ start, end, amount, resources: [] }];
  return block.resources.flatMap((resource) =>
    idle.idleWithin(resource, start, end).map((part) => ({ ...part, amount: 1, resources: [resource] })),
  );
}

/**
 * Blocks an interval, and places reservations in the way elsewhere: of counted resources, at the same time on other
 * units if possible, else as early as their limits allow. Holds do not move, because the user who confirms one has seen
 * its times.
 *
 * Of a shared resource those without a latest end go first, then the last placed (highest id) first, until the rest
 * fits. A reservation that has begun ends where the block begins, and is lost if that is now. A hold in the way is lost
 * too, because changed holds are not reported to users.
 */
export function placeBlock(book: PlacedReservations, blocks: Blocks, block: Block, now: Instant): BlockOutcome {
  const hit = (book.all.idle === undefined ? clearShared(book, blocks, block) : clearCounted(book, blocks, block)).sort(
    byStart,
  );
  const moved: Moved[] = [];
  const shortened: Moved[] = [];
  const lost: PlacedReservation[] = [];
  for (const before of hit) {
    const hasBegun = before.start <= now;
    const after = hasBegun
      ? cutAt(before, block.start, now)
      : (findAgain(book, before, before.start, before.start) ??
        (before.isHeld ? undefined : findAgain(book, before, Math.max(now, before.earliestStart))));
    if (after === undefined) {
      lost.push(before);
      continue;
    }
    book.add(after);
    (hasBegun ? shortened : moved).push({ id: before.id, before, after });
  }
  return { moved, shortened, lost };
}

/** The part of a begun reservation until an instant; undefined if nothing is left, and for a hold. */
function cutAt(before: PlacedReservation, end: Instant, now: Instant): PlacedReservation | undefined {
  return end > now && before.isHeld !== true ? { ...before, end } : undefined;
}

/** Blocks counted resources; answers those that had one of them, which are off the calendar. */
function clearCounted(book: PlacedReservations, blocks: Blocks, block: Block): PlacedReservation[] {
  const blocked = new Set(block.resources);
  const hit = book
    .overlapping(block.start, findEnd(block))
    .filter(({ resources }) => resources.some((resource) => blocked.has(resource)));
  for (const { id } of hit) book.remove(id);
  blocks.put(book, block);
  return hit;
}

/** Blocks capacity, and removes from the calendar the reservations that no longer fit. */
function clearShared(book: PlacedReservations, blocks: Blocks, block: Block): PlacedReservation[] {
  blocks.put(book, block);
  const inWindow = book.overlapping(block.start, findEnd(block));
  inWindow.sort(
    (one, other) => Number(one.latestEnd !== undefined) - Number(other.latestEnd !== undefined) || other.id - one.id,
  );
  return inWindow.filter(({ id, start, end }) => {
    if (!book.all.isBeyondAll(Math.max(block.start, start), Math.min(findEnd(block), end))) return false;
    book.remove(id);
    return true;
  });
}
