import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { getSystemErrorMessage } from 'node:util';
import { invariant } from '@mutirao/core/shared';
import {
  changeMode,
  closeFile,
  openFolder,
  pathAt,
  readEntries,
  removeEmptyFolder,
  removeFile,
  runLater,
  runNow,
  statFile,
  type FileSteps,
} from './file-calls.ts';
import { kernelMounts, type Mounts } from './mounts.ts';

/** Something that a removal left where it was. */
export interface LeftBehind {
  readonly path: string;
  /** Why, in words for people. */
  readonly reason: string;
}

/** What came of the removal of a tree. */
export interface Removal {
  /** Whether nothing is there any more. */
  readonly isComplete: boolean;
  /** Why not, with the first places. Empty when complete. */
  readonly left: readonly LeftBehind[];
  /** Number of all the places. */
  readonly leftCount: number;
}

/** Where a removal gets its knowledge of mounts from. */
export interface RemovalOptions {
  /** The kernel's when left out. */
  readonly mounts?: Mounts;
}

/** Calls that are made at once before the rest is waited for: as many as the folder of a small task takes. */
const callsAtOnce = 64;
/** Folders that are kept open on the way down; others are found again on the way up. */
const openMax = 32;
/** How often a folder is read again because something came into it meanwhile. */
const readsMax = 8;
const leftShownMax = 20;
const pathShownMax = 400;

/**
 * Removes a file or a folder with everything in it, before it returns. Harmless where nothing is there.
 *
 * Never throws, follows no link, and never enters another mount or device: a task may have mounted something that is
 * not ours to delete. Modes that keep us out are changed. Depth, length and bytes of names do not matter. What cannot
 * be removed stays, and the answer says why.
 */
export function removeTree(path: string, options: RemovalOptions = {}): Removal {
  return runNow(new TreeRemoval(path, options.mounts ?? kernelMounts).run());
}

/** As `removeTree`; waits for the file system without holding up this process. Never rejects. */
export function removeTreeLater(path: string, options: RemovalOptions = {}): Promise<Removal> {
  return runLater(new TreeRemoval(path, options.mounts ?? kernelMounts).run(), callsAtOnce);
}

/**
 * Lets us into a folder whose mode keeps its owner out: read, write, enter. Changes nothing else, follows no link, and
 * does nothing where it cannot.
 */
export function openUpFolder(path: string): void {
  try {
    runNow(openUpAt(path));
  } catch {
    // It is not a folder, or another user's. Whatever is tried there next says so.
  }
}

/** What a removal left, in one line. */
export function describeLeft({ left, leftCount }: Removal): string {
  const shown = left
    .slice(0, 3)
    .map(({ path, reason }) => `${path}: ${reason}`)
    .join('; ');
  return leftCount > 3 ? `${shown}; and ${leftCount - 3} more` : shown;
}

/** A folder that is being emptied. */
interface Frame {
  readonly name: Buffer;
  /** -1 while it is closed. */
  file: number;
  readonly device: number;
  readonly inode: number;
  /** Its subfolders that have not been looked at. */
  readonly subfolders: Buffer[];
  readCount: number;
  /** Whether something in it cannot be removed. */
  keepsSomething: boolean;
}

/** One removal. Keeps its own stack: trees may be deeper than calls can be nested. */
class TreeRemoval {
  private readonly root: string;
  private readonly mounts: Mounts;
  private readonly frames: Frame[] = [];
  private readonly left: LeftBehind[] = [];
  private leftCount = 0;
  private mount = '';

  constructor(path: string, mounts: Mounts) {
    this.root = resolve(path);
    this.mounts = mounts;
  }

  *run(): FileSteps<Removal> {
    try {
      yield* this.removeRoot();
    } catch (error) {
      this.leave(this.root, getReason(error));
    } finally {
      for (const { file } of this.frames) if (file >= 0) yield* closeFile(file);
    }
    return { isComplete: this.leftCount === 0, left: this.left, leftCount: this.leftCount };
  }

  private *removeRoot(): FileSteps<void> {
    const name = basename(this.root);
    if (name === '') return this.leave(this.root, 'it is the root of all files');
    if (!existsSync('/proc/self/fd'))
      return this.leave(this.root, '/proc is not mounted, so mounts inside cannot be found');
    const parent = yield* this.openParent();
    if (parent === undefined) return;
    this.frames.push(parent);
    this.mount = this.mounts.idOf(parent.file);
    yield* this.removeEntry(Buffer.from(name));
    while (this.frames.length > 1) yield* this.goOn(this.top());
  }

