import { createHash } from 'node:crypto';
import { chmodSync, constants, existsSync, lstatSync, mkdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Content } from '@mutirao/core/messages';
import type { Bytes, Duration } from '@mutirao/core/shared';
import { wallClock, type Clock } from '@mutirao/runtime/driver';
import { ContentStore, fileError, fsPath, hashRegular, readRegular, removeTree } from '@mutirao/runtime/files';
import { LRUCache } from 'lru-cache';
import { isSynced, getStamp } from './file-stamp.ts';
import { getErrno } from './verdict.ts';

/** What is known of a content in the cache. */
interface CachedContent {
  readonly size: Bytes;
  /** The file's status when it was known to hold the content; empty where it has to be hashed before it is used. */
  stamp: string;
  /** Whether any change since would show in its status. */
  isSynced: boolean;
  /** Named files in storages that hold a copy. */
  readonly copies: Map<string, NamedCopy>;
  /** Where it is when it is not in the store: a file of somebody else's on a shared file system. */
  readonly reference: string | undefined;
}

/** A file that a user's tasks read by its name. */
interface NamedCopy {
  readonly size: Bytes;
  /** Its status when it was written. */
  readonly stamp: string;
}

/** Where a shared file system has a content. */
export interface SharedFile {
  readonly path: string;
  /** Nobody writes it any more. */
  readonly isLinkable: boolean;
}

/**
 * File systems store times in steps, and clocks differ: a file of somebody else's that changed more recently than this
 * may change again without its status showing it.
 */
const settledAfter: Duration = 2000;
/** Files up to this size are read and written at once: waiting for each costs more than it takes. */
const smallMax: Bytes = 128 * 1024;

/** The caches of one agent, which together hold no more than a bound. */
export interface CacheBound {
  readonly bytesMax: Bytes;
  readonly caches: Set<ContentCache>;
}

/** More contents than this are not kept, however small they are. */
const contentsMax = 1_000_000;

/**
 * Contents that tasks read, kept between tasks within a bound of bytes: the least recently used goes first, one that a
 * replica needs never.
 *
 * Tasks run under the agent's account, so they can write to any file here. Whatever a task is given is a copy of its
 * own, and is known to hold the content: a small file is hashed on its way, and a large one if its status is not what
 * it was when it was hashed. An ordinary account can set times of change of a file's bytes, but not of its status.
 */
export class ContentCache {
  readonly store: ContentStore;
  private readonly bound: CacheBound;
  private readonly clock: Clock;
  // With `max` it would make room for all of them at once: 16 MiB, and a good part of an agent's start.
  private readonly contents = new LRUCache<string, CachedContent>({ maxSize: contentsMax, sizeCalculation: () => 1 });
  private readonly pinned = new Set<string>();
  private bytes: Bytes = 0;
  private draftCount = 0;

  /** Use `open`. */
  private constructor(store: ContentStore, bound: CacheBound, clock: Clock) {
    this.store = store;
    this.bound = bound;
    this.clock = clock;
    bound.caches.add(this);
  }

  /** A cache in a folder that has nothing yet, within the bound of others. */
  static make(folder: string, bound: CacheBound, clock: Clock = wallClock): ContentCache {
    return new ContentCache(new ContentStore(folder, { isDurable: false }), bound, clock);
  }

  /**
   * Opens a folder with what a former agent left in it. @param bound that it shares with others, or its own in bytes.
   */
  static async open(folder: string, bound: CacheBound | Bytes, clock: Clock = wallClock): Promise<ContentCache> {
    const cache = ContentCache.make(
      folder,
      typeof bound === 'number' ? { bytesMax: bound, caches: new Set() } : bound,
      clock,
    );
    for (const content of await cache.store.list()) cache.put(content, '');
    return cache;
  }

  /**
   * Keeps a content from going, also before it is here. Whether it is here, whole; a large one that `isDoubtful` is
   * not.
   */
  pin(sha256: string): boolean {
    this.pinned.add(sha256);
    const cached = this.contents.get(sha256);
    if (cached === undefined) return false;
    const stamp = getStamp(this.fileOf(sha256, cached));
    if (stamp !== '' && stamp === cached.stamp && cached.isSynced) return true;
    // A file of home that its owner has changed is a matter of course; the broker knows where its content is now, if
    // anywhere.
    if (stamp === '' || cached.reference !== undefined) this.remove(sha256, cached);
    else if (cached.size <= smallMax)
      return this.judge(sha256, cached, hashSmall(this.store.path(sha256)) === sha256 ? stamp : '');
    return false;
  }

  /** Whether a content is here whose file was touched since it was hashed, or was not hashed by this process. */
  isDoubtful(sha256: string): boolean {
    const cached = this.contents.peek(sha256);
    if (cached === undefined || cached.reference !== undefined || cached.size <= smallMax) return false;
    return !cached.isSynced || getStamp(this.store.path(sha256)) !== cached.stamp;
  }

