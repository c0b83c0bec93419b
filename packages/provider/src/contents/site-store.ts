import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { chmod, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Content } from '@mutirao/core/messages';
import { invariant, type Bytes, type Duration, type Instant } from '@mutirao/core/shared';
import { hashFile } from '@mutirao/runtime/files';

/** Where contents are kept, and how many. */
export interface SiteStoreOptions {
  readonly folder: string;
  /** Most bytes of all brokers together, parts included; 0 keeps nothing. */
  readonly bytesMax: Bytes;
  readonly now: Instant;
  /** A part that nobody has gone on with for longer goes. */
  readonly partAgeMax: Duration;
}

/** A file of the store: a content, or the beginning of one from a transfer that broke. */
interface Kept {
  readonly path: string;
  readonly size: Bytes;
  readonly isPart: boolean;
  /** Whether this process has seen that it is what its name says. */
  isProven: boolean;
  /** Those who need it now. */
  holders: number;
}

/** A file that the former process left. */
interface FoundFile {
  readonly key: string;
  readonly kept: Kept;
  readonly changedAt: Instant;
}

const namePattern = /^([0-9a-f]{64})(\.part)?$/;

/**
 * Contents that agents of a site read, a folder for each broker, so that nothing of one is visible to another; within a
 * bound of bytes: the least recently used goes first, one that is held or pinned never.
 *
 * A content is whole from the moment it is seen under its name. What was there before a restart is hashed before it is
 * used, since a host that fell may not have written it all.
 */
export class SiteStore {
  readonly #options: SiteStoreOptions;
  /** By broker's folder and file name; the least recently used first. */
  readonly #kept = new Map<string, Kept>();
  readonly #pinned = new Map<BrokerId, ReadonlySet<string>>();
  readonly #folders = new Map<BrokerId, string>();
  #bytes: Bytes = 0;

