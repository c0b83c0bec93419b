import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Content } from '@mutirao/core/messages';
import { findSharedTokens, fsPath, hashFile, homeSharedToken, type SharedToken } from '@mutirao/runtime/files';

/** An output that was left for its broker. */
export interface DroppedFile {
  /** In the broker's folder. */
  readonly name: string;
  readonly content: Content;
}

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
   * Leaves a copy of an output for the process whose token it is.
   *
   * The file itself would be cheaper to leave, but what still has it open for writing, be it the task's own daemon or a container that it started,
   * would go on changing an accepted result. File systems that can share blocks between files copy nothing.
   *
   * @returns what the copy holds, whatever happens to the file meanwhile; undefined where nothing can be left.
   */
  async drop(token: string, file: string): Promise<DroppedFile | undefined> {
    const folder = this.read().find((shared) => shared.token === token)?.folder ?? '';
    if (folder === '') return undefined;
    const name = `drop-${randomBytes(16).toString('hex')}`;
    const target = path.join(folder, name);
    try {
      await copyFile(fsPath(file), target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      return { name, content: await hashFile(target) };
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
