import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { isSocketPath, parseAddress, socketAddress, socketPathBytesMax } from './address.ts';

/** Room for what is put behind a path while a socket is being made. */
const spareBytes = 8;

/**
 * The address of a socket in a folder. If its path would be too long for the kernel, the socket is in a folder of a
 * short name below the system's temporary one, always the same.
 *
 * @throws {MutiraoError} MUT_BAD_CONFIG when that name is too long too, or not valid for sockets.
 */
export function socketIn(folder: string, name: string): string {
  const path = join(folder, name);
  const isShort = Buffer.byteLength(path) + spareBytes <= socketPathBytesMax;
  const address = socketAddress(isShort ? path : shortPath(folder, name));
  parseAddress(address);
  return address;
}

/** Where the sockets of a home folder are. */
const homeSockets = 'sockets';

/** What a file system without sockets answers. */
const socketlessErrnos: readonly unknown[] = ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EPERM', 'EINVAL'];

/**
 * The address at which a process of a home folder listens: what its options say, or a socket in the home folder, which
 * other accounts cannot reach or replace.
 *
 * The socket is in a folder with a short name below the system's temporary one where the home folder has a path that a
 * socket cannot have, or a file system without sockets.
 *
 * @param name the process, unique in the home folder. @param given what its options say; empty for the socket. @throws
 * {MutiraoError} MUT_TOKEN_UNSAFE when others may enter the folder.
 */
export async function listenAddress(home: string, name: string, given = ''): Promise<string> {
  if (given !== '') return given;
  const folder = join(home, homeSockets);
  const path = join(folder, name);
  if (isSocketPath(path, spareBytes)) {
    makeSocketFolder(path);
    if (await holdsSockets(folder)) return socketAddress(path);
  }
  return socketAddress(shortPath(folder, name));
}

/** Folders in which processes of a home folder may listen. */
export function homeSocketFolders(home: string): string[] {
  const folder = join(home, homeSockets);
  return [folder, dirname(shortPath(folder, 'any'))];
}

/** Whether a socket is that of a process of this host's own home folder, and not the end of a tunnel. */
export function isHomeSocket(path: string): boolean {
  const folder = dirname(path);
  return basename(folder) === homeSockets || dirname(folder) === tmpdir();
}

/** The same each time for a folder and a name. */
function shortPath(folder: string, name: string): string {
  const path = join(shortFolder(folder), name);
  return isSocketPath(path, spareBytes) ? path : join(dirname(path), shortHash(name));
}

/** Names that other accounts would have to take before none is left. */
const shortFoldersMax = 32;

/**
 * The folder of this account that is there, or else one that may be made: another account can take a name before us, for
 * it can be foreseen.
 */
function shortFolder(folder: string): string {
  const name = join(tmpdir(), `mutirao-${process.geteuid?.() ?? 0}-${shortHash(folder)}`);
  const names = [name, ...Array.from({ length: shortFoldersMax - 1 }, (_, index) => `${name}-${index + 1}`)];
  const owners = names.map((one) => lstatSync(one, { throwIfNoEntry: false })?.uid);
  return names[owners.indexOf(process.geteuid?.())] ?? names[owners.indexOf(undefined)] ?? name;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Whether the file system of a folder takes sockets; true also where that cannot be found out, so that the listener
 * meets the error.
 */
function holdsSockets(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(!socketlessErrnos.includes(code));
    });
    server.listen(join(folder, `.${process.pid}`), () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/**
 * Makes the folder of a socket, for this user alone. @throws {MutiraoError} MUT_TOKEN_UNSAFE when it is there already
 * and others may enter it.
 */
export function makeSocketFolder(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fault = findForeign(path);
  if (fault !== undefined) throw new MutiraoError('MUT_TOKEN_UNSAFE', fault);
  const { mode } = lstatSync(folder);
  if ((mode & 0o077) !== 0)
    throw new MutiraoError(
      'MUT_TOKEN_UNSAFE',
      `the folder ${folder} of a socket has mode ${(mode & 0o777).toString(8)}; expected 700`,
    );
}

/**
 * Creates the folder of a socket to listen on, and removes the socket of a server that is gone.
 *
 * @throws {MutiraoError} as `makeSocketFolder`; MUT_ALREADY_RUNNING when somebody listens; MUT_BAD_CONFIG for another
 * kind of file.
 */
export async function makeRoomForSocket(path: string): Promise<void> {
  makeSocketFolder(path);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket())
    throw new MutiraoError('MUT_BAD_CONFIG', `${path} exists and is not a socket; expected another path`);
  if (await isListenedOn(path))
    throw new MutiraoError('MUT_ALREADY_RUNNING', `cannot listen on ${path}: another process does`);
  rmSync(path, { force: true });
}

/**
 * Why what listens at a socket might be another user's: the folder is hers, or she may write to it. Undefined where it
 * cannot be, and where there is no folder.
 */
export function findForeign(path: string): string | undefined {
  const folder = dirname(path);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isDirectory()) return `${folder}, the folder of a socket, is not a folder`;
  if (!isOurs(folder, found.uid)) return `the folder ${folder} of a socket belongs to user ${found.uid}, and not to us`;
  return (found.mode & 0o022) === 0
    ? undefined
    : `others may write to the folder ${folder} of a socket; expected mode 700`;
}

/**
 * Whether a folder is this account's. For root it may also be that of the account that owns the folder around it, as
 * where root looks at the home folder of somebody.
 */
function isOurs(folder: string, uid: number): boolean {
  const own = process.getuid?.();
  return uid === own || (own === 0 && lstatSync(dirname(folder), { throwIfNoEntry: false })?.uid === uid);
}

/** Whether a process takes connections at a socket; true if that is unknown. */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT');
    });
  });
}
