import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import path from 'node:path';
import { makeFolder, openUpFolder } from '@mutirao/runtime/files';

/** The folders that users keep between their tasks, one each. */
export class Storages {
  private readonly folder: string;
  private readonly known = new Map<string, string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * A user's storage. Made when it is missing: at first, and after a task or a cleaner of old files removed it. @throws
   * Error of the file system.
   */
  getPath(userId: string): string {
    let storage = this.known.get(userId);
    if (storage === undefined) {
      storage = path.join(this.folder, getFolderName(userId));
      this.known.set(userId, storage);
    }
    try {
      makeFolder(storage);
    } catch {
      this.mend(storage);
      makeFolder(storage);
    }
    return storage;
  }

  /**
   * A task put something else in its place, or took away our right to make it. A file that is in the way is kept, for
   * it is the user's.
   */
  private mend(storage: string): void {
    openUpFolder(this.folder);
    try {
      renameSync(storage, `${storage}.replaced-${Date.now()}`);
    } catch {
      // Nothing was in the way.
    }
  }
}

const nameMax = 200;

/** A user's name as a folder's: nothing of it leads elsewhere, and no other user has the same. */
export function getFolderName(userId: string): string {
  const name = encodeURIComponent(userId.toWellFormed()).replaceAll('.', '%2E') || '%';
  return name.length <= nameMax
    ? name
    : `${name.slice(0, nameMax - 65)}-${createHash('sha256').update(userId).digest('hex')}`;
}
