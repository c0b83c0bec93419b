import { invariant } from './invariant.ts';

/** Rows that a node has room for; it is cut in two when it is full. */
export const rowMax = 64;

/** Columns of a leaf's rows: the pair that is the key, and the value. */
export const leafWidth = 3;

/**
 * Columns of an inner node's rows: the least key of the child, and three numbers that the tree's kind sums up of it.
 */
export const innerWidth = 5;

/**
 * A node of an ordered tree: rows in the order of their keys, one behind the other in one array, so that a search waits
 * for memory once.
 */
export class TreeNode {
  /** By row; undefined in a leaf. */
  readonly children: TreeNode[] | undefined;
  /** Columns of a row. */
  readonly width: number;
  /** The first `count` rows are in use. */
  readonly numbers: Float64Array;
  /** 0 only in an empty root. */
  count = 0;

  /** @param numbers room for `rowMax` rows; made when left out. */
  constructor(children: TreeNode[] | undefined, numbers?: Float64Array) {
    this.children = children;
    this.width = children === undefined ? leafWidth : innerWidth;
    this.numbers = numbers ?? new Float64Array(rowMax * this.width);
  }

  /** The last row whose key is not after this one; -1 when there is none. Cost: O(log rowMax). */
  rowOf(first: number, second: number): number {
    const { numbers, width } = this;
    let low = -1;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const key = numbers[middle * width] as number;
      if (key < first || (key === first && (numbers[middle * width + 1] as number) <= second)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes room for a row before the one at `row`. */
  open(row: number): void {
    this.numbers.copyWithin((row + 1) * this.width, row * this.width, this.count * this.width);
    this.count += 1;
  }

  /** Writes a new row before the one at `row`, in a leaf that has room for it. */
  insert(row: number, first: number, second: number, value: number): void {
    this.open(row);
    const at = row * leafWidth;
    this.numbers[at] = first;
    this.numbers[at + 1] = second;
    this.numbers[at + 2] = value;
  }

  /** Takes a row out. */
  close(row: number): void {
    this.numbers.copyWithin(row * this.width, (row + 1) * this.width, this.count * this.width);
    this.children?.splice(row, 1);
    this.count -= 1;
  }

  /** Moves the rows from `row` on into a new node. */
  split(row: number): TreeNode {
    const tail = new TreeNode(this.children?.splice(row));
    tail.numbers.set(this.numbers.subarray(row * this.width, this.count * this.width));
    tail.count = this.count - row;
    this.count = row;
    return tail;
  }

  /** Moves all rows of the next node behind the own ones; there is room for them. */
  append(next: TreeNode): void {
    this.numbers.set(next.numbers.subarray(0, next.count * this.width), this.count * this.width);
    if (next.children !== undefined) this.children?.push(...next.children);
    this.count += next.count;
  }
}

/** Rows of a leaf, or of an inner node, after loading; there is room for others. */
const loadedRows = rowMax * 0.75;

/**
 * Rows to load a tree with, written in the order of their keys, which are different.
 *
 * They are written where they stay: all leaves share one array. A hundred thousand arrays of their own would have the
 * collector of garbage come by again
 * and again, which takes longer than the loading.
 */
export class LoadedRows {
  readonly #numbers: Float64Array;
  #at = 0;
  #count = 0;

  /** @param countMax the most rows that are written. */
  constructor(countMax: number) {
    this.#numbers = new Float64Array(Math.ceil(countMax / loadedRows) * rowMax * leafWidth);
  }

  /** How many rows are written. */
  get count(): number {
    return this.#count;
  }

  /** Writes the next row. */
  push(first: number, second: number, value: number): void {
    if (this.#count > 0 && this.#count % loadedRows === 0) this.#at += (rowMax - loadedRows) * leafWidth;
    this.#numbers[this.#at] = first;
    this.#numbers[this.#at + 1] = second;
    this.#numbers[this.#at + 2] = value;
    this.#at += leafWidth;
    this.#count += 1;
  }

  /** The leaves that hold the rows. To be called once: the leaves are the caller's. */
  leaves(): TreeNode[] {
    const leaves: TreeNode[] = [];
    const length = rowMax * leafWidth;
    for (let from = 0; from < this.#count; from += loadedRows) {
      const leaf = new TreeNode(
        undefined,
        this.#numbers.subarray(leaves.length * length, (leaves.length + 1) * length),
      );
      leaf.count = Math.min(loadedRows, this.#count - from);
      leaves.push(leaf);
    }
    return leaves;
  }
}

/** The change of one row: its value before and after, -Infinity if there was or is none. */
export interface RowChange {
  first: number;
  was: number;
  is: number;
}

/** Answers whether the walk goes on; it changes nothing. */
export type VisitRow = (first: number, second: number, value: number) => boolean;

/**
 * A map from pairs of numbers to numbers, in the order of the pairs: a balanced tree (B+) of typed arrays.
 *
 * A kind of tree may sum up what its nodes hold. n is the number of rows.
 */
export class OrderedTree {
  protected root = new TreeNode(undefined);
  #size = 0;
  /**
   * The leaf that was looked into last: what is done next is often there. Undefined once it may be none of the tree's
   * any more.
   */
  #lastLeaf: TreeNode | undefined;
  /** There are no summaries: a change of a leaf needs no update above it. */
  readonly #isPlain = this.sumUp === OrderedTree.prototype.sumUp;
  /** Of the row that is set or removed now; one object, for there are many such rows. */
  readonly #change: RowChange = { first: 0, was: -Infinity, is: -Infinity };

  /**
   * Mends what `sumUp` wrote, after one row has changed below: undefined when it takes all of the node to know, false
   * when nothing changed. Cost: O(1) wanted.
   */
  protected mend(_numbers: Float64Array, _at: number, _change: RowChange): boolean | undefined {
    return undefined;
  }

  /**
   * Writes the summary of a node, which is not empty, into the parent's numbers from `at` on, three numbers; false if
   * they were there already.
   * The default summary is empty; kinds of trees override it. Expected cost: O(rowMax).
   */
  protected sumUp(_node: TreeNode, _numbers: Float64Array, _at: number): boolean {
    return false;
  }

  /** How many rows there are. */
  get size(): number {
    return this.#size;
  }

  /** Takes all rows at once in place of those that are there. The rows are the tree's from then on. Cost: O(n). */
  load(rows: LoadedRows): void {
    this.#size = rows.count;
    this.#lastLeaf = undefined;
    let level = rows.leaves();
    while (level.length > 1) {
      const above: TreeNode[] = [];
      for (let from = 0; from < level.length; from += loadedRows) {
        const parent = new TreeNode(level.slice(from, from + loadedRows));
        parent.count = Math.min(loadedRows, level.length - from);
        for (let row = 0; row < parent.count; row += 1) this.#note(parent, row);
        above.push(parent);
      }
      level = above;
    }
    this.root = level[0] ?? new TreeNode(undefined);
  }

  /** The value of a key; undefined when there is none. Cost: O(log n). */
  find(first: number, second: number): number | undefined {
    const leaf = this.#leafOf(first, second);
    const row = leaf.rowOf(first, second);
    return isAt(leaf, row, first, second) ? leaf.numbers[row * leafWidth + 2] : undefined;
  }

  /**
   * The row of the last key that is not after this one, among those with the same first number; undefined when there is
   * none. Cost: O(log n).
   */
  findUpTo(first: number, second: number): { readonly second: number; readonly value: number } | undefined {
    const leaf = this.#leafOf(first, second);
    const row = leaf.rowOf(first, second);
    const { numbers } = leaf;
    if (row < 0 || numbers[row * leafWidth] !== first) return undefined;
    return { second: numbers[row * leafWidth + 1] as number, value: numbers[row * leafWidth + 2] as number };
  }

  /** Sets the value of a key. Cost: O(log n). */
  set(first: number, second: number, value: number): void {
    if (this.#setInLastLeaf(first, second, value)) return;
    this.#change.first = first;
    this.#change.is = value;
    this.#set(this.root, first, second, value);
    if (this.root.count < rowMax) return;
    const root = new TreeNode([this.root, this.root.split(rowMax / 2)]);
    root.count = 2;
    this.#note(root, 0);
    this.#note(root, 1);
    this.root = root;
  }

  /** Takes a key out; false when it was not there. Cost: O(log n). */
  remove(first: number, second: number): boolean {
    if (this.#removeFromLastLeaf(first, second)) return true;
    this.#change.first = first;
    this.#change.is = -Infinity;
    if (!this.#remove(this.root, first, second)) return false;
    this.#size -= 1;
    while (this.root.children !== undefined && this.root.count < 2)
      this.root = this.root.children[0] ?? new TreeNode(undefined);
    return true;
  }

  /**
   * Visits rows in order, from the first whose key is not before this one, until a visit answers false. Cost: O(log n)
   * and O(1) each.
   */
  visit(first: number, second: number, visit: VisitRow): void {
    visitFrom(this.root, first, second, visit);
  }

  /** Compares what inner nodes know with what is below them. Cost: O(n). @throws {InvariantError} */
  checkInvariants(): void {
    let [count, first, second] = [0, -Infinity, -Infinity];
    this.visit(-Infinity, -Infinity, (nextFirst, nextSecond) => {
      invariant(
        nextFirst > first || (nextFirst === first && nextSecond > second),
        `(${nextFirst}, ${nextSecond}) comes after (${first}, ${second})`,
      );
      [count, first, second] = [count + 1, nextFirst, nextSecond];
      return true;
    });
    invariant(count === this.#size, `${count} rows, ${this.#size} counted`);
    this.#checkNode(this.root);
  }

  #checkNode({ children, numbers, count }: TreeNode): void {
    invariant(
      children === undefined || children.length === count,
      `${children?.length ?? 0} children in ${count} rows`,
    );
    children?.forEach((child, row) => {
      const known = numbers.slice(row * innerWidth, (row + 1) * innerWidth);
      const fresh = known.slice();
      writeKey(fresh, 0, child);
      this.sumUp(child, fresh, 2);
      invariant(
        known.every((value, column) => value === fresh[column]),
        `a node knows ${known.join(', ')} of a child with ${fresh.join(', ')}`,
      );
      this.#checkNode(child);
    });
  }

  #leafOf(first: number, second: number): TreeNode {
    const last = this.#lastLeaf;
    if (last !== undefined && isWithin(last, first, second)) return last;
    let node = this.root;
    while (node.children !== undefined) node = node.children[Math.max(0, node.rowOf(first, second))] as TreeNode;
    this.#lastLeaf = node;
    return node;
  }

  /** False, with nothing done, where it would be more than a change within that leaf. */
  #setInLastLeaf(first: number, second: number, value: number): boolean {
    const leaf = this.#lastLeaf;
    if (!this.#isPlain || leaf === undefined || !isWithin(leaf, first, second)) return false;
    const row = leaf.rowOf(first, second);
    if (isAt(leaf, row, first, second)) leaf.numbers[row * leafWidth + 2] = value;
    else if (leaf.count + 1 < rowMax) {
      leaf.insert(row + 1, first, second, value);
      this.#size += 1;
    } else return false;
    return true;
  }

  /**
   * As `#setInLastLeaf`: a leaf with fewer rows might be joined with another, and without its first row the nodes above
   * would need an update.
   */
  #removeFromLastLeaf(first: number, second: number): boolean {
    const leaf = this.#lastLeaf;
    if (!this.#isPlain || leaf === undefined || leaf.count <= rowMax / 2 + 1 || !isWithin(leaf, first, second))
      return false;
    const row = leaf.rowOf(first, second);
    if (row === 0 || !isAt(leaf, row, first, second)) return false;
    leaf.close(row);
    this.#size -= 1;
    return true;
  }

  /** Writes the row of a child. */
  #note(parent: TreeNode, row: number): void {
    const child = (parent.children as TreeNode[])[row] as TreeNode;
    const at = row * innerWidth;
    writeKey(parent.numbers, at, child);
    this.sumUp(child, parent.numbers, at + 2);
  }

  /** Writes the row of a child in which the one row of `#change` has changed; false when nothing in it changed. */
  #mend(parent: TreeNode, row: number): boolean {
    const child = (parent.children as TreeNode[])[row] as TreeNode;
    const at = row * innerWidth;
    const isKeyNew = writeKey(parent.numbers, at, child);
    const isMended = this.mend(parent.numbers, at + 2, this.#change) ?? this.sumUp(child, parent.numbers, at + 2);
    return isMended || isKeyNew;
  }

  /**
   * Sets a value; false if the summary of the node stays the same. The caller must split a node that is full
   * afterwards.
   */
  #set(node: TreeNode, first: number, second: number, value: number): boolean {
    const row = node.rowOf(first, second);
    if (node.children === undefined) {
      if (!isAt(node, row, first, second)) {
        node.insert(row + 1, first, second, value);
        this.#size += 1;
        this.#change.was = -Infinity;
      } else {
        this.#change.was = node.numbers[row * leafWidth + 2] as number;
        node.numbers[row * leafWidth + 2] = value;
      }
      return true;
    }
    const at = Math.max(0, row);
    const child = node.children[at] as TreeNode;
    if (!this.#set(child, first, second, value)) return false;
    if (child.count < rowMax) return this.#mend(node, at);
    node.open(at + 1);
    node.children.splice(at + 1, 0, child.split(rowMax / 2));
    this.#note(node, at);
    this.#note(node, at + 1);
    return true;
  }

  #remove(node: TreeNode, first: number, second: number): boolean {
    const row = node.rowOf(first, second);
    if (node.children === undefined) {
      if (!isAt(node, row, first, second)) return false;
      this.#change.was = node.numbers[row * leafWidth + 2] as number;
      node.close(row);
      return true;
    }
    if (row < 0) return false;
    const child = node.children[row] as TreeNode;
    if (!this.#remove(child, first, second)) return false;
    if (child.count === 0) node.close(row);
    else {
      this.#mend(node, row);
      this.#joinAt(node, row);
    }
    return true;
  }

  /** Joins a child with the next one, or else the one before, when together they are at most half full. */
  #joinAt(node: TreeNode, row: number): void {
    const at = row + 1 < node.count ? row : row - 1;
    if (at < 0) return;
    const [child, next] = [node.children?.[at] as TreeNode, node.children?.[at + 1] as TreeNode];
    if (child.count + next.count > rowMax / 2) return;
    this.#lastLeaf = undefined;
    child.append(next);
    node.close(at + 1);
    this.#note(node, at);
  }
}

/** Writes the key of a node into its row in the parent's numbers; false when it was that already. */
function writeKey(numbers: Float64Array, at: number, { numbers: own }: TreeNode): boolean {
  const isSame = numbers[at] === own[0] && numbers[at + 1] === own[1];
  numbers[at] = own[0] as number;
  numbers[at + 1] = own[1] as number;
  return !isSame;
}

function isAt({ numbers, width }: TreeNode, row: number, first: number, second: number): boolean {
  return row >= 0 && numbers[row * width] === first && numbers[row * width + 1] === second;
}

/** Whether a key belongs into a leaf for certain: it is not before its first and not after its last one. */
function isWithin({ numbers, count }: TreeNode, first: number, second: number): boolean {
  if (count === 0) return false;
  const last = (count - 1) * leafWidth;
  return (
    ((numbers[0] as number) < first || (numbers[0] === first && (numbers[1] as number) <= second)) &&
    ((numbers[last] as number) > first || (numbers[last] === first && (numbers[last + 1] as number) >= second))
  );
}

function visitFrom(node: TreeNode, first: number, second: number, visit: VisitRow): boolean {
  const { numbers, children } = node;
  let row = Math.max(0, node.rowOf(first, second));
  if (children !== undefined) {
    for (; row < node.count; row += 1) if (!visitFrom(children[row] as TreeNode, first, second, visit)) return false;
    return true;
  }
  const before = numbers[row * leafWidth] as number;
  if (node.count > 0 && (before < first || (before === first && (numbers[row * leafWidth + 1] as number) < second)))
    row += 1;
  for (; row < node.count; row += 1) {
    const at = row * leafWidth;
    if (!visit(numbers[at] as number, numbers[at + 1] as number, numbers[at + 2] as number)) return false;
  }
  return true;
}
