/** Rows that a node has room for; it is cut in two when it is full. */
export const rowMax = 64;

const nothing = new Float64Array(0);

/** A node of an ordered tree: rows in the order of their keys, each column in an array of its own. */
export class TreeNode {
  /** By row; undefined in a leaf. */
  readonly children: TreeNode[] | undefined;
  /** The key of each row; of an inner node, the least key of the child. The first `count` are in use. */
  readonly first = new Float64Array(rowMax);
  readonly second = new Float64Array(rowMax);
  /** In a leaf the rows' values; in an inner node, and the two below, what the tree's kind sums up of each child. */
  readonly value = new Float64Array(rowMax);
  readonly most: Float64Array;
  readonly least: Float64Array;
  /** 0 only in an empty root. */
  count = 0;

  constructor(children: TreeNode[] | undefined) {
    this.children = children;
    this.most = children === undefined ? nothing : new Float64Array(rowMax);
    this.least = children === undefined ? nothing : new Float64Array(rowMax);
  }

  /** The last row whose key is not after this one; -1 when there is none. Cost: O(log rowMax). */
  rowOf(first: number, second: number): number {
    let low = -1;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const key = this.first[middle] as number;
      if (key < first || (key === first && (this.second[middle] as number) <= second)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes room for a row before the one at `row`. */
  open(row: number): void {
    for (const column of this.#columns()) column.copyWithin(row + 1, row, this.count);
    this.count += 1;
  }

  /** Takes a row out. */
  close(row: number): void {
    for (const column of this.#columns()) column.copyWithin(row, row + 1, this.count);
    this.children?.splice(row, 1);
    this.count -= 1;
  }

  /** Moves the rows from `row` on into a new node. */
  split(row: number): TreeNode {
    const tail = new TreeNode(this.children?.splice(row));
    const tailColumns = tail.#columns();
    for (const [index, column] of this.#columns().entries()) tailColumns[index]?.set(column.subarray(row, this.count));
    tail.count = this.count - row;
    this.count = row;
    return tail;
  }

  /** Moves all rows of the next node behind the own ones; there is room for them. */
  append(next: TreeNode): void {
    const nextColumns = next.#columns();
    for (const [index, column] of this.#columns().entries()) column.set((nextColumns[index] as Float64Array).subarray(0, next.count), this.count);
    if (next.children !== undefined) this.children?.push(...next.children);
    this.count += next.count;
  }

  #columns(): Float64Array[] {
    return this.children === undefined ? [this.first, this.second, this.value] : [this.first, this.second, this.value, this.most, this.least];
  }
}

/** Rows to load a tree with, in ascending order of their keys, which are different: a column each. */
export interface SortedRows {
  readonly first: Float64Array;
  readonly second: Float64Array;
  readonly value: Float64Array;
}

/**
 * A map from pairs of numbers to numbers, in the order of the pairs, of which each node sums its rows up: a balanced tree (B+) of typed arrays.
 *
 * What is summed up, and what that is good for, is its kind's affair. Numbers lie side by side: a tree of objects would spend its time
 * waiting for memory. n is the number of rows.
 */
export abstract class OrderedTree {
  protected root = new TreeNode(undefined);
  #size = 0;

  /** Writes what there is to know of a node, which is not empty, into `value`, `most` and `least` of its parent's row. Cost: O(rowMax) wanted. */
  protected abstract sumUp(node: TreeNode, parent: TreeNode, row: number): void;

  /** How many rows there are. */
  get size(): number {
    return this.#size;
  }

  /** Takes all rows at once in place of those that are there. Cost: O(n). */
  load(rows: SortedRows): void {
    const fill = rowMax * 0.75;
    this.#size = rows.first.length;
    let level: TreeNode[] = [];
    for (let from = 0; from < this.#size; from += fill) {
      const leaf = new TreeNode(undefined);
      leaf.count = Math.min(fill, this.#size - from);
      leaf.first.set(rows.first.subarray(from, from + leaf.count));
      leaf.second.set(rows.second.subarray(from, from + leaf.count));
      leaf.value.set(rows.value.subarray(from, from + leaf.count));
      level.push(leaf);
    }
    while (level.length > 1) {
      const above: TreeNode[] = [];
      for (let from = 0; from < level.length; from += fill) {
        const parent = new TreeNode(level.slice(from, from + fill));
        parent.count = Math.min(fill, level.length - from);
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
    return isAt(leaf, row, first, second) ? leaf.value[row] : undefined;
  }

  /** The row of the last key that is not after this one, among those with the same first number; undefined when there is none. Cost: O(log n). */
  findUpTo(first: number, second: number): { readonly second: number; readonly value: number } | undefined {
    const leaf = this.#leafOf(first, second);
    const row = leaf.rowOf(first, second);
    if (row < 0 || leaf.first[row] !== first) return undefined;
    return { second: leaf.second[row] as number, value: leaf.value[row] as number };
  }

  /** Sets the value of a key. Cost: O(log n). */
  set(first: number, second: number, value: number): void {
    const tail = this.#set(this.root, first, second, value);
    if (tail === undefined) return;
    const root = new TreeNode([this.root, tail]);
    root.count = 2;
    this.#note(root, 0);
    this.#note(root, 1);
    this.root = root;
  }

  /** Takes a key out; false when it was not there. Cost: O(log n). */
  remove(first: number, second: number): boolean {
    if (!this.#remove(this.root, first, second)) return false;
    this.#size -= 1;
    while (this.root.children !== undefined && this.root.count < 2) this.root = this.root.children[0] ?? new TreeNode(undefined);
    return true;
  }

  /** Visits rows in order, from the first whose key is not before this one, until a visit answers false. Cost: O(log n) and O(1) each. */
  visit(first: number, second: number, visit: (first: number, second: number, value: number) => boolean): void {
    visitFrom(this.root, first, second, visit);
  }

  #leafOf(first: number, second: number): TreeNode {
    let node = this.root;
    while (node.children !== undefined) node = node.children[Math.max(0, node.rowOf(first, second))] as TreeNode;
    return node;
  }

  #note(parent: TreeNode, row: number): void {
    const child = (parent.children as TreeNode[])[row] as TreeNode;
    parent.first[row] = child.first[0] as number;
    parent.second[row] = child.second[0] as number;
    this.sumUp(child, parent, row);
  }

  /** Answers with the later half of a node that it cut in two. */
  #set(node: TreeNode, first: number, second: number, value: number): TreeNode | undefined {
    const row = node.rowOf(first, second);
    if (node.children === undefined) {
      if (!isAt(node, row, first, second)) {
        node.open(row + 1);
        node.first[row + 1] = first;
        node.second[row + 1] = second;
        node.value[row + 1] = value;
        this.#size += 1;
      } else node.value[row] = value;
    } else {
      const at = Math.max(0, row);
      const tail = this.#set(node.children[at] as TreeNode, first, second, value);
      this.#note(node, at);
      if (tail !== undefined) {
        node.open(at + 1);
        node.children.splice(at + 1, 0, tail);
        this.#note(node, at + 1);
      }
    }
    return node.count < rowMax ? undefined : node.split(rowMax / 2);
  }

  #remove(node: TreeNode, first: number, second: number): boolean {
    const row = node.rowOf(first, second);
    if (node.children === undefined) {
      if (!isAt(node, row, first, second)) return false;
      node.close(row);
      return true;
    }
    if (row < 0) return false;
    const child = node.children[row] as TreeNode;
    if (!this.#remove(child, first, second)) return false;
    if (child.count === 0) node.close(row);
    else {
      this.#note(node, row);
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
    child.append(next);
    node.close(at + 1);
    this.#note(node, at);
  }
}

function isAt(node: TreeNode, row: number, first: number, second: number): boolean {
  return row >= 0 && node.first[row] === first && node.second[row] === second;
}

function visitFrom(node: TreeNode, first: number, second: number, visit: (first: number, second: number, value: number) => boolean): boolean {
  let row = Math.max(0, node.rowOf(first, second));
  if (node.children !== undefined) {
    for (; row < node.count; row += 1) if (!visitFrom(node.children[row] as TreeNode, first, second, visit)) return false;
    return true;
  }
  const before = node.first[row] as number;
  if (node.count > 0 && (before < first || (before === first && (node.second[row] as number) < second))) row += 1;
  for (; row < node.count; row += 1) {
    if (!visit(node.first[row] as number, node.second[row] as number, node.value[row] as number)) return false;
  }
  return true;
}
