/**
 * Lists of whole numbers from 0 on, one behind the other in one array: those of a million reservations as lists of
 * their own are all over the memory, and the
 * collector of garbage goes through them again and again.
 */
export class UnitLists {
  #values = new Uint32Array(64);
  /** By list, its beginning; and the end of the last one. */
  #firsts = new Uint32Array(64);
  #count = 0;

  /** How many lists there are. */
  get count(): number {
    return this.#count;
  }

  /** The beginning of a list in `values`; that of `count` is the end of the last one. */
  firstOf(list: number): number {
    return this.#firsts[list] as number;
  }

  /** All of them, in order; only as long as nothing is added. */
  values(): Uint32Array {
    return this.#values.subarray(0, this.#firsts[this.#count]);
  }

  /** Adds a list behind the others. Cost: that of its length. */
  push(list: readonly number[]): void {
    let at = this.#firsts[this.#count] as number;
    if (at + list.length > this.#values.length) this.#values = enlarge(this.#values, at + list.length);
    for (const value of list) this.#values[at++] = value;
    this.#count += 1;
    if (this.#count === this.#firsts.length) this.#firsts = enlarge(this.#firsts, this.#count + 1);
    this.#firsts[this.#count] = at;
  }

  /** A list, empty where there is none. */
  listAt(list: number): readonly number[] {
    if (list >= this.#count) return [];
    const values: number[] = [];
    for (let at = this.firstOf(list); at < this.firstOf(list + 1); at += 1) values.push(this.#values[at] as number);
    return values;
  }
}

function enlarge(numbers: Uint32Array<ArrayBuffer>, atLeast: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.max(2 * numbers.length, atLeast));
  larger.set(numbers);
  return larger;
}
