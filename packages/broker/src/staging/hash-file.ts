import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

import type { Content } from '@mutirao/core/messages';

/** Small enough that hashing one chunk does not hold up what else the process does. */
const chunkBytes = 512 * 1024;

/** Reads a file and says which content it holds. */
export async function hashFile(path: string): Promise<Content> {
  const hash = createHash('sha256');
  const file = await open(path, 'r');
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let size = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes);
      if (bytesRead === 0) return { sha256: hash.digest('hex'), size };
      hash.update(chunk.subarray(0, bytesRead));
      size += bytesRead;
    }
  } finally {
    await file.close();
  }
}
