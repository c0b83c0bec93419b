/** Children of a node: their numbers fill two lines of a processor's cache, and a tree of thousands has four levels. */
const arity = 8;

/**
 * Pairs of numbers in slots, with the least of each kind over neighbours, so that the first pair below given bounds is
 * found.
 *
 * Nodes of all levels lie in one array, the slots first, each as its two numbers side by side: a search of a long queue
 * waits for
 * memory more than for anything else. Empty slots hold Infinity.
 */
export class LeastTree {
  /** Slots. */
  readonly size: number;
  /** Where each level begins, in nodes; the slots first, the root last. */
  readonly #levels: number[] = [];
  readonly #numbers: Float64Array;

  /** @param sizeMin slots wanted at least; 1 or more. */
  constructor(sizeMin: number) {
    let count = arity * Math.ceil(sizeMin / arity);
    this.size = count;
    let nodes = 0;
    for (; count > 1; count = Math.ceil(count / arity)) {
      this.#levels.push(nodes);
      // Every level is whole nodes of the next, so that no search looks beyond its end.
      nodes += arity * Math.ceil(count / arity);
    }
    this.#levels.push(nodes);
    this.#numbers = new Float64Array(2 * (nodes + 1)).fill(Infinity);
  }

  /** The least first number; Infinity without one. */
  get leastFirst(): number {
    return this.#numbers[this.#numbers.length - 2] as number;
  }

  /** The least second number; Infinity without one. */
  get leastSecond(): number {
    return this.#numbers[this.#numbers.length - 1] as number;
  }

  /** Puts a pair into a slot. Cost: O(log size). */
  set(slot: number, first: number, second: number): void {
    const numbers = this.#numbers;
    let index = slot;
    let least = first;
    let other = second;
    for (let level = 0; level < this.#levels.length; level += 1) {
      const at = 2 * ((this.#levels[level] as number) + index);
      if (numbers[at] === least && numbers[at + 1] === other) return;
      numbers[at] = least;
      numbers[at + 1] = other;
      index = Math.floor(index / arity);
      const from = 2 * ((this.#levels[level] as number) + index * arity);
      if (level + 1 === this.#levels.length) return;
      for (let child = from; child < from + 2 * arity; child += 2) {
        least = Math.min(least, numbers[child] as number);
        other = Math.min(other, numbers[child + 1] as number);
      }
    }
  }

  /**
   * The first slot whose first number is at most `firstMax` or whose second is at most `secondMax`; -1 without one.
   * Cost: O(log size).
   */
  findFirst(firstMax: number, secondMax: number): number {
    const numbers = this.#numbers;
    // Empty slots hold Infinity; they are never wanted, not even by one who takes anything.
    const firstMost = Math.min(firstMax, Number.MAX_VALUE);
    const secondMost = Math.min(secondMax, Number.MAX_VALUE);
    if (this.leastFirst > firstMost && this.leastSecond > secondMost) return -1;
    let index = 0;
    for (let level = this.#levels.length - 2; level >= 0; level -= 1) {
      index *= arity;
      const begin = this.#levels[level] as number;
      while (
        (numbers[2 * (begin + index)] as number) > firstMost &&
        (numbers[2 * (begin + index) + 1] as number) > secondMost
      )
        index += 1;
    }
    return index;
  }
}
