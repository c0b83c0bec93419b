/** An unfinished sequence (such as a color) or an unfinished character of several bytes, at the end of the input. */
const unfinishedSequence = /\u001b(\[[\d;]*)?$/;
const unfinishedMax = 64;

/** Cuts the pieces of a task's output where no character and no color is split. */
export class PrintedStream {
  #held: Uint8Array = new Uint8Array(0);

  /** The bytes that can be printed now. */
  take(bytes: Uint8Array): Uint8Array {
    const all = Buffer.concat([this.#held, bytes]);
    const end = findEnd(all);
    this.#held = all.subarray(end);
    return all.subarray(0, end);
  }

  /** The remaining bytes, when nothing more comes. */
  rest(): Uint8Array {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    return held;
  }
}

function findEnd(bytes: Buffer): number {
  const begin = Math.max(0, bytes.length - unfinishedMax);
  const found = unfinishedSequence.exec(bytes.toString('latin1', begin));
  if (found !== null) return begin + found.index;
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return lengthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Bytes of a character in UTF-8, by its first one. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}