  /** Opens a folder, made where it is absent, with what is in it. @throws Error of the file system. */
  constructor(options: SiteStoreOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    const found = readdirSync(options.folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => this.#scan(name));
    found.sort((one, other) => one.changedAt - other.changedAt);
    for (const { key, kept } of found) this.#add(key, kept);
    this.makeRoom(0);
  }

  /** Bytes on disk. */
  get bytes(): Bytes {
    return this.#bytes;
  }

  /** Contents that are whole. */
  get contentsCount(): number {
    let count = 0;
    for (const { isPart } of this.#kept.values()) count += isPart ? 0 : 1;
    return count;
  }

  /** The broker's folder, made where it is absent. */
  getFolder(brokerId: BrokerId): string {
    let folder = this.#folders.get(brokerId);
    if (folder === undefined) {
      folder = join(this.#options.folder, getFolderName(brokerId));
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      this.#folders.set(brokerId, folder);
    }
    return folder;
  }

  /**
   * The file of a broker's content, which is used now; undefined when it is not here. Whether it is right, `prove`
   * says.
   */
  find(brokerId: BrokerId, content: Content): string | undefined {
    const key = getKey(brokerId, content.sha256);
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    if (kept.size !== content.size || statSync(kept.path, { throwIfNoEntry: false })?.size !== content.size) {
      this.#remove(key, kept);
      return undefined;
    }
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.path;
  }

  /**
   * Whether a content that was found is what it should be; it is hashed when that is not known, and removed when it is
   * not.
   */
  async prove(brokerId: BrokerId, sha256: string): Promise<boolean> {
    const key = getKey(brokerId, sha256);
    const kept = this.#kept.get(key);
    if (kept === undefined || kept.isProven) return kept !== undefined;
    const found = await hashFile(kept.path).catch(() => undefined);
    kept.isProven = found?.sha256 === sha256;
    if (!kept.isProven && this.#kept.get(key) === kept) this.#remove(key, kept);
    return kept.isProven;
  }

  /** Somebody doubts a content: it is hashed before it is used again. */
  doubt(brokerId: BrokerId, sha256: string): void {
    const kept = this.#kept.get(getKey(brokerId, sha256));
    if (kept !== undefined) kept.isProven = false;
  }

  /** Keeps a content from going until what is returned is called, once. */
  hold(brokerId: BrokerId, sha256: string): () => void {
    const kept = this.#kept.get(getKey(brokerId, sha256));
    if (kept === undefined) return () => undefined;
    kept.holders += 1;
    return () => {
      kept.holders -= 1;
      this.makeRoom(0);
    };
  }

  /**
   * From now on these contents of a broker do not go, also those that are still to come; those that were named before
   * do.
   */
  pin(brokerId: BrokerId, sha256s: ReadonlySet<string>): void {
    if (sha256s.size === 0) this.#pinned.delete(brokerId);
    else this.#pinned.set(brokerId, sha256s);
    this.makeRoom(0);
  }

  /** Whether a content may not go. */
  isPinned(brokerId: BrokerId, sha256: string): boolean {
    return this.#pinned.get(brokerId)?.has(sha256) ?? false;
  }

  /** Frees space for this many bytes. False if the stored contents are needed. */
  makeRoom(size: Bytes): boolean {
    const { bytesMax } = this.#options;
    if (size > bytesMax) return false;
    if (this.#bytes + size <= bytesMax) return true;
    const pinned = new Set(
      [...this.#pinned].flatMap(([brokerId, sha256s]) => [...sha256s].map((sha256) => getKey(brokerId, sha256))),
    );
    for (const wantsParts of [true, false]) {
      for (const [key, kept] of [...this.#kept]) {
        if (kept.isPart !== wantsParts || kept.holders > 0 || pinned.has(key)) continue;
        this.#remove(key, kept);
        if (this.#bytes + size <= bytesMax) return true;
      }
    }
    return false;
  }

  /** Bytes of a content's beginning that an earlier transfer left. */
  partSize(brokerId: BrokerId, content: Content): Bytes {
    const kept = this.#kept.get(getPartKey(brokerId, content.sha256));
    return kept === undefined || kept.size > content.size ? 0 : kept.size;
  }

  /**
   * Where to write a content; from now on its bytes count. What was there is the caller's until `publish` or
   * `leavePart`.
   */
  takePart(brokerId: BrokerId, { sha256, size }: Content): string {
    const path = join(this.getFolder(brokerId), `${sha256}.part`);
    const key = getPartKey(brokerId, sha256);
    const former = this.#kept.get(key);
    if (former !== undefined) this.#forget(key, former);
    this.#add(key, { path, size, isPart: true, isProven: false, holders: 1 });
    return path;
  }

  /** Makes a part that was written and proven a content. @throws Error of the file system. */
  async publish(brokerId: BrokerId, { sha256, size }: Content): Promise<void> {
    const partKey = getPartKey(brokerId, sha256);
    const part = this.#kept.get(partKey);
    invariant(part, `no part of content ${sha256}`);
    const path = join(this.getFolder(brokerId), sha256);
    await chmod(part.path, 0o400);
    await rename(part.path, path);
    this.#forget(partKey, part);
    const key = getKey(brokerId, sha256);
    const former = this.#kept.get(key);
    if (former !== undefined) this.#forget(key, former);
    this.#add(key, { path, size, isPart: false, isProven: true, holders: 0 });
    this.makeRoom(0);
  }

  /** Leaves a part for a later transfer, or removes it. */
  leavePart(brokerId: BrokerId, sha256: string, isOfUse: boolean): void {
    const key = getPartKey(brokerId, sha256);
    const part = this.#kept.get(key);
    if (part === undefined) return;
    this.#remove(key, part, isOfUse);
    const size = statSync(part.path, { throwIfNoEntry: false })?.size ?? 0;
    if (isOfUse && size > 0) this.#add(key, { ...part, size, holders: 0 });
    this.makeRoom(0);
  }

  #scan(brokerFolder: string): FoundFile[] {
    const { folder, now, partAgeMax } = this.#options;
    const found: FoundFile[] = [];
    for (const name of readdirSync(join(folder, brokerFolder))) {
      const path = join(folder, brokerFolder, name);
      const status = statSync(path, { throwIfNoEntry: false });
      const isPart = namePattern.exec(name)?.[2] !== undefined;
      if (status?.isFile() !== true || !namePattern.test(name)) continue;
      if (isPart && status.mtimeMs < now - partAgeMax) rmSync(path, { force: true });
      else
        found.push({
          key: `${brokerFolder}/${name}`,
          changedAt: status.mtimeMs,
          kept: { path, size: status.size, isPart, isProven: false, holders: 0 },
        });
    }
    return found;
  }

  #add(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#bytes += kept.size;
  }

  #forget(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= kept.size;
  }

  #remove(key: string, kept: Kept, keepsFile = false): void {
    this.#forget(key, kept);
    if (!keepsFile) rmSync(kept.path, { force: true });
  }
}

function getKey(brokerId: BrokerId, sha256: string): string {
  // The name becomes a path: anything but a hash here would let a peer choose a file.
  invariant(namePattern.test(sha256), `not a hash: ${sha256}`);
  return `${getFolderName(brokerId)}/${sha256}`;
}

function getPartKey(brokerId: BrokerId, sha256: string): string {
  return `${getKey(brokerId, sha256)}.part`;
}

/** A broker's name as a folder's, of which nothing leads elsewhere and which no other broker has. */
function getFolderName(brokerId: BrokerId): string {
  return `broker-${createHash('sha256').update(brokerId).digest('hex').slice(0, 32)}`;
}
