import type { Duration, Instant, ProcessorMillis } from '../shared/index.ts';
import { goesBefore, type PlanEntry } from './request-list.ts';

/**
 * One side may have at most this many times the entries of the other (Adams' trees, with the two numbers that are
 * proven to work together).
 */
const sideMax = 3;
/** An inner child with less than this many times the entries of the outer one is moved by one rotation. */
const innerMax = 2;

/** An entry, those before it on its left and those behind it on its right, and what is known of all of them. */
class TreeNode {
  readonly entry: PlanEntry;
  left: TreeNode | undefined;
  right: TreeNode | undefined;
  size = 1;
  leastWalltime: Duration;
  leastPlace: Instant;
  work: ProcessorMillis;

  constructor(entry: PlanEntry) {
    this.entry = entry;
    this.leastWalltime = entry.walltime;
    this.leastPlace = entry.place;
    this.work = entry.width * entry.walltime;
  }
}

/** What an order has before some entry. */
export interface Ahead {
  readonly count: number;
  /** Widths times walltimes. */
  readonly work: ProcessorMillis;
}

/**
 * Waiting requests by rank, and by arrival where ranks are equal, in a weight-balanced tree. n is their number.
 *
 * Unlike the slots of a `LeastTree` it takes a request in anywhere in O(log n).
 */
export class OrderTree {
  #root: TreeNode | undefined;

  get size(): number {
    return getSize(this.#root);
  }

  /** The least walltime; Infinity without an entry. */
  get leastWalltime(): Duration {
    return this.#root?.leastWalltime ?? Infinity;
  }

  /** The least place; Infinity without one. */
  get leastPlace(): Instant {
    return this.#root?.leastPlace ?? Infinity;
  }

  /** Puts an entry in that is not in. Cost: O(log n). */
  add(entry: PlanEntry): void {
    this.#root = insert(this.#root, entry);
  }

  /** Takes an entry out; one that is not in stays out. Cost: O(log n). */
  remove(entry: PlanEntry): void {
    this.#root = without(this.#root, entry);
  }

  /** The last entry that goes before one that is not in; undefined without one. Cost: O(log n). */
  findLastBefore(entry: PlanEntry): PlanEntry | undefined {
    let last: PlanEntry | undefined;
    for (let node = this.#root; node !== undefined; ) {
      const isBehind = goesBefore(node.entry, entry);
      if (isBehind) last = node.entry;
      node = isBehind ? node.right : node.left;
    }
    return last;
  }

  /** The requests of at most this rank, which a new one with it would be behind. Cost: O(log n). */
  sumProvisioning(rank: number): Ahead {
    let count = 0;
    let work = 0;
    for (let node = this.#root; node !== undefined; ) {
      if (node.entry.rank > rank) {
        node = node.left;
        continue;
      }
      count += getSize(node.left) + 1;
      work += (node.left?.work ?? 0) + node.entry.width * node.entry.walltime;
      node = node.right;
    }
    return { count, work };
  }

  /**
   * The first whose walltime is at most `walltimeMax` or whose place begins by `placeMax`; undefined without one. Cost:
   * O(log n).
   */
  findFirst(walltimeMax: Duration, placeMax: Instant): PlanEntry | undefined {
    // No place is Infinity, and is never wanted.
    const placeMost = Math.min(placeMax, Number.MAX_VALUE);
    const isWanted = (one: { readonly leastWalltime: Duration; readonly leastPlace: Instant } | undefined): boolean =>
      one !== undefined && (one.leastWalltime <= walltimeMax || one.leastPlace <= placeMost);
    let node = this.#root;
    if (!isWanted(node)) return undefined;
    while (node !== undefined) {
      if (isWanted(node.left)) node = node.left;
      else if (node.entry.walltime <= walltimeMax || node.entry.place <= placeMost) return node.entry;
      else node = node.right;
    }
    return undefined;
  }
}

function getSize(node: TreeNode | undefined): number {
  return node === undefined ? 0 : node.size;
}

function insert(node: TreeNode | undefined, entry: PlanEntry): TreeNode {
  if (node === undefined) return new TreeNode(entry);
  if (goesBefore(entry, node.entry)) node.left = insert(node.left, entry);
  else node.right = insert(node.right, entry);
  return balance(node);
}

function without(node: TreeNode | undefined, entry: PlanEntry): TreeNode | undefined {
  if (node === undefined) return undefined;
  if (node.entry === entry) return join(node.left, node.right);
  if (goesBefore(entry, node.entry)) node.left = without(node.left, entry);
  else node.right = without(node.right, entry);
  return balance(node);
}

/** One tree of two, all of the first going before the second. */
function join(left: TreeNode | undefined, right: TreeNode | undefined): TreeNode | undefined {
  if (left === undefined) return right;
  if (right === undefined) return left;
  let first = right;
  while (first.left !== undefined) first = first.left;
  first.right = without(right, first.entry);
  first.left = left;
  return balance(first);
}

/** Makes good what one entry more or less on one side has upset. */
function balance(node: TreeNode): TreeNode {
  const { left, right } = node;
  if (getSize(left) + getSize(right) > 1) {
    if (right !== undefined && right.size > sideMax * getSize(left)) return raiseRight(node, right);
    if (left !== undefined && left.size > sideMax * getSize(right)) return raiseLeft(node, left);
  }
  return note(node);
}

function raiseRight(node: TreeNode, right: TreeNode): TreeNode {
  const inner = right.left;
  const risen = inner === undefined || inner.size < innerMax * getSize(right.right) ? right : turnRight(right, inner);
  return turnLeft(node, risen);
}

function raiseLeft(node: TreeNode, left: TreeNode): TreeNode {
  const inner = left.right;
  const risen = inner === undefined || inner.size < innerMax * getSize(left.left) ? left : turnLeft(left, inner);
  return turnRight(node, risen);
}

/** Puts the right child above its parent. */
function turnLeft(node: TreeNode, right: TreeNode): TreeNode {
  node.right = right.left;
  right.left = note(node);
  return note(right);
}

/** Puts the left child above its parent. */
function turnRight(node: TreeNode, left: TreeNode): TreeNode {
  node.left = left.right;
  left.right = note(node);
  return note(left);
}

/** Sums up what is at and below a node. */
function note(node: TreeNode): TreeNode {
  const { entry, left, right } = node;
  node.size = getSize(left) + getSize(right) + 1;
  node.work =
    entry.width * entry.walltime + (left === undefined ? 0 : left.work) + (right === undefined ? 0 : right.work);
  node.leastWalltime = Math.min(
    entry.walltime,
    left === undefined ? Infinity : left.leastWalltime,
    right === undefined ? Infinity : right.leastWalltime,
  );
  node.leastPlace = Math.min(
    entry.place,
    left === undefined ? Infinity : left.leastPlace,
    right === undefined ? Infinity : right.leastPlace,
  );
  return node;
}
