import { mkdirSync } from 'node:fs';
import path from 'node:path';

/** The folders that users keep between their tasks, one each. */
export class Storages {
  private readonly folder: string;
  private readonly known = new Map<string, string>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** A user's storage, made when it is first asked for. */
  pathOf(userId: string): string {
    let storage = this.known.get(userId);
    if (storage === undefined) {
      storage = path.join(this.folder, folderNameOf(userId));
      mkdirSync(storage, { recursive: true, mode: 0o700 });
      this.known.set(userId, storage);
    }
    return storage;
  }
}

/** A user's name as a folder's: nothing of it leads elsewhere. */
export function folderNameOf(userId: string): string {
  return encodeURIComponent(userId).replaceAll('.', '%2E').slice(0, 200);
}
