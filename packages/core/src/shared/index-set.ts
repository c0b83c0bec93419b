/** Members first, first + 1, ... (`count` of them). */
export interface IndexRange {
  readonly first: number;
  readonly count: number;
}

const chunkBits = 12;
const chunkSize = 1 << chunkBits;
const chunkMask = chunkSize - 1;
const wordsPerChunk = chunkSize / 32;

/** A stretch of `chunkSize` indexes of which some are members; words that are not there hold none. */
interface PartialChunk {
  words: Uint32Array;
  count: number;
}

/** `true` stands for a chunk whose indexes are all members, so that complete chunks cost nothing. */
type Chunk = PartialChunk | true | undefined;

/**
 * A set of whole numbers from 0 to below 2^31 that costs a bit per number at most, and next to nothing where it is
 * dense or empty.
 *
 * `add`, `delete` and `has` are O(1); finding the next member is O(1) amortised where members are taken from the front.
 */
export class IndexSet {
  readonly #chunks: Chunk[] = [];
  #size = 0;
  /** No member is below it. */
  #lowest = 0;

  /** The set of all members of these ranges, which may overlap. */
  static fromRanges(ranges: Iterable<IndexRange>): IndexSet {
    const set = new IndexSet();
    for (const range of ranges) set.addRange(range.first, range.count);
    return set;
  }

  /** How many members there are. */
  get size(): number {
    return this.#size;
  }

