import type { Stats } from 'node:fs';

import type { Content } from '@mutirao/core/messages';

import { Semaphore } from '../concurrency/semaphore.ts';

/** The parts of a file's status that change when its content does. */
export type FileStatus = Pick<Stats, 'size' | 'mtimeMs' | 'ino'>;

interface CachedHash {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ino: number;
  readonly content: Promise<Content>;
}

/** What computes a file's content from its path, of which the size was just seen. */
export type HashFile = (path: string, expectedSize: number) => Promise<Content>;

/**
 * The contents of files at home, hashed once for each path, size, time of change and inode.
 *
 * Bounded: the least recently used entry goes first. At most `concurrencyMax` files are read at a time.
 */
export class FileHashes {
  readonly #hashFile: HashFile;
  readonly #entriesMax: number;
  readonly #cache = new Map<string, CachedHash>();
  readonly #reading: Semaphore;

  constructor(options: {
    readonly hashFile: HashFile;
    readonly entriesMax?: number;
    readonly concurrencyMax?: number;
  }) {
    this.#hashFile = options.hashFile;
    this.#entriesMax = options.entriesMax ?? 200_000;
    this.#reading = new Semaphore(options.concurrencyMax ?? 2);
  }

  /** The content of the file whose status was just read. Rejects when it cannot be read; that is not remembered. */
  getContent(path: string, status: FileStatus): Promise<Content> {
    const cached = this.#cache.get(path);
    if (cached !== undefined) this.#cache.delete(path);
    if (
      cached !== undefined &&
      cached.size === status.size &&
      cached.mtimeMs === status.mtimeMs &&
      cached.ino === status.ino
    ) {
      this.#cache.set(path, cached);
      return cached.content;
    }
    const entry: CachedHash = {
      size: status.size,
      mtimeMs: status.mtimeMs,
      ino: status.ino,
      content: this.#reading.run(() => this.#hashFile(path, status.size)),
    };
    this.#cache.set(path, entry);
    entry.content.catch(() => {
      if (this.#cache.get(path) === entry) this.#cache.delete(path);
    });
    this.#evict();
    return entry.content;
  }

  #evict(): void {
    for (const path of this.#cache.keys()) {
      if (this.#cache.size <= this.#entriesMax) return;
      this.#cache.delete(path);
    }
  }
}
