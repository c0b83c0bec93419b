import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type BigIntStats,
} from 'node:fs';
import { join } from 'node:path';
import { makeToken } from './token.ts';

/** A secret that a process left in a home folder. It is never sent; `home-proofs.ts` proves that a process has it. */
export interface HomeKey {
  readonly key: string;
  /** Where files for the writer may be put; empty where it takes none. */
  readonly folder: string;
}

/** More key files than this are not read. */
const keysMax = 64;
const bytesMax = 10_000;
const namePattern = /^[\w.-]{1,80}\.json$/;

/**
 * Leaves a key in a home folder, for processes that share the file system and the account.
 *
 * The file states its own inode number, so that a copy of the folder on another file system has no key. The same key
 * each time.
 *
 * @param name of the process, unique in the home folder.
 */
export function offerHomeKey(home: string, name: string, folder: string): string {
  const directory = join(home, 'shared');
  const path = join(directory, `${name}.json`);
  const known = readHomeKey(path);
  if (known?.folder === folder) return known.key;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const key = makeToken();
  const draft = `${path}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify({ key, folder, inode: String(fstatSync(file, { bigint: true }).ino) })}\n`);
  } finally {
    closeSync(file);
  }
  return publish(draft, path, folder) ?? key;
}

/** Processes that start at once agree on one: the key of the first, or undefined when that is ours. */
function publish(draft: string, path: string, folder: string): string | undefined {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const known = readHomeKey(path);
    if (known?.folder !== folder) renameSync(draft, path);
    else return known.key;
  } finally {
    rmSync(draft, { force: true });
  }
  return undefined;
}

/**
 * The key of a home folder itself, which each process that uses the folder finds or makes. Empty where the folder does
 * not exist.
 */
export function getHomeKey(home: string): string {
  return existsSync(home) ? offerHomeKey(home, 'home', '') : '';
}

/** The keys that can be read in a home folder; none where it is not shared. */
export function findHomeKeys(home: string): HomeKey[] {
  const directory = join(home, 'shared');
  try {
    const names = readdirSync(directory)
      .filter((name) => namePattern.test(name))
      .sort()
      .slice(0, keysMax);
    return names.flatMap((name) => readHomeKey(join(directory, name)) ?? []);
  } catch {
    return [];
  }
}

/** Undefined for a file that is absent, a link, another account's, open to others, a copy, or not a key file. */
function readHomeKey(path: string): HomeKey | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file, { bigint: true });
    return isPrivate(status) ? parseHomeKey(readFileSync(file, 'utf8'), String(status.ino)) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** A small regular file of our own account, which nobody else may read. */
function isPrivate(status: BigIntStats): boolean {
  const isOurs = process.getuid === undefined || status.uid === BigInt(process.getuid());
  return status.isFile() && isOurs && (status.mode & 0o077n) === 0n && status.size <= BigInt(bytesMax);
}

/** @param found inode number of the file that holds the text. */
function parseHomeKey(text: string, found: string): HomeKey | undefined {
  const { key, folder, inode } = JSON.parse(text) as Record<string, unknown>;
  return typeof key === 'string' && typeof folder === 'string' && key.length >= 16 && inode === found
    ? { key, folder }
    : undefined;
}
