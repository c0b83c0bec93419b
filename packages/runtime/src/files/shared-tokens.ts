import { closeSync, existsSync, fstatSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeToken } from './token.ts';

/** What a token file says: who finds it shares a file system with the process that wrote it. */
export interface SharedToken {
  readonly token: string;
  /** Where files for the writer may be put; empty where it wants none. */
  readonly folder: string;
}

/** More token files than this are not read. */
const tokensMax = 64;
const namePattern = /^[\w.-]{1,80}\.json$/;

/**
 * Leaves a token in a home folder, for whoever shares the file system and may read it: our own account alone.
 *
 * The file says its own inode number, so that a copy of the folder on another file system is no proof. The same token each time.
 *
 * @param name of the process, unique in the home folder.
 */
export function offerSharedToken(home: string, name: string, folder: string): string {
  const directory = join(home, 'shared');
  const path = join(directory, `${name}.json`);
  const known = readSharedToken(path);
  if (known?.folder === folder) return known.token;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const token = makeToken();
  const draft = `${path}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify({ token, folder, inode: String(fstatSync(file, { bigint: true }).ino) })}\n`);
  } finally {
    closeSync(file);
  }
  return publish(draft, path, folder) ?? token;
}

/** Processes that start at once agree on one: the token of the first, or undefined when that is ours. */
function publish(draft: string, path: string, folder: string): string | undefined {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const known = readSharedToken(path);
    if (known?.folder !== folder) renameSync(draft, path);
    else return known.token;
  } finally {
    rmSync(draft, { force: true });
  }
  return undefined;
}

/** The token of a home folder itself, which whoever uses that folder finds or makes. Empty where the folder is not there. */
export function homeSharedToken(home: string): string {
  return existsSync(home) ? offerSharedToken(home, 'home', '') : '';
}

/** The tokens that can be read in a home folder; none where it is not shared. */
export function findSharedTokens(home: string): SharedToken[] {
  const directory = join(home, 'shared');
  try {
    const names = readdirSync(directory).filter((name) => namePattern.test(name)).sort().slice(0, tokensMax);
    return names.flatMap((name) => readSharedToken(join(directory, name)) ?? []);
  } catch {
    return [];
  }
}

/** Undefined for what is not there, is not our own, is a copy or holds anything else. */
function readSharedToken(path: string): SharedToken | undefined {
  try {
    const { ino, uid, mode, size } = lstatSync(path, { bigint: true });
    const isOurs = process.getuid === undefined || uid === BigInt(process.getuid());
    if (!isOurs || (mode & 0o077n) !== 0n || size > 10_000n) return undefined;
    const { token, folder, inode } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    return typeof token === 'string' && typeof folder === 'string' && token.length >= 16 && inode === String(ino) ? { token, folder } : undefined;
  } catch {
    return undefined;
  }
}
