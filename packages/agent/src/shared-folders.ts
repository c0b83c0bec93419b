import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import { findSharedTokens, fsPath, homeSharedToken, type SharedToken } from '@mutirao/runtime/files';

/** What an agent shares with others by a file system: whose token files it can read, and where they take outputs. */
export class SharedFolders {
  private readonly home: string;

  /** @param home folder that may be shared; empty for an agent that is to share nothing. */
  constructor(home: string) {
    this.home = home;
  }

  /** What its token files hold now. */
  look(): string[] {
    return this.read().map(({ token }) => token);
  }

  /**
   * Leaves an output for the process whose token it is: shares the file where nobody else wants it, otherwise a copy.
   *
   * Resolves to its name in that process's folder; undefined where that cannot be.
   */
  async drop(token: string, file: string, isMovable: boolean): Promise<string | undefined> {
    const folder = this.read().find((shared) => shared.token === token)?.folder ?? '';
    if (folder === '') return undefined;
    const name = `drop-${randomBytes(16).toString('hex')}`;
    const target = path.join(folder, name);
    try {
      const { nlink } = await lstat(fsPath(file));
      // A file with another name may be written through that.
      if (!isMovable || nlink > 1 || !(await linked(file, target))) await copyFile(fsPath(file), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      return name;
    } catch {
      await rm(target, { force: true }).catch(() => undefined);
      return undefined;
    }
  }

  /** Whoever else uses the folder may have come later than this agent; the folder's own token is there from the first one on. */
  private read(): SharedToken[] {
    if (this.home === '') return [];
    try {
      homeSharedToken(this.home);
    } catch {
      // A folder that cannot be written to may have a token all the same.
    }
    return findSharedTokens(this.home);
  }
}

async function linked(file: string, target: string): Promise<boolean> {
  return await link(fsPath(file), target).then(() => true, () => false);
}