  /** Hashes a content that is doubtful, and forgets it where it is another one now. Whether it is here, whole. */
  async prove(sha256: string): Promise<boolean> {
    const cached = this.contents.peek(sha256);
    if (cached === undefined) return false;
    const file = this.store.path(sha256);
    const stamp = getStamp(file);
    const found = await hashRegular(file, cached.size).catch(() => undefined);
    if (this.contents.peek(sha256) !== cached) return false;
    return this.judge(sha256, cached, found?.sha256 === sha256 && getStamp(file) === stamp ? stamp : '');
  }

  /** @param stamp of the file when it was hashed; empty where it does not hold the content. */
  private judge(sha256: string, cached: CachedContent, stamp: string): boolean {
    if (stamp === '') this.remove(sha256, cached);
    // What was touched a moment ago may be touched again without its status showing it: it is hashed once more the next
    // time.
    else Object.assign(cached, { stamp, isSynced: isSynced(stamp) });
    return stamp !== '';
  }

  private fileOf(sha256: string, { reference }: Pick<CachedContent, 'reference'>): string {
    return reference ?? this.store.path(sha256);
  }

  /** Lets a content go when room is needed. */
  unpin(sha256: string): void {
    this.pinned.delete(sha256);
    this.makeRoom();
  }

  isPinned(sha256: string): boolean {
    return this.pinned.has(sha256);
  }

  /** Counts a content that was put into the store, and hashed on its way. */
  add(content: Content): void {
    this.put(content, getStamp(this.store.path(content.sha256)));
  }

  private put({ sha256, size }: Content, stamp: string): void {
    if (this.contents.has(sha256)) return;
    this.contents.set(sha256, { size, stamp, isSynced: isSynced(stamp), copies: new Map(), reference: undefined });
    this.bytes += size;
    this.makeRoom();
  }

  /**
   * Takes a content from a shared file system, once its hash is what it should be: shares the file, remembers where it
   * is, or copies it.
   *
   * @throws {MutiraoError} MUT_FILE_NOT_FOUND, MUT_CONTENT_MISMATCH, MUT_DISK_FULL; Error of the file system.
   */
  async takeFile(content: Content, { path, isLinkable }: SharedFile): Promise<void> {
    const status = lstatSync(fsPath(path), { throwIfNoEntry: false });
    if (status?.isFile() !== true || status.size !== content.size)
      throw new MutiraoError('MUT_FILE_NOT_FOUND', `${path} is not a regular file of ${content.size} bytes here`);
    if (isLinkable) {
      await this.store.putLink(path, content);
      this.add(content);
      return;
    }
    const stamp = getStamp(path);
    if (Math.abs(this.clock.now() - Math.max(status.mtimeMs, status.ctimeMs)) < settledAfter) {
      await this.store.putFile(path, { content });
      this.add(content);
      return;
    }
    const sha256 =
      content.size <= smallMax
        ? createHash('sha256').update(readRegular(path)).digest('hex')
        : (await hashRegular(path, content.size)).sha256;
    if (sha256 !== content.sha256 || getStamp(path) !== stamp)
      throw new MutiraoError('MUT_CONTENT_MISMATCH', `${path} is not ${content.sha256} any more`);
    if (!this.contents.has(sha256))
      this.contents.set(sha256, { size: 0, stamp, isSynced: true, copies: new Map(), reference: path });
  }

  /**
   * Keeps a copy of what a task wrote, for tasks that read it here: the file itself may still be written to. A file
   * that differs from its announced content, or exceeds the limit, is not kept.
   *
   * @throws {MutiraoError} MUT_CONTENT_MISMATCH, MUT_DISK_FULL; Error of the file system.
   */
  async keepWritten(content: Content, file: string): Promise<void> {
    const { sha256, size } = content;
    if (size > this.bound.bytesMax || (this.contents.peek(sha256) !== undefined && this.store.has(sha256))) return;
    await this.store.putFile(file, { content });
    chmodSync(this.store.path(sha256), 0o400);
    const known = this.contents.peek(sha256); // As a file of somebody else's.
    if (known !== undefined) this.remove(sha256, known, true);
    this.add(content);
  }

  /**
   * Puts a copy of a content at a new place, which nobody looks at before it is whole.
   *
   * @throws {MutiraoError} MUT_CONTENT_NOT_FOUND also when the file holds something else by now; MUT_DISK_FULL; Error
   * of the file system.
   */
  async copyTo(content: Content, destination: string, mode: number): Promise<void> {
    const cached = this.contents.peek(content.sha256);
    const file = cached === undefined ? this.store.path(content.sha256) : this.fileOf(content.sha256, cached);
    try {
      await this.write(content, file, { destination, mode, stamp: cached?.stamp ?? '' });
    } catch (error) {
      if (
        error instanceof MutiraoError &&
        error.code === 'MUT_CONTENT_NOT_FOUND' &&
        cached !== undefined &&
        this.contents.peek(content.sha256) === cached
      )
        this.remove(content.sha256, cached);
      throw fileError(error, destination);
    }
  }

