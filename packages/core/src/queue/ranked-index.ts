import type { Instant, ProcessorCount } from '../shared/index.ts';
import { OrderTree } from './order-tree.ts';
import { goesBefore, type PlanEntry } from './request-list.ts';
import type { RequestIndex } from './startable-index.ts';

/**
 * Waiting requests that may still be brought forward, by width, in an order that is not that of arrival.
 *
 * W is the number of widths, n that of requests.
 */
export class RankedIndex implements RequestIndex {
  /** Empty ones stay. */
  readonly #byWidth = new Map<ProcessorCount, OrderTree>();
  /** The widths above, narrowest first. */
  #widths: ProcessorCount[] = [];

  /** Puts a request in, or notes its new place. Cost: O(log n), and O(W log W) for a new width. */
  put(entry: PlanEntry): void {
    const tree = this.#byWidth.get(entry.width) ?? this.#addTree(entry.width);
    // What is noted of a place lies along the way down to the entry.
    if (entry.slot >= 0) tree.remove(entry);
    tree.add(entry);
    entry.slot = 0;
  }

  /** Takes a request out; one that is not in stays out. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    if (entry.slot < 0) return;
    this.#byWidth.get(entry.width)?.remove(entry);
    entry.slot = -1;
  }

  /** As `StartableIndex.findFirst`, the first by rank. Cost: O(W log n), and `freeUntil` W times. */
  findFirst(
    now: Instant,
    widthMax: ProcessorCount,
    freeUntil: (width: ProcessorCount) => Instant,
  ): PlanEntry | undefined {
    let first: PlanEntry | undefined;
    for (const width of this.#widths) {
      if (width > widthMax) break;
      const tree = this.#byWidth.get(width);
      if (tree === undefined || tree.size === 0) continue;
      const until = freeUntil(width);
      const found = tree.findFirst(until - now, until);
      if (found !== undefined && (first === undefined || goesBefore(found, first))) first = found;
    }
    return first;
  }

  #addTree(width: ProcessorCount): OrderTree {
    const added = new OrderTree();
    this.#byWidth.set(width, added);
    this.#widths = [...this.#byWidth.keys()].sort((one, other) => one - other);
    return added;
  }
}
