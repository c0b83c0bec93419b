import { lstatSync, mkdirSync, readdirSync, renameSync, type Stats } from 'node:fs';
import path from 'node:path';
import {
  describeLeft,
  makeNextFolder,
  openUpFolder,
  removeFreshFolders,
  removeTree,
  removeTreeLater,
  type Removal,
} from '@mutirao/runtime/files';

const mode = 0o700;
/** File systems store times in steps of some milliseconds: two changes closer than this may look like one. */
const clockGrain = 50;

/** What playpens are made of. */
export interface PlaypensOptions {
  readonly folder: string;
  /** Something of a task cannot be removed. @param left what and why, in one line. */
  onLeft(left: string): void;
}

/**
 * The folders that tasks run in, one per slot, each fresh for its task.
 *
 * A playpen that a task left as it found it is fresh; making a folder again costs as much as starting a short task. Any
 * other is moved aside at once and removed meanwhile. Whatever a task did to its playpen, or to the folders above it,
 * the next one gets a fresh one: where the usual name cannot be had, one of another name.
 */
export class Playpens {
  private readonly options: PlaypensOptions;
  /** Where playpens are made: the folder of the options, or one next to it. */
  private home: string;
  private readonly homes = new Set<string>();
  private readonly fresh = new Set<number>();
  /**
   * When each playpen last changed, where that was looked at long enough before its task that any change since would
   * show.
   */
  private readonly changedAt = new Map<number, number>();
  /** By slot: the playpen that was made for its task. */
  private readonly paths: (string | undefined)[] = [];
  /** By slot: the name of its playpens where the usual one cannot be had any more. */
  private readonly names: (string | undefined)[] = [];
  private trashCount = 0;
  private nameCount = 0;

  /** Removes what a former agent left in the folder. @throws Error of the file system where no playpen can be made. */
  constructor(options: PlaypensOptions) {
    this.options = options;
    this.home = options.folder;
    removeFreshFolders(options.folder, (removal) => {
      this.report(removal);
    });
    this.settle();
  }

  /** Where a slot's playpen is. */
  getPath(slot: number): string {
    return this.paths[slot] ?? this.usualPath(slot);
  }

  /** Makes a fresh playpen for a task. @throws Error of the file system. */
  prepare(slot: number): string {
    if (this.fresh.delete(slot)) {
      const playpen = this.getPath(slot);
      // Another task may have removed or replaced it since.
      if (this.isUntouched(slot, playpen)) return playpen;
      this.discard(slot, playpen);
    }
    this.changedAt.delete(slot);
    const made = this.make(slot);
    this.paths[slot] = made;
    return made;
  }

  /** Takes a task's playpen away. Harmless where there is none. Never throws. */
  release(slot: number): void {
    if (this.fresh.has(slot)) return;
    const playpen = this.getPath(slot);
    if (this.isUntouched(slot, playpen)) this.fresh.add(slot);
    else this.discard(slot, playpen);
  }

  /** Removes all of them. Never throws. */
  close(): void {
    for (const home of this.homes) this.report(removeTree(home));
  }

  /**
   * One look at the folder suffices where its last change is known and old: whatever a task does in it changes that.
   */
  private isUntouched(slot: number, playpen: string): boolean {
    const found = lookAt(playpen);
    if (found === undefined) return false;
    if (this.changedAt.get(slot) === found.ctimeMs) return true;
    if (!found.isDirectory() || (found.mode & 0o7777) !== mode || !isEmpty(playpen)) return false;
    if (Date.now() - found.ctimeMs > clockGrain) this.changedAt.set(slot, found.ctimeMs);
    return true;
  }

  private make(slot: number): string {
    const usual = this.usualPath(slot);
    if (
      triesTo(() => {
        mkdirSync(usual, { mode });
      })
    )
      return usual;
    // What is in the way is moved, and what is missing made; then another name is tried, and last another folder.
    this.mend();
    this.discard(slot, usual);
    if (
      triesTo(() => {
        mkdirSync(usual, { mode });
      })
    )
      return usual;
    this.names[slot] = `${slot}.${++this.nameCount}`;
    if (
      !triesTo(() => {
        mkdirSync(this.usualPath(slot), { mode });
      })
    ) {
      this.settle();
      mkdirSync(this.usualPath(slot), { mode });
    }
    return this.usualPath(slot);
  }

  private usualPath(slot: number): string {
    return path.join(this.home, this.names[slot] ?? String(slot));
  }

  /** Takes a new folder for playpens. @throws Error of the file system. */
  private settle(): void {
    this.home = makeNextFolder(this.options.folder);
    this.homes.add(this.home);
    mkdirSync(path.join(this.home, 'trash'), { mode });
  }

  /** Gives us back what a task may have taken from the folders above its playpen. */
  private mend(): void {
    openUpFolder(path.dirname(this.home));
    openUpFolder(this.home);
    const trash = path.join(this.home, 'trash');
    openUpFolder(trash);
    if (lookAt(trash)?.isDirectory() === true) return;
    removeTree(trash);
    triesTo(() => {
      mkdirSync(trash, { recursive: true, mode });
    });
  }

  private discard(slot: number, playpen: string): void {
    this.changedAt.delete(slot);
    this.paths[slot] = undefined;
    const discarded = path.join(this.home, 'trash', String(++this.trashCount));
    const move = (): void => {
      renameSync(playpen, discarded);
    };
    if (!triesTo(move)) {
      // Its task removed it, or it was never made.
      if (lookAt(playpen) === undefined && lookAt(this.home) !== undefined) return;
      this.mend();
      openUpFolder(playpen); // A folder that we may not write into cannot be moved either.
      // Where it cannot be moved, it is emptied where it is, and the next playpen has another name.
      if (!triesTo(move)) return this.remove(playpen);
    }
    this.remove(discarded);
  }

  /** Files that cannot be removed now are tried again with the whole folder. */
  private remove(discarded: string): void {
    void removeTreeLater(discarded).then((removal) => {
      this.report(removal);
    });
  }

  private report(removal: Removal): void {
    if (!removal.isComplete) this.options.onLeft(describeLeft(removal));
  }
}

/** Does not follow a link: what it leads to belongs to somebody else. */
function lookAt(playpen: string): Stats | undefined {
  try {
    return lstatSync(playpen);
  } catch {
    return undefined;
  }
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch {
    return false;
  }
}

function triesTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