  /** @param stamp of the file when it was known to hold the content. */
  private async write(
    content: Content,
    file: string,
    { destination, mode, stamp }: { readonly destination: string; readonly mode: number; readonly stamp: string },
  ): Promise<void> {
    const folder = fsPath(dirname(destination));
    const place = fsPath(destination);
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
    removeFile(place);
    try {
      if (content.size <= smallMax) {
        writeFileSync(place, readProven(file, content), { flag: 'wx', mode });
      } else {
        await copyFile(fsPath(file), place, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
        if (getStamp(file) !== stamp) await proveCopy(destination, file, content);
      }
      chmodSync(place, mode);
    } catch (error) {
      if (getErrno(error) !== 'EEXIST') removeFile(place);
      throw getStamp(file) === '' ? missing(content, error) : error;
    }
  }

  /**
   * Puts a named file with a content, for those who read it; with the content it goes. One that is there already, as it
   * was put, stays.
   */
  async keepCopy(content: Content, destination: string, mode: number): Promise<void> {
    const known = this.contents.peek(content.sha256)?.copies.get(destination);
    const former =
      known !== undefined && known.stamp === getStamp(destination) ? lstatSync(fsPath(destination)).mode : 0;
    // It can be executed as soon as anybody put it so.
    const wanted = (former | 0o400 | mode) & 0o555;
    if (former === 0) await this.replace(content, destination, wanted);
    else if ((former & 0o777) === wanted) return;
    else chmodSync(fsPath(destination), wanted);
    const cached = this.contents.peek(content.sha256);
    if (cached === undefined) return;
    if (!cached.copies.has(destination)) this.bytes += content.size;
    cached.copies.set(destination, { size: content.size, stamp: getStamp(destination) });
    this.makeRoom();
  }

  /** Running tasks that read the file of this name see the former one or the new one, whole. */
  private async replace(content: Content, destination: string, mode: number): Promise<void> {
    // A name of its own: one made of the destination's may be longer than names can be.
    const draft = join(dirname(destination), `.mutirao-${process.pid}-${++this.draftCount}.tmp`);
    await this.copyTo(content, draft, mode);
    try {
      renameSync(fsPath(draft), fsPath(destination));
    } catch (error) {
      removeFile(fsPath(draft));
      throw fileError(error, destination);
    }
  }

  /** Bytes that are kept. */
  get size(): Bytes {
    return this.bytes;
  }

  private makeRoom(): void {
    const { bytesMax, caches } = this.bound;
    let excess = -bytesMax;
    for (const cache of caches) excess += cache.bytes;
    // The largest gives first: no user's contents drive out those of another who keeps less.
    for (const cache of excess > 0 ? [...caches].sort((one, other) => other.bytes - one.bytes) : [])
      excess -= cache.dropOldest(excess);
  }

  /** Lets contents go that nobody needs, the least recently used first. Returns how many bytes that freed. */
  private dropOldest(bytes: Bytes): Bytes {
    const before = this.bytes;
    for (const sha256 of bytes > 0 ? [...this.contents.rkeys()] : []) {
      if (before - this.bytes >= bytes) break;
      const cached = this.contents.peek(sha256);
      if (cached !== undefined && !this.pinned.has(sha256)) this.remove(sha256, cached);
    }
    return before - this.bytes;
  }

  /** @param leavesFile where the store's file is of use. */
  private remove(sha256: string, cached: CachedContent, leavesFile = cached.reference !== undefined): void {
    this.contents.delete(sha256);
    this.bytes -= cached.size;
    for (const [copy, { size, stamp }] of cached.copies) {
      this.bytes -= size;
      // A file that a task has put there since, or has written to, is not ours.
      if (getStamp(copy) === stamp) removeTree(copy);
    }
    if (!leavesFile) removeTree(this.store.path(sha256));
  }
}

function hashSmall(file: string): string {
  try {
    return createHash('sha256').update(readRegular(file)).digest('hex');
  } catch {
    return '';
  }
}

/**
 * The bytes of a small content. @throws {MutiraoError} MUT_CONTENT_NOT_FOUND when the file is gone or holds something
 * else.
 */
function readProven(file: string, content: Content): Buffer {
  let bytes: Buffer;
  try {
    bytes = readRegular(file);
  } catch (error) {
    throw missing(content, error);
  }
  if (createHash('sha256').update(bytes).digest('hex') !== content.sha256) throw spoiled(file);
  return bytes;
}

/** @throws {MutiraoError} MUT_CONTENT_NOT_FOUND when a copy does not hold what it should. */
async function proveCopy(copy: string, file: string, content: Content): Promise<void> {
  const found = await hashRegular(copy, content.size).catch(() => undefined);
  if (found?.sha256 !== content.sha256) throw spoiled(file);
}

/** Whatever stands in its place. @throws Error of the file system, for a folder too. */
function removeFile(place: string | Buffer): void {
  try {
    unlinkSync(place);
  } catch (error) {
    if (getErrno(error) !== 'ENOENT') throw error;
  }
}

function missing({ sha256 }: Content, cause: unknown): MutiraoError {
  return new MutiraoError('MUT_CONTENT_NOT_FOUND', `content ${sha256} is not here any more`, { cause });
}

function spoiled(file: string): MutiraoError {
  return new MutiraoError('MUT_CONTENT_NOT_FOUND', `${file} was written to after it was read for a task`);
}