  /** Whether `index` is a member. */
  has(index: number): boolean {
    const chunk = this.#chunks[index >>> chunkBits];
    if (chunk === undefined || chunk === true) return chunk === true;
    return ((chunk.words[(index & chunkMask) >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  /** Makes `index` a member; false when it was one. */
  add(index: number): boolean {
    const at = index >>> chunkBits;
    let chunk = this.#chunks[at];
    if (chunk === true) return false;
    if (chunk === undefined) chunk = this.#openChunk(at, 0);
    const word = (index & chunkMask) >>> 5;
    if (word >= chunk.words.length) growTo(chunk, word + 1);
    const bit = 1 << (index & 31);
    const bits = chunk.words[word] ?? 0;
    if ((bits & bit) !== 0) return false;
    chunk.words[word] = bits | bit;
    if (++chunk.count === chunkSize) this.#chunks[at] = true;
    this.#size++;
    if (index < this.#lowest) this.#lowest = index;
    return true;
  }

  /** Makes `index` no member; false when it was none. */
  delete(index: number): boolean {
    if (!this.has(index)) return false;
    const at = index >>> chunkBits;
    let chunk = this.#chunks[at];
    if (chunk === true || chunk === undefined) chunk = this.#openChunk(at, chunkSize);
    const word = (index & chunkMask) >>> 5;
    chunk.words[word] = (chunk.words[word] ?? 0) & ~(1 << (index & 31));
    if (--chunk.count === 0) this.#chunks[at] = undefined;
    this.#size--;
    return true;
  }

  /** Adds `count` members from `first` on. Cost: O(count / 4096) where chunks are covered whole. */
  addRange(first: number, count: number): void {
    const end = first + count;
    let index = first;
    while (index < end) {
      const at = index >>> chunkBits;
      const isWhole = (index & chunkMask) === 0 && end - index >= chunkSize;
      if (isWhole) {
        this.#fillChunk(at);
        index += chunkSize;
      } else {
        this.add(index);
        index++;
      }
    }
    if (count > 0 && first < this.#lowest) this.#lowest = first;
  }

  /** Adds all members of `other`. */
  addAll(other: IndexSet): void {
    for (const range of other.ranges()) this.addRange(range.first, range.count);
  }

  /** Removes all members. */
  clear(): void {
    this.#chunks.length = 0;
    this.#size = 0;
    this.#lowest = 0;
  }

  /** The least member that is `from` or more. */
  findFrom(from: number): number | undefined {
    if (this.#size === 0) return undefined;
    const start = Math.max(from, this.#lowest);
    const found = this.#scan(start, 0);
    if (from <= this.#lowest && found !== undefined) this.#lowest = found;
    return found;
  }

  /** The greatest member that is `upTo` or less. Cost: O(distance / 32). */
  findUpTo(upTo: number): number | undefined {
    if (this.#size === 0 || upTo < 0) return undefined;
    const last = Math.min(upTo, this.#chunks.length * chunkSize - 1);
    let bits = last & chunkMask;
    for (let at = last >>> chunkBits; at >= 0; at--) {
      const found = scanChunkDown(this.#chunks[at], bits);
      if (found !== undefined) return at * chunkSize + found;
      bits = chunkMask;
    }
    return undefined;
  }

  /** The members in ascending order, as ranges that do not touch. The set must not change meanwhile. */
  *ranges(): Generator<IndexRange> {
    let first = this.findFrom(0);
    while (first !== undefined) {
      const end: number = this.#scan(first, -1) ?? this.#chunks.length * chunkSize;
      yield { first, count: end - first };
      first = this.findFrom(end);
    }
  }

  /** The members in ascending order. The set must not change meanwhile. */
  *values(): Generator<number> {
    for (const range of this.ranges()) {
      for (let offset = 0; offset < range.count; offset++) yield range.first + offset;
    }
  }

  /** The members of both sets in ascending order. Cost: O(greatest member / 32), less where either has whole gaps. */
  *valuesIn(other: IndexSet): Generator<number> {
    const length = Math.min(this.#chunks.length, other.#chunks.length);
    for (let at = 0; at < length; at++) yield* listShared(this.#chunks[at], other.#chunks[at], at * chunkSize);
  }

  /** The least index from `start` on whose bit, xor `inversion` (0 or -1), is set; undefined beyond the last chunk. */
  #scan(start: number, inversion: 0 | -1): number | undefined {
    let index = start;
    for (let at = start >>> chunkBits; at < this.#chunks.length; at++) {
      const found = scanChunk(this.#chunks[at], index & chunkMask, inversion);
      if (found !== undefined) return at * chunkSize + found;
      index = (at + 1) * chunkSize;
    }
    return undefined;
  }

  #openChunk(at: number, count: 0 | typeof chunkSize): PartialChunk {
    while (this.#chunks.length <= at) this.#chunks.push(undefined);
    const chunk = { words: new Uint32Array(count === 0 ? 1 : wordsPerChunk), count };
    if (count !== 0) chunk.words.fill(0xffff_ffff);
    this.#chunks[at] = chunk;
    return chunk;
  }

  #fillChunk(at: number): void {
    while (this.#chunks.length <= at) this.#chunks.push(undefined);
    const chunk = this.#chunks[at];
    if (chunk === true) return;
    this.#size += chunkSize - (chunk?.count ?? 0);
    this.#chunks[at] = true;
  }
}

function growTo(chunk: PartialChunk, words: number): void {
  let length = chunk.words.length;
  while (length < words) length *= 2;
  const grown = new Uint32Array(length);
  grown.set(chunk.words);
  chunk.words = grown;
}

function* listShared(one: Chunk, other: Chunk, first: number): Generator<number> {
  if (one === undefined || other === undefined) return;
  for (let word = 0; word < wordsPerChunk; word++)
    for (let bits = getWord(one, word) & getWord(other, word); bits !== 0; bits &= bits - 1)
      yield first + word * 32 + 31 - Math.clz32(bits & -bits);
}

function getWord(chunk: PartialChunk | true, word: number): number {
  return chunk === true ? -1 : (chunk.words[word] ?? 0);
}

function scanChunk(chunk: Chunk, from: number, inversion: 0 | -1): number | undefined {
  if (chunk === true) return inversion === 0 ? from : undefined;
  if (chunk === undefined) return inversion === 0 ? undefined : from;
  let mask = -1 << (from & 31);
  for (let word = from >>> 5; word < wordsPerChunk; word++) {
    const bits = ((chunk.words[word] ?? 0) ^ inversion) & mask;
    if (bits !== 0) return word * 32 + (31 - Math.clz32(bits & -bits));
    mask = -1;
  }
  return undefined;
}

/** The greatest member of a chunk that is `from` or less. */
function scanChunkDown(chunk: Chunk, from: number): number | undefined {
  if (chunk === true) return from;
  if (chunk === undefined) return undefined;
  let mask = -1 >>> (31 - (from & 31));
  for (let word = from >>> 5; word >= 0; word--) {
    const bits = (chunk.words[word] ?? 0) & mask;
    if (bits !== 0) return word * 32 + 31 - Math.clz32(bits);
    mask = -1;
  }
  return undefined;
}
