/**
 * A priority queue: the element that comes before all others is taken first. Equal elements come in no particular
 * order.
 */
export class Heap<T> {
  readonly #isBefore: (one: T, other: T) => boolean;
  /** The element at i comes no later than those at 2i + 1 and 2i + 2. */
  readonly #elements: T[];

  /** @param elements in an order that `isBefore` makes a heap, as another heap's `elements` are. */
  constructor(isBefore: (one: T, other: T) => boolean, elements: readonly T[] = []) {
    this.#isBefore = isBefore;
    this.#elements = elements.slice();
  }

  get size(): number {
    return this.#elements.length;
  }

  /** All elements, the first one first, the others in no particular order. */
  get elements(): readonly T[] {
    return this.#elements;
  }

  /** The first element; undefined when there is none. */
  get first(): T | undefined {
    return this.#elements[0];
  }

  /** Cost: O(log size). */
  push(element: T): void {
    const elements = this.#elements;
    let hole = elements.length;
    elements.push(element);
    while (hole > 0) {
      const parent = (hole - 1) >>> 1;
      if (!this.#isBefore(element, elements[parent] as T)) break;
      elements[hole] = elements[parent] as T;
      hole = parent;
    }
    elements[hole] = element;
  }

  /** Takes the first element out. Cost: O(log size). */
  pop(): T | undefined {
    const elements = this.#elements;
    const first = elements[0];
    const last = elements.pop();
    if (elements.length > 0) this.#sink(last as T);
    return first;
  }

  #sink(element: T): void {
    const elements = this.#elements;
    const half = elements.length >>> 1;
    let hole = 0;
    while (hole < half) {
      let child = 2 * hole + 1;
      if (child + 1 < elements.length && this.#isBefore(elements[child + 1] as T, elements[child] as T)) child += 1;
      if (!this.#isBefore(elements[child] as T, element)) break;
      elements[hole] = elements[child] as T;
      hole = child;
    }
    elements[hole] = element;
  }
}
