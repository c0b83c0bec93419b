import { writeSync } from 'node:fs';

const pauseMs = 2;
const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes all bytes to an open file, pipe or terminal before it returns: what the system takes in parts, or not at once,
 * is written on.
 *
 * @throws Error of the file system, `EPIPE` and `ENOSPC` among them.
 */
export function writeDescriptor(descriptor: number, content: string | Uint8Array): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(descriptor, bytes, done, bytes.length - done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error;
      Atomics.wait(pause, 0, 0, pauseMs);
    }
  }
}
