import { mkdirSync, readdirSync, renameSync, rmSync, statSync, type Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';

const mode = 0o700;
/** File systems tell times in steps of some milliseconds: two changes closer than this may look like one. */
const clockGrain = 50;

/**
 * The folders that tasks run in, one per slot, each fresh for its task.
 *
 * A playpen that a task left as it found it is fresh; making a folder anew costs as much as starting a short task. Any other
 * is moved aside at once and removed meanwhile.
 */
export class Playpens {
  private readonly folder: string;
  private readonly trash: string;
  private readonly fresh = new Set<number>();
  /** When each playpen last changed, where that was looked at long enough before its task that any change since would show. */
  private readonly changedAt = new Map<number, number>();
  private trashCount = 0;

  /** Removes what a former agent left in the folder. */
  constructor(folder: string) {
    this.folder = folder;
    this.trash = path.join(folder, 'trash');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(this.trash, { recursive: true, mode });
  }

  /** Where a slot's playpen is. */
  pathOf(slot: number): string {
    return path.join(this.folder, String(slot));
  }

  /** Makes a fresh playpen for a task. @throws Error of the file system. */
  prepare(slot: number): string {
    const playpen = this.pathOf(slot);
    if (!this.fresh.delete(slot)) {
      mkdirSync(playpen, { mode });
      this.changedAt.delete(slot);
    }
    return playpen;
  }

  /** Takes a task's playpen away. Harmless where there is none. */
  release(slot: number): void {
    if (this.fresh.has(slot)) return;
    const playpen = this.pathOf(slot);
    if (this.isUntouched(slot, playpen)) this.fresh.add(slot);
    else this.discard(playpen);
  }

  /** One look at the folder suffices where its last change is known and old: whatever a task does in it changes that. */
  private isUntouched(slot: number, playpen: string): boolean {
    const found = lookAt(playpen);
    if (found === undefined) return false;
    if (this.changedAt.get(slot) === found.ctimeMs) return true;
    if ((found.mode & 0o7777) !== mode || readdirSync(playpen).length > 0) return false;
    if (Date.now() - found.ctimeMs > clockGrain) this.changedAt.set(slot, found.ctimeMs);
    return true;
  }

  /** Removes all of them. */
  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private discard(playpen: string): void {
    const discarded = path.join(this.trash, String(++this.trashCount));
    try {
      renameSync(playpen, discarded);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return; // Its task removed it, or it was never made.
      throw error;
    }
    // What cannot be removed now goes with the whole folder.
    rm(discarded, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

function lookAt(playpen: string): Stats | undefined {
  try {
    return statSync(playpen);
  } catch {
    return undefined;
  }
}
