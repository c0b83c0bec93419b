import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Stats } from 'node:fs';
import { bytesOfName, nameOfBytes } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { Bytes } from '@mutirao/core/shared';
import { fsPath } from '@mutirao/runtime/files';
import { getErrno } from './verdict.ts';

/** Files that one replica brings home, and folders that are looked into for them. */
const filesMax = 10_000;
const foldersMax = 100_000;

/** A file of an output. */
export interface FoundFile {
  readonly outputIndex: number;
  /** Below the output where that is a folder; empty for a file. */
  readonly path: string;
  /** Where it is; what links lead to, where there are some on the way. */
  readonly file: string;
  readonly size: Bytes;
  readonly mode: number;
}

/** An output to look into. */
export interface WantedOutput {
  readonly outputIndex: number;
  /** Where it is, without links on the way. */
  readonly place: string;
  /** As the job names it. */
  readonly shown: string;
}

/**
 * Finds the files of outputs: all that is in them comes home, or the task fails and says what does not.
 *
 * A link is brought as what it leads to, within the folders that are the task's own. File names are bytes; see
 * `nameOfBytes`.
 */
export class OutputFinder {
  /** In the order of outputs, and of names within each. */
  readonly found: FoundFile[] = [];
  readonly #roots: readonly string[];
  #folderCount = 0;

  /** @param roots the folders that are the task's own, without links on the way. */
  constructor(roots: readonly string[]) {
    this.#roots = roots;
  }

  /**
   * @throws {MutiraoError} MUT_OUTPUT_MISSING, MUT_OUTPUT_UNREADABLE, MUT_OUTPUT_LINK, MUT_OUTPUT_FILES_MAX; Error of
   * the file system.
   */
  async find(output: WantedOutput): Promise<void> {
    const { place, shown } = output;
    const status = await lstat(fsPath(place)).catch((error: unknown) => {
      if (['ENOENT', 'ENOTDIR'].includes(getErrno(error)))
        throw new MutiraoError('MUT_OUTPUT_MISSING', `output "${shown}" was not there when the command had ended`);
      throw readError(error, `output "${shown}"`);
    });
    if (status.isDirectory()) await this.#walk(output, { place, below: '', above: [idOf(status)] });
    else this.#add(output, { place, below: '', status });
  }

  async #walk(output: WantedOutput, folder: Folder): Promise<void> {
    if (++this.#folderCount > foldersMax)
      throw new MutiraoError(
        'MUT_OUTPUT_FILES_MAX',
        `output "${output.shown}" holds more than ${foldersMax} folders, links to folders included`,
      );
    const names = await readdir(fsPath(folder.place), { encoding: 'buffer' }).catch((error: unknown) =>
      Promise.reject(readError(error, describe(output, folder.below))),
    );
    for (const name of names.map(nameOfBytes).sort(compareBytes)) {
      await this.#visit(output, {
        place: path.join(folder.place, name),
        below: path.join(folder.below, name),
        above: folder.above,
      });
    }
  }

  async #visit(output: WantedOutput, entry: Folder): Promise<void> {
    const { place, below, above } = entry;
    const status = await lstat(fsPath(place)).catch((error: unknown) =>
      Promise.reject(readError(error, describe(output, below))),
    );
    if (status.isDirectory()) await this.#walk(output, { place, below, above: [...above, idOf(status)] });
    else if (status.isSymbolicLink()) await this.#follow(output, entry);
    else this.#add(output, { place, below, status });
  }

  async #follow(output: WantedOutput, { place, below, above }: Folder): Promise<void> {
    const shown = describe(output, below);
    const target = await realpath(fsPath(place), { encoding: 'buffer' }).catch((error: unknown) => {
      if (getErrno(error) === 'ELOOP') throw linkError(`${shown} is a link that leads to itself`);
      if (['ENOENT', 'ENOTDIR'].includes(getErrno(error))) throw linkError(`${shown} is a link to what is not there`);
      throw readError(error, shown);
    });
    const real = nameOfBytes(target);
    if (!this.#roots.some((root) => real === root || real.startsWith(root + path.sep)))
      throw linkError(`${shown} is a link to ${real}, outside the task's own folders`);
    const status = await stat(target);
    if (!status.isDirectory()) {
      this.#add(output, { place: real, below, status });
      return;
    }
    // Below itself it would never end.
    if (above.includes(idOf(status))) throw linkError(`${shown} is a link to a folder that it is in`);
    await this.#walk(output, { place: real, below, above: [...above, idOf(status)] });
  }

  #add(
    output: WantedOutput,
    { place, below, status }: { readonly place: string; readonly below: string; readonly status: Stats },
  ): void {
    if (!status.isFile())
      throw new MutiraoError(
        'MUT_OUTPUT_UNREADABLE',
        `${describe(output, below)} is ${getKind(status)}; only files and folders are brought home`,
      );
    this.found.push({
      outputIndex: output.outputIndex,
      path: below,
      file: place,
      size: status.size,
      mode: status.mode & 0o777,
    });
    if (this.found.length > filesMax)
      throw new MutiraoError('MUT_OUTPUT_FILES_MAX', `output "${output.shown}" holds more than ${filesMax} files`);
  }
}

interface Folder {
  readonly place: string;
  readonly below: string;
  /** The folders that it is in, up to the output, as they were come by. */
  readonly above: readonly string[];
}

/**
 * Names the output in an error of the file system that its task has caused; returns any other error unchanged. @param
 * shown what could not be read.
 */
export function readError(error: unknown, shown: string): unknown {
  switch (getErrno(error)) {
    case 'EACCES':
    case 'EPERM':
      return new MutiraoError('MUT_OUTPUT_UNREADABLE', `${shown} cannot be read: permission denied`, { cause: error });
    case 'ENAMETOOLONG':
      return new MutiraoError(
        'MUT_OUTPUT_UNREADABLE',
        `${shown} has a path that is longer than the system takes (4096 bytes)`,
        { cause: error },
      );
    case 'ENOENT':
    case 'ENOTDIR':
      return new MutiraoError(
        'MUT_OUTPUT_CHANGED',
        `${shown} was removed while it was read, after the command had ended`,
        { cause: error },
      );
    default:
      return error;
  }
}

function linkError(message: string): MutiraoError {
  return new MutiraoError('MUT_OUTPUT_LINK', message);
}

/** A name of an output or of what is in it, short enough for a message. */
export function describe({ shown }: Pick<WantedOutput, 'shown'>, below: string): string {
  return `output "${shorten(below === '' ? shown : path.join(shown, below))}"`;
}

/** A name with its middle left out where it is too long for a message. */
export function shorten(name: string): string {
  return name.length > 300 ? `${name.slice(0, 150)}...${name.slice(-100)}` : name;
}

function getKind(status: Stats): string {
  if (status.isFIFO()) return 'a FIFO';
  if (status.isSocket()) return 'a socket';
  return status.isSymbolicLink() ? 'a link' : 'a device';
}

function idOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(bytesOfName(one), bytesOfName(other));
}
