import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const chunk = Buffer.alloc(1024 * 1024, 'ballast ');

/** A folder with a file system of its own that can be filled and emptied. Mounting takes root. */
export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, '.ballast');
  }

  /**
   * Makes the folder and mounts a memory file system of `bytes` on it. @throws Error where that is not allowed.
   */
  static mount(folder: string, bytes: number): SmallDisk {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes},mode=0700`, 'mutirao-small-disk', folder], {
      stdio: 'pipe',
    });
    return new SmallDisk(folder);
  }

  /** Whether file systems can be mounted here. */
  static isPossible(scratch: string): boolean {
    try {
      SmallDisk.mount(scratch, 65_536).unmount();
      return true;
    } catch {
      return false;
    }
  }

  /** Leaves no room: fills what is free, to the last byte. Again after something was removed. */
  fill(): void {
    const file = openSync(this.#ballast, 'a', 0o600);
    try {
      for (let size = chunk.length; size >= 1; ) {
        try {
          if (writeSync(file, chunk, 0, size) < size) size = Math.floor(size / 2);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          size = Math.floor(size / 2);
        }
      }
    } finally {
      closeSync(file);
    }
  }

  /** Room again. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }

  /** Takes the file system away. @param keep whether its files stay, in the plain folder. */
  unmount({ keep = false } = {}): void {
    const copy = `${this.folder}.kept`;
    if (keep)
      cpSync(this.folder, copy, {
        recursive: true,
        filter: (path) => path !== this.#ballast && !path.includes('/launchers/'),
      });
    execFileSync('umount', ['-l', this.folder], { stdio: 'pipe' });
    if (!keep) return;
    rmSync(this.folder, { recursive: true, force: true });
    cpSync(copy, this.folder, { recursive: true });
    rmSync(copy, { recursive: true, force: true });
  }
}
