const nothing = Buffer.alloc(0);

/** How far a cut may move to fall between two lines. */
const lineSearchMax = 4096;
const newline = 0x0a;

/**
 * The head and the tail of a stream of bytes, within a bound of memory.
 *
 * A stream that fits into the bound is kept whole. Of a longer one each end gets half of the bound: a program says at
 * its start what it does, and
 * at its end what went wrong.
 */
export class KeptStream {
  /** Bytes that are kept at most. */
  readonly bytesMax: number;
  /** Bytes that were added, kept or not. */
  writtenBytes = 0;
  private readonly headMax: number;
  private readonly tailMax: number;
  /** Grows up to `headMax`. */
  private head = nothing;
  private headBytes = 0;
  /** A ring of the last bytes after the head; made when the head is full. */
  private tail = nothing;
  private tailBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.headMax = Math.ceil(bytesMax / 2);
    this.tailMax = bytesMax - this.headMax;
  }

  /** Adds what was read; the caller may use its buffer again. */
  add(chunk: Uint8Array): void {
    this.writtenBytes += chunk.length;
    const room = this.headMax - this.headBytes;
    if (room > 0) this.addToHead(chunk.subarray(0, room));
    if (chunk.length > room) this.addToTail(chunk.subarray(room));
  }

  /** Whether something between head and tail was dropped. */
  get isCut(): boolean {
    return this.writtenBytes > this.headBytes + Math.min(this.tailBytes, this.tailMax);
  }

  /**
   * What was kept. Where something was dropped, a line of its own says how much, and whole lines stand around it where
   * lines are short enough.
   */
  bytes(): Uint8Array {
    if (this.writtenBytes === 0) return nothing;
    const head = this.head.subarray(0, this.headBytes);
    if (this.tailBytes === 0 && !this.isCut) return head;
    if (!this.isCut) return Buffer.concat([head, this.tailInOrder()]);
    const [first, last] = [cutAfterLine(head), cutBeforeLine(this.tailInOrder())];
    const dropped = this.writtenBytes - first.length - last.length;
    const lead = first.length === 0 || first.at(-1) === newline ? '' : '\n';
    return Buffer.concat([first, Buffer.from(`${lead}${describeCut(dropped, this.writtenBytes)}\n`), last]);
  }

  private addToHead(part: Uint8Array): void {
    const size = this.headBytes + part.length;
    if (size > this.head.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(size, 2 * this.head.length), this.headMax));
      grown.set(this.head.subarray(0, this.headBytes));
      this.head = grown;
    }
    this.head.set(part, this.headBytes);
    this.headBytes = size;
  }

  private addToTail(chunk: Uint8Array): void {
    if (this.tailMax === 0) return;
    if (this.tail.length === 0) this.tail = Buffer.allocUnsafeSlow(this.tailMax);
    // Bytes that the rest of the same chunk would overwrite need no copy.
    const skipped = Math.max(0, chunk.length - this.tailMax);
    let at = (this.tailBytes + skipped) % this.tailMax;
    let rest = chunk.subarray(skipped);
    while (rest.length > 0) {
      const part = rest.subarray(0, this.tailMax - at);
      this.tail.set(part, at);
      rest = rest.subarray(part.length);
      at = 0;
    }
    this.tailBytes += chunk.length;
  }

  private tailInOrder(): Buffer {
    if (this.tailBytes <= this.tailMax) return this.tail.subarray(0, this.tailBytes);
    const at = this.tailBytes % this.tailMax;
    return Buffer.concat([this.tail.subarray(at), this.tail.subarray(0, at)]);
  }
}

function describeCut(dropped: number, written: number): string {
  return `[mutirao: ${dropped} of ${written} bytes were cut here]`;
}

function cutAfterLine(head: Buffer): Buffer {
  const end = head.lastIndexOf(newline);
  return end >= 0 && head.length - end <= lineSearchMax ? head.subarray(0, end + 1) : head;
}

function cutBeforeLine(tail: Buffer): Buffer {
  const end = tail.indexOf(newline);
  return end >= 0 && end < lineSearchMax && end + 1 < tail.length ? tail.subarray(end + 1) : tail;
}
