const nothing = Buffer.alloc(0);

/** The ring of a long stream that is read while it is written: 0.4 s of 10 MB/s. */
const followedRing = 4 * 1024 * 1024;

/** How far a cut may move to fall between two lines. */
const lineSearchMax = 4096;
const newline = 0x0a;

/** Bytes of a stream, and where in it they begin. */
export interface StreamPart {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A stream that is read while it is written. */
export interface StreamTail {
  /** Bytes that were written so far, kept or not. */
  readonly writtenBytes: number;
  /** Copies what is kept from `offset` on, `bytesMax` at most; it begins later where those between were dropped. */
  read(offset: number, bytesMax: number): StreamPart;
}

/**
 * The head and the tail of a stream of bytes, within a bound of memory.
 *
 * A stream that fits into the bound is kept whole. Of a longer one each end gets half of the bound: a program says at
 * its start what it does, and
 * at its end what went wrong.
 */
export class KeptStream implements StreamTail {
  /** Bytes that are kept at most. */
  readonly bytesMax: number;
  /** Bytes that were added, kept or not. */
  writtenBytes = 0;
  private readonly headMax: number;
  private readonly tailMax: number;
  /** Grows up to `headMax`. */
  private head = nothing;
  private headBytes = 0;
  /** A ring of the last bytes after the head, the tail among them; made when the head is full. */
  private ring = nothing;
  /** Its size: that of the tail, or more while somebody reads. */
  private ringMax: number;
  /** Bytes after the head that went before all that the ring has ever held. */
  private ringSince = 0;
  private tailBytes = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
    this.headMax = Math.ceil(bytesMax / 2);
    this.tailMax = bytesMax - this.headMax;
    this.ringMax = this.tailMax;
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
    const tail = this.readRing(Math.min(this.tailBytes, this.tailMax));
    if (!this.isCut) return Buffer.concat([head, tail]);
    const [first, last] = [cutAfterLine(head), cutBeforeLine(tail)];
    const dropped = this.writtenBytes - first.length - last.length;
    const lead = first.length === 0 || first.at(-1) === newline ? '' : '\n';
    return Buffer.concat([first, Buffer.from(`${lead}${describeCut(dropped, this.writtenBytes)}\n`), last]);
  }

  read(offset: number, bytesMax: number): StreamPart {
    if (offset < this.headBytes)
      return {
        offset,
        bytes: Uint8Array.prototype.slice.call(this.head, offset, Math.min(this.headBytes, offset + bytesMax)),
      };
    this.widenRing();
    const inRing = Math.min(this.tailBytes - this.ringSince, this.ringMax);
    const from = Math.min(Math.max(offset, this.writtenBytes - inRing), this.writtenBytes);
    const back = this.writtenBytes - from;
    return { offset: from, bytes: this.readRing(back, Math.min(bytesMax, back)) };
  }

  /** Who reads a long stream while it is written is behind by more than the tail at times. */
  private widenRing(): void {
    if (this.tailMax === 0 || this.headBytes < this.headMax || this.ringMax >= followedRing) return;
    const last = this.readRing(Math.min(this.tailBytes, this.ringMax));
    this.ringMax = followedRing;
    this.ring = Buffer.allocUnsafeSlow(this.ringMax);
    this.ringSince = this.tailBytes - last.length;
    this.putIntoRing(last, this.ringSince);
  }

  /** A part of the ring, which begins `back` bytes before its end. */
  private readRing(back: number, count = back): Buffer {
    if (count === 0) return nothing;
    const begin = (this.tailBytes - back) % this.ringMax;
    const part = Buffer.allocUnsafe(count);
    const untilEnd = this.ring.subarray(begin, Math.min(this.ringMax, begin + count));
    part.set(untilEnd);
    part.set(this.ring.subarray(0, count - untilEnd.length), untilEnd.length);
    return part;
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
    if (this.ring.length === 0) this.ring = Buffer.allocUnsafeSlow(this.ringMax);
    // Bytes that the rest of the same chunk would overwrite need no copy.
    const skipped = Math.max(0, chunk.length - this.ringMax);
    this.putIntoRing(chunk.subarray(skipped), this.tailBytes + skipped);
    this.tailBytes += chunk.length;
  }

  /** @param position counted from the end of the head. */
  private putIntoRing(bytes: Uint8Array, position: number): void {
    let at = position % this.ringMax;
    let rest = bytes;
    while (rest.length > 0) {
      const part = rest.subarray(0, this.ringMax - at);
      this.ring.set(part, at);
      rest = rest.subarray(part.length);
      at = 0;
    }
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