  /** Undefined where it does not exist. */
  private *openParent(): FileSteps<Frame | undefined> {
    try {
      // Links on the way to the tree are its caller's, and count.
      const file = yield* openFolder(Buffer.from(`${dirname(this.root)}/.`));
      const { dev: device, ino: inode } = yield* statFile(file);
      return {
        name: Buffer.from(dirname(this.root)),
        file,
        device,
        inode,
        subfolders: [],
        readCount: 0,
        keepsSomething: false,
      };
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(getCode(error))) return undefined;
      throw error;
    }
  }

  /** One step down, or up when a folder is empty. */
  private *goOn(frame: Frame): FileSteps<void> {
    const subfolder = frame.subfolders.pop();
    if (subfolder !== undefined) return yield* this.removeEntry(subfolder);
    if (frame.keepsSomething) return yield* this.goUp(frame, undefined);
    if (frame.readCount > 0 && (yield* this.removeEmptied(frame))) return;
    if (frame.readCount++ < readsMax) return yield* this.readFolder(frame);
    yield* this.goUp(frame, 'files come into it while it is removed');
  }

  /** Removes a name in the uppermost folder, or goes down into it. */
  private *removeEntry(name: Buffer): FileSteps<void> {
    let file: number;
    try {
      file = yield* openFolder(pathAt(this.top().file, name));
    } catch (error) {
      if (getCode(error) === 'ENOENT') return;
      if (['ENOTDIR', 'ELOOP'].includes(getCode(error))) return yield* this.unlink(name);
      return this.leave(this.getPath(name), getReason(error));
    }
    const reason = yield* this.goDown(name, file);
    if (reason === undefined) return;
    yield* closeFile(file);
    this.leave(this.getPath(name), reason);
  }

  /** @returns why the folder may not be entered; undefined when it was. */
  private *goDown(name: Buffer, file: number): FileSteps<string | undefined> {
    // First of all: anything else asks the file system, and one whose server is gone may not answer.
    const mount = this.mounts.idOf(file);
    if (mount !== this.mount) return `${this.mounts.describe(mount)} is mounted there, and may not be ours`;
    const { dev: device, ino: inode, mode } = yield* statFile(file);
    if (device !== this.top().device) return 'it is on another device, and may not be ours';
    if ((mode & 0o700) !== 0o700) yield* this.openUp(file, (mode & 0o7777) | 0o700);
    this.frames.push({ name, file, device, inode, subfolders: [], readCount: 0, keepsSomething: false });
    const far = this.frames[this.frames.length - 1 - openMax];
    if (far !== undefined && far.file >= 0) {
      yield* closeFile(far.file);
      far.file = -1;
    }
    return undefined;
  }

  private *openUp(file: number, mode: number): FileSteps<void> {
    try {
      yield* changeMode(file, mode);
    } catch {
      // It is another user's. What that keeps us from is reported with its own reason.
    }
  }

  private *readFolder(frame: Frame): FileSteps<void> {
    try {
      yield* readEntries(frame.file, ({ name, isFolder }) => (isFolder ? later(frame, name) : this.unlink(name)));
    } catch (error) {
      yield* this.goUp(frame, getReason(error));
    }
  }

  private *unlink(name: Buffer): FileSteps<void> {
    try {
      yield* removeFile(pathAt(this.top().file, name));
    } catch (error) {
      const code = getCode(error);
      if (code === 'ENOENT') return;
      // Where a listing does not say what is a folder.
      if (code === 'EISDIR') return void this.top().subfolders.push(name);
      this.leave(this.getPath(name), getReason(error));
    }
  }

  /** Removes the uppermost folder if it is empty. @returns whether that is done with. */
  private *removeEmptied(frame: Frame): FileSteps<boolean> {
    const parent = this.frames[this.frames.length - 2];
    invariant(parent, 'a folder that is removed has a parent');
    if (!(yield* this.reopen(parent, frame))) return true;
    try {
      yield* removeEmptyFolder(pathAt(parent.file, frame.name));
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes(getCode(error))) return false;
      if (getCode(error) !== 'ENOENT') {
        yield* this.goUp(frame, getReason(error));
        return true;
      }
    }
    yield* this.goUp(frame, undefined);
    return true;
  }

  /** Leaves the uppermost folder. @param reason why it stays; undefined where it is gone. */
  private *goUp(frame: Frame, reason: string | undefined): FileSteps<void> {
    const parent = this.frames[this.frames.length - 2];
    invariant(parent, 'a folder that is removed has a parent');
    if (!(yield* this.reopen(parent, frame))) return;
    if (reason !== undefined) this.leave(this.getPath(), reason);
    if (frame.keepsSomething) parent.keepsSomething = true;
    this.frames.pop();
    yield* closeFile(frame.file);
  }

  /** @returns false where the way up is lost, with which all ends: somebody moved a folder. */
  private *reopen(parent: Frame, child: Frame): FileSteps<boolean> {
    if (parent.file >= 0) return true;
    const file = yield* openFolder(pathAt(child.file, Buffer.from('..')));
    const { dev, ino } = yield* statFile(file);
    if (dev === parent.device && ino === parent.inode) {
      parent.file = file;
      return true;
    }
    yield* closeFile(file);
    throw new Error('a folder in it was moved while it was removed');
  }

  private top(): Frame {
    const frame = this.frames.at(-1);
    invariant(frame, 'a removal has a folder');
    return frame;
  }

  /** The path of the uppermost folder, or of a name in it. */
  private getPath(name?: Buffer): string {
    const names = this.frames.map((frame) => frame.name.toString());
    if (name !== undefined) names.push(name.toString());
    return names.join('/').replace(/^\/\//, '/');
  }

  private leave(path: string, reason: string): void {
    const frame = this.frames.at(-1);
    if (frame !== undefined) frame.keepsSomething = true;
    this.leftCount += 1;
    if (this.left.length < leftShownMax)
      this.left.push({ path: path.length > pathShownMax ? `${path.slice(0, pathShownMax)}...` : path, reason });
  }
}

function* openUpAt(path: string): FileSteps<void> {
  const file = yield* openFolder(Buffer.from(path));
  try {
    const { mode } = yield* statFile(file);
    // The permissions of others stay unchanged.
    if ((mode & 0o700) !== 0o700) yield* changeMode(file, (mode & 0o7777) | 0o700);
  } finally {
    yield* closeFile(file);
  }
}

/** One of the steps, though it asks nothing of the file system. */
function* later(frame: Frame, name: Buffer): FileSteps<void> {
  frame.subfolders.push(name);
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The system's words, without the path: that is the number of a descriptor. */
function getReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (getCode(error) === 'EBUSY') return 'it is a mount point, or in use';
  return 'errno' in error && typeof error.errno === 'number' ? getSystemErrorMessage(error.errno) : error.message;
}
