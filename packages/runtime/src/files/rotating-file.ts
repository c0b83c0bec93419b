import { closeSync, constants, fchmodSync, fstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Bytes } from '@mutirao/core/shared';
import { makeFolder } from './make-folder.ts';

/** Where lines go, and how much of them is kept. */
export interface RotatingFileOptions {
  /** The file that is written to; older ones are `path.1`, `path.2` and so on. */
  readonly path: string;
  /** A file that would grow larger is put aside first. */
  readonly bytesMax: Bytes;
  /** How many older files are kept. */
  readonly keptMax: number;
}

/** Never through a link: the file is ours alone. */
const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;

/**
 * A file of lines that only this account can read and that takes a bounded part of the disk.
 *
 * Lines are written at once. A file that somebody removed or put aside is made again at the next rotation or restart.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #file: number | undefined;
  #size: Bytes = 0;
  #isCutShort = false;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Appends text that ends with a line end. @throws Error of the file system. */
  append(text: string): void {
    // A line that a full disk cut short is ended first, so that the next one stands by itself.
    const bytes = Buffer.from(this.#isCutShort ? `\n${text}` : text);
    this.#open();
    if (this.#size > 0 && this.#size + bytes.length > this.#options.bytesMax) {
      this.#rotate();
      this.#open();
    }
    this.#write(bytes);
  }

  close(): void {
    if (this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  #open(): void {
    if (this.#file !== undefined) return;
    const { path } = this.#options;
    makeFolder(dirname(path));
    this.#file = openSync(path, flags, 0o600);
    fchmodSync(this.#file, 0o600);
    this.#size = fstatSync(this.#file).size;
  }

  #write(bytes: Buffer): void {
    const file = this.#file;
    if (file === undefined) return;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(file, bytes, written);
      this.#isCutShort = false;
    } catch (error) {
      this.#isCutShort ||= written > 0;
      // The next attempt opens the file again, wherever the fault was.
      this.close();
      throw error;
    } finally {
      this.#size += written;
    }
  }

  #rotate(): void {
    const { path, keptMax } = this.#options;
    this.close();
    rmSync(`${path}.${keptMax}`, { force: true });
    for (let index = keptMax - 1; index >= 1; index -= 1) renameIfThere(`${path}.${index}`, `${path}.${index + 1}`);
    if (keptMax > 0) renameIfThere(path, `${path}.1`);
    else rmSync(path, { force: true });
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
