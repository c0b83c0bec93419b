import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

import type { Content } from '@mutirao/core/messages';

import { fsPath } from '@mutirao/runtime/files';

import { Turns } from '../concurrency/turns.ts';

/** Small enough that hashing one chunk does not hold up what else the process does. */
const chunkBytes = 512 * 1024;

/** Files up to this size are read at once: waiting for each piece would take longer. */
const smallMax = 64 * 1024;
const turns = new Turns();

/** Reads a file and says which content it holds. @param expectedSize where it is known. */
export async function hashFile(path: string, expectedSize = Infinity): Promise<Content> {
  if (expectedSize <= smallMax) {
    if (turns.isOver()) await turns.next();
    const bytes = readFileSync(fsPath(path));
    return { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
  }
  const hash = createHash('sha256');
  const file = await open(fsPath(path), 'r');
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
