import { createHash } from 'node:crypto';
import { chmodSync, closeSync, constants, copyFileSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, rmSync, statSync, type Stats } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, Duration } from '@mutirao/core/shared';
import { wallClock, type Clock } from '@mutirao/runtime/driver';
import { ContentStore, fileError, fsPath, hashRegular, readNamedFlags, removeTree } from '@mutirao/runtime/files';
import { LRUCache } from 'lru-cache';

/** What is known of a content in the cache. */
interface CachedContent {
  readonly size: Bytes;
  /** When the file was written; another time means that somebody wrote into it. */
  readonly writtenAt: number;
  /** Named files in storages that share its file. */
  readonly links: Set<string>;
  /** Where it is when it is not in the store: a file of somebody else's on a shared file system. */
  readonly reference: Reference | undefined;
}

/** A file of somebody else's that held a content when it was hashed. */
interface Reference {
  readonly path: string;
  /** What its status was then. */
  readonly stamp: string;
}

/** Where a shared file system has a content. */
export interface SharedFile {
  readonly path: string;
  /** Nobody writes it any more. */
  readonly isLinkable: boolean;
}

/** File systems tell times in steps, and clocks differ: a file that changed later than this ago may change again without its status showing it. */
const settledAfter: Duration = 2000;
/** Files up to this size are read and copied at once: waiting for each costs more than it takes. */
const smallMax: Bytes = 128 * 1024;

/** More contents than this are not kept, however small they are. */
const contentsMax = 1_000_000;

/**
 * Contents that tasks read, kept between tasks within a bound of bytes: the least recently used goes first, one that a
 * replica needs never.
 */
export class ContentCache {
  readonly store: ContentStore;
  private readonly bytesMax: Bytes;
  private readonly clock: Clock;
  // With `max` it would make room for all of them at once: 16 MiB, and a good part of an agent's start.
  private readonly contents = new LRUCache<string, CachedContent>({ maxSize: contentsMax, sizeCalculation: () => 1 });
  private readonly pinned = new Set<string>();
  private bytes: Bytes = 0;

  /** Use `open`. */
  private constructor(store: ContentStore, bytesMax: Bytes, clock: Clock) {
    this.store = store;
    this.bytesMax = bytesMax;
    this.clock = clock;
  }

  /** Opens a folder with what a former agent left in it. */
  static async open(folder: string, bytesMax: Bytes, clock: Clock = wallClock): Promise<ContentCache> {
    const cache = new ContentCache(new ContentStore(folder, { isDurable: false }), bytesMax, clock);
    for (const content of await cache.store.list()) cache.add(content);
    return cache;
  }

  /** Keeps a content from going, also before it is here. Whether it is here, whole. */
  pin(sha256: string): boolean {
    this.pinned.add(sha256);
    const cached = this.contents.get(sha256);
    if (cached === undefined) return false;
    if (cached.reference !== undefined && stampOf(cached.reference.path) === cached.reference.stamp) return true;
    if (cached.reference === undefined && statOf(this.store.path(sha256)) === `${cached.size} ${cached.writtenAt}`) return true;
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
    const writtenAt = lookAt(this.store.path(content.sha256))?.mtimeMs ?? 0;
    this.contents.set(content.sha256, { size: content.size, writtenAt, links: new Set(), reference: undefined });
    this.bytes += content.size;
    this.makeRoom();
  }

