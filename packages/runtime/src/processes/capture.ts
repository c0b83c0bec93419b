import type { Readable } from 'node:stream';

/** The beginning of a stream, kept in memory up to a bound. */
export interface Capture {
  /** What was kept so far. */
  bytes(): Buffer;
  /** More was written than is kept. */
  isTruncated(): boolean;
  /** All that was written so far, kept or not. */
  receivedBytes(): number;
  /** Calls `act` once when these words have come in a row. Ignores what came before the call. */
  onceIncludes(words: string, act: () => void): void;
  /** Reads no more and lets go of the stream. */
  stop(): void;
}

/** Keeps the first `bytesMax` bytes of a stream; reads on beyond them, so that the writer never blocks. */
export function captureStream(stream: Readable | null, bytesMax: number): Capture {
  const chunks: Buffer[] = [];
  let kept = 0;
  let received = 0;
  let truncated = false;
  stream?.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, bytesMax - kept);
    truncated ||= part.length < chunk.length;
    kept += part.length;
    received += chunk.length;
    if (part.length > 0) chunks.push(part);
  });
  stream?.on('error', () => undefined); // The exit of the process reports any failure.
  return {
    bytes: () => Buffer.concat(chunks),
    isTruncated: () => truncated,
    receivedBytes: () => received,
    onceIncludes: (words, act) => {
      if (stream !== null) watchFor(stream, Buffer.from(words), act);
    },
    stop: () => {
      stream?.destroy();
    },
  };
}

/** Keeps of what has come only what may be the beginning of the words. */
function watchFor(stream: Readable, words: Buffer, act: () => void): void {
  let tail = Buffer.alloc(0);
  const look = (chunk: Buffer): void => {
    const text = Buffer.concat([tail, chunk]);
    if (text.includes(words)) {
      stream.off('data', look);
      act();
    } else tail = text.subarray(Math.max(0, text.length - words.length + 1));
  };
  stream.on('data', look);
}
