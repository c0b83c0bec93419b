import type { Readable } from 'node:stream';

/** The beginning of a stream, kept in memory up to a bound. */
export interface Capture {
  /** What was kept so far. */
  bytes(): Buffer;
  /** More was written than is kept. */
  isTruncated(): boolean;
  /** All that was written so far, kept or not. */
  receivedBytes(): number;
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
  stream?.on('error', () => undefined); // The end of the process tells what there is to tell.
  return {
    bytes: () => Buffer.concat(chunks),
    isTruncated: () => truncated,
    receivedBytes: () => received,
    stop: () => {
      stream?.destroy();
    },
  };
}
