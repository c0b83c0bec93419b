import { invariant } from './invariant.ts';

/**
 * A pseudo-random generator whose streams have names, so that each entity of a simulation has rng of its own.
 *
 * xoshiro128++ of Blackman and Vigna; the state is a hash of the seed and the names that lead to the stream. Only whole
 * numbers
 * of 32 bits are computed with, so a stream is the same everywhere.
 */
export class Prng {
  /** The seed and the names, from which streams below are named on. */
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param name the same name, the same stream. */
  constructor(name: string) {
    this.#name = name;
    [this.#a, this.#b, this.#c, this.#d] = hashWords(name);
  }

  /** The stream of that name below this one; what was drawn from this one so far does not matter. */
  fork(name: string): Prng {
    return new Prng(`${this.#name}/${name}`);
  }

  /** A whole number in 0 .. 2^32 - 1. */
  word(): number {
    const sum = (this.#a + this.#d) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + this.#a) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A number in [0, 1), one of 2^53 that are equally likely. */
  fraction(): number {
    return ((this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6)) / 2 ** 53;
  }

  /** A whole number in 0 .. below - 1, all equally likely. @param below in 1 .. 2^32. */
  below(below: number): number {
    invariant(
      Number.isInteger(below) && below >= 1 && below <= 2 ** 32,
      `below is ${below}; expected a whole number in 1..2^32`,
    );
    // The last words, which do not fill a whole round, would favour small numbers.
    const limit = 2 ** 32 - (2 ** 32 % below);
    let word = this.word();
    while (word >= limit) word = this.word();
    return word % below;
  }
}

/** Four words that depend on every letter of a text; never all 0. */
function hashWords(text: string): [number, number, number, number] {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  const next = (): number => {
    // splitmix32, which separates neighbouring hashes.
    hash = (hash + 0x9e3779b9) | 0;
    let word = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
    word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
    return word ^ (word >>> 15);
  };
  return [next() | 1, next(), next(), next()];
}