  /**
   * Takes a content from a shared file system, once its hash is what it should be: shares the file, remembers where it is, or
   * copies it.
   *
   * @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_CONTENT_MISMATCH, MUT_DISK_FULL; Error of the file system.
   */
  async takeFile(content: Content, { path, isLinkable }: SharedFile): Promise<void> {
    const status = lstatSync(fsPath(path), { throwIfNoEntry: false });
    if (status?.isFile() !== true || status.size !== content.size) throw new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not a regular file of ${content.size} bytes here`);
    if (isLinkable) {
      await this.store.putLink(path, content);
      this.add(content);
      return;
    }
    const stamp = stampOf(path);
    if (Math.abs(this.clock.now() - Math.max(status.mtimeMs, status.ctimeMs)) < settledAfter) {
      await this.store.putFile(path, { content });
      this.add(content);
      return;
    }
    const sha256 = content.size <= smallMax ? createHash('sha256').update(readRegular(path)).digest('hex') : (await hashRegular(path, content.size)).sha256;
    if (sha256 !== content.sha256 || stampOf(path) !== stamp) throw new MutiraoError('MUT_CONTENT_MISMATCH', `${path} is not ${content.sha256} any more`);
    if (!this.contents.has(sha256)) this.contents.set(sha256, { size: 0, writtenAt: 0, links: new Set(), reference: { path, stamp } });
  }

  /**
   * Keeps a copy of what a task wrote, for tasks that are to read it here: the file itself may still be written to. What is not, or not any more,
   * as it was told is not kept, nor what is more than the bound.
   *
   * @throws {MutiraoError} MUT_CONTENT_MISMATCH, MUT_DISK_FULL; Error of the file system.
   */
  async keepWritten(content: Content, file: string): Promise<void> {
    const { sha256, size } = content;
    if (size > this.bytesMax || (this.contents.peek(sha256) !== undefined && this.store.has(sha256))) return;
    await this.store.putFile(file, { content });
    chmodSync(this.store.path(sha256), 0o400);
    this.contents.delete(sha256); // It may be known as a file of somebody else's.
    this.add(content);
  }

  /**
   * Puts a copy of a content at a new place, which nobody looks at before it is whole.
   *
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND also when what is shared was written to meanwhile; MUT_DISK_FULL; Error of the file system.
   */
  async copyTo(content: Content, destination: string, mode: number): Promise<void> {
    const reference = this.contents.peek(content.sha256)?.reference;
    if (reference === undefined) {
      await this.store.copyTo(content.sha256, destination, mode);
      return;
    }
    try {
      const folder = fsPath(dirname(destination));
      const place = fsPath(destination);
      if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
      rmSync(place, { force: true });
      if (content.size <= smallMax) copyFileSync(reference.path, place, constants.COPYFILE_FICLONE);
      else await copyFile(reference.path, place, constants.COPYFILE_FICLONE);
      chmodSync(place, mode);
    } catch (error) {
      throw fileError(error, destination);
    }
    if (stampOf(reference.path) !== reference.stamp) throw new MutiraoError('MUT_CONTENT_NOT_FOUND', `${reference.path} was written to after its task was started`);
  }

  /** Puts a named file that shares a content's file; with the content it goes. Only for those who read. */
  async linkTo(sha256: string, destination: string, mode: number): Promise<void> {
    const reference = this.contents.peek(sha256)?.reference;
    if (reference !== undefined) await this.copyReferred(sha256, reference);
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

  /** A file of somebody else's is not shared with tasks: from now on the content is our own. */
  private async copyReferred(sha256: string, { path }: Reference): Promise<void> {
    const content = { sha256, size: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
    await this.store.putFile(path, { content });
    this.contents.delete(sha256);
    this.add(content);
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
    if (cached.reference !== undefined) return;
    this.bytes -= cached.size;
    const file = this.store.path(sha256);
    const inode = inodeOf(file);
    // A name that a task has given to another file since is not ours.
    for (const link of cached.links) if (inodeOf(link) === inode) removeTree(link);
    removeTree(file);
  }
}

function inodeOf(file: string): number | undefined {
  try {
    return lstatSync(fsPath(file)).ino;
  } catch {
    return undefined;
  }
}

/** Undefined also where a task has locked a folder: what we cannot read is not there. */
function lookAt(file: string): Stats | undefined {
  try {
    return statSync(fsPath(file));
  } catch {
    return undefined;
  }
}

/** All of a file's status that changes when it is written to; empty when it is not there. */
function stampOf(file: string): string {
  try {
    const { size, mtimeNs, ctimeNs, ino } = lstatSync(fsPath(file), { bigint: true });
    return `${size} ${mtimeNs} ${ctimeNs} ${ino}`;
  } catch {
    return '';
  }
}

/** A small file that somebody else named: no link is followed, and a FIFO that took its place does not block. */
function readRegular(path: string): Buffer {
  const file = openSync(fsPath(path), readNamedFlags);
  try {
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function statOf(file: string): string {
  const stat = lookAt(file);
  return stat === undefined ? '' : `${stat.size} ${stat.mtimeMs}`;
}
