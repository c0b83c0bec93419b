import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

import { gzipMagic, readingError } from './read-file.ts';

/** A piece of a text file. */
export interface Line {
  /** Without its end. */
  readonly text: string;
  /** False for what follows the last end of a line. */
  readonly isWhole: boolean;
}

/**
 * Reads a text file line by line, gzipped or not, holding no more than a line and a piece of the file in memory. What
 * follows the
 * last end of a line comes last, also when it is empty.
 *
 * @param file as the user named it. @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_BAD_REQUEST, MUT_TRACE_SYNTAX for
 * broken gzip.
 */
export async function* readLines(file: string, path: string): AsyncGenerator<Line, void, void> {
  let rest = '';
  try {
    for await (const piece of (await openText(path)).setEncoding('utf8') as AsyncIterable<string>) {
      const parts = piece.split('\n');
      for (const part of parts.slice(0, -1)) {
        yield { text: rest + part, isWhole: true };
        rest = '';
      }
      rest += parts.at(-1) ?? '';
    }
  } catch (error) {
    throw readingError(file, error as Error, 'MUT_TRACE_SYNTAX');
  }
  yield { text: rest, isWhole: false };
}

async function openText(path: string): Promise<Readable> {
  const isPlain = !(await isGzipped(path));
  const raw = createReadStream(path);
  if (isPlain) return raw;
  // An error of either end reaches the reader through the second.
  return pipeline(raw, createGunzip(), () => undefined);
}

async function isGzipped(path: string): Promise<boolean> {
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer.readUInt16BE(0) === gzipMagic;
}
