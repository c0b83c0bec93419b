import { chmodSync, lstatSync, rmSync, statSync } from 'node:fs';
import type { Content } from '@mutirao/core/messages';
import type { Bytes } from '@mutirao/core/shared';
import { ContentStore } from '@mutirao/runtime/files';
import { LRUCache } from 'lru-cache';

/** What is known of a content in the cache. */
interface CachedContent {
  readonly size: Bytes;
  /** When the file was written; another time means that somebody wrote into it. */
  readonly writtenAt: number;
  /** Named files in storages that share its file. */
  readonly links: Set<string>;
}

/** More contents than this are not kept, however small they are. */
const contentsMax = 1_000_000;

/**
 * Contents that tasks read, kept between tasks within a bound of bytes: the least recently used goes first, one that a
 * replica needs never.
 */
export class ContentCache {
  readonly store: ContentStore;
  private readonly bytesMax: Bytes;
  // With `max` it would make room for all of them at once: 16 MiB, and a good part of an agent's start.
  private readonly contents = new LRUCache<string, CachedContent>({ maxSize: contentsMax, sizeCalculation: () => 1 });
  private readonly pinned = new Set<string>();
  private bytes: Bytes = 0;

  /** Use `open`. */
  private constructor(store: ContentStore, bytesMax: Bytes) {
    this.store = store;
    this.bytesMax = bytesMax;
  }

  /** Opens a folder with what a former agent left in it. */
  static async open(folder: string, bytesMax: Bytes): Promise<ContentCache> {
    const cache = new ContentCache(new ContentStore(folder, { isDurable: false }), bytesMax);
    for (const content of await cache.store.list()) cache.add(content);
    return cache;
  }

  /** Keeps a content from going, also before it is here. Whether it is here, whole. */
  pin(sha256: string): boolean {
    this.pinned.add(sha256);
    const cached = this.contents.get(sha256);
    if (cached === undefined) return false;
    if (statOf(this.store.path(sha256)) === `${cached.size} ${cached.writtenAt}`) return true;
    this.remove(sha256, cached); // A task wrote into it.
    return false;
  }

  /** Lets a content go when room is needed. */
  unpin(sha256: string): void {
    this.pinned.delete(sha256);
    this.makeRoom();
  }

  isPinned(sha256: string): boolean {
    return this.pinned.has(sha256);
  }

  /** Counts a content that was put into the store. */
  add(content: Content): void {
    if (this.contents.has(content.sha256)) return;
    const writtenAt = statSync(this.store.path(content.sha256), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    this.contents.set(content.sha256, { size: content.size, writtenAt, links: new Set() });
    this.bytes += content.size;
    this.makeRoom();
  }

  /** Puts a named file that shares a content's file; with the content it goes. Only for those who read. */
  async linkTo(sha256: string, destination: string, mode: number): Promise<void> {
    const file = this.store.path(sha256);
    if (inodeOf(destination) !== inodeOf(file)) await this.store.linkTo(sha256, destination);
    this.contents.peek(sha256)?.links.add(destination);
    // One file, so one mode: it can be executed as soon as anybody put it so.
    chmodSync(file, (statSync(file).mode | 0o400 | mode) & 0o555);
  }

  /** Bytes that are kept. */
  get size(): Bytes {
    return this.bytes;
  }

  private makeRoom(): void {
    if (this.bytes <= this.bytesMax) return;
    for (const sha256 of [...this.contents.rkeys()]) {
      if (this.bytes <= this.bytesMax) return;
      const cached = this.contents.peek(sha256);
      if (cached !== undefined && !this.pinned.has(sha256)) this.remove(sha256, cached);
    }
  }

  private remove(sha256: string, cached: CachedContent): void {
    this.contents.delete(sha256);
    this.bytes -= cached.size;
    const file = this.store.path(sha256);
    const inode = inodeOf(file);
    // A name that a task has given to another file since is not ours.
    for (const link of cached.links) if (inodeOf(link) === inode) rmSync(link, { force: true });
    rmSync(file, { force: true });
  }
}

function inodeOf(file: string): number | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.ino;
}

function statOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.size} ${stat.mtimeMs}`;
}
