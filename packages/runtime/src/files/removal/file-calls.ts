import {
  chmod,
  chmodSync,
  close,
  closeSync,
  constants,
  fstat,
  fstatSync,
  open,
  openSync,
  opendirSync,
  rmdir,
  rmdirSync,
  unlink,
  unlinkSync,
  type Dir,
  type Dirent,
  type Stats,
} from 'node:fs';
import { opendir } from 'node:fs/promises';
import { promisify } from 'node:util';

/** A call of the file system in its two forms, synchronous and asynchronous; the caller that runs the steps chooses. */
export interface FileCall {
  now(): unknown;
  later(): Promise<unknown>;
}

/** A piece of work on files that runs both ways. */
export type FileSteps<T> = Generator<FileCall, T, unknown>;

/**
 * Linux's O_PATH, which Node does not name: a descriptor that stands for a file without opening it, so it needs no
 * permission on the file itself.
 */
const pathOnly = 0o10000000;
/** Makes opening fail for a link and for everything else that is not a folder. */
const folderFlags = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const chmodLater = promisify(chmod);
const closeLater = promisify(close);
const fstatLater = promisify(fstat);
const openLater = promisify(open);
const rmdirLater = promisify(rmdir);
const unlinkLater = promisify(unlink);
/** Entries that one call reads. */
const bufferSize = 128;

/**
 * The path of an open descriptor; with `name`, of an entry of that folder. Short however deep the folder is, and it
 * follows the folder when that is moved.
 */
export function pathAt(folder: number, name?: Uint8Array): Buffer {
  const path = Buffer.from(`/proc/self/fd/${folder}`);
  return name === undefined ? path : Buffer.concat([path, Buffer.from('/'), name]);
}

/** Opens a folder without following a link. @throws Error with the code ENOTDIR or ELOOP for everything else. */
export function openFolder(path: Buffer): FileSteps<number> {
  return call(
    () => openSync(path, folderFlags),
    () => openLater(path, folderFlags),
  );
}

/** Closes a descriptor. */
export function closeFile(file: number): FileSteps<void> {
  return call(
    () => {
      closeSync(file);
    },
    () => closeLater(file),
  );
}

/** Describes an open file. */
export function statFile(file: number): FileSteps<Stats> {
  return call(
    () => fstatSync(file),
    () => fstatLater(file),
  );
}

/** Gives an open file another mode. */
export function changeMode(file: number, mode: number): FileSteps<void> {
  return call(
    () => {
      chmodSync(pathAt(file), mode);
    },
    () => chmodLater(pathAt(file), mode),
  );
}

/** Removes a name that is not a folder's. */
export function removeFile(path: Buffer): FileSteps<void> {
  return call(
    () => {
      unlinkSync(path);
    },
    () => unlinkLater(path),
  );
}

/** Removes an empty folder. */
export function removeEmptyFolder(path: Buffer): FileSteps<void> {
  return call(
    () => {
      rmdirSync(path);
    },
    () => rmdirLater(path),
  );
}

/** An entry of a folder, its name as the bytes that it is. */
export interface Entry {
  readonly name: Buffer;
  readonly isFolder: boolean;
}

/** Lists the entries of an open folder, a few at a time. */
export function* readEntries(folder: number, take: (entry: Entry) => FileSteps<void>): FileSteps<void> {
  // The types of Node know only names that are text.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize };
  const path = pathAt(folder).toString();
  const listing = yield* call<Dir>(
    () => opendirSync(path, options),
    () => opendir(path, options),
  );
  try {
    for (;;) {
      const entry = (yield* call(
        () => listing.readSync(),
        () => listing.read(),
      )) as Dirent<Buffer> | null;
      if (entry === null) return;
      yield* take({ name: entry.name, isFolder: entry.isDirectory() });
    }
  } finally {
    listing.closeSync();
  }
}

/** Runs steps to their end before it returns. @throws what they throw. */
export function runNow<T>(steps: FileSteps<T>): T {
  const end = runSome(steps, Infinity);
  return (end as { readonly value: T }).value;
}

/** Runs the first steps at once, which is quicker for a few, and waits for the rest. @throws what they throw. */
export async function runLater<T>(steps: FileSteps<T>, atOnce: number): Promise<T> {
  let next = runSome(steps, atOnce);
  while (next.done !== true) next = await advanceLater(steps, next.value);
  return next.value;
}

function runSome<T>(steps: FileSteps<T>, countMax: number): IteratorResult<FileCall, T> {
  let next = steps.next();
  for (let count = 0; next.done !== true && count < countMax; count++) next = advanceNow(steps, next.value);
  return next;
}

function advanceNow<T>(steps: FileSteps<T>, wanted: FileCall): IteratorResult<FileCall, T> {
  let answer: unknown;
  try {
    answer = wanted.now();
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}

async function advanceLater<T>(steps: FileSteps<T>, wanted: FileCall): Promise<IteratorResult<FileCall, T>> {
  let answer: unknown;
  try {
    answer = await wanted.later();
  } catch (error) {
    return steps.throw(error);
  }
  return steps.next(answer);
}

function* call<T>(now: () => T, later: () => Promise<T>): FileSteps<T> {
  return (yield { now, later }) as T;
}
