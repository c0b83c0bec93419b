import { closeSync, constants, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import { syncFolder } from '../files/write-atomic.ts';

/** The last changes of a journal, by the note next to it. */
export interface NotedChanges {
  /** Names the host's run in which that was; undefined where the system names none. */
  readonly bootId: number | undefined;
  /** Sequence of the last change that was written. */
  readonly last: number;
  /** Sequence of the last change that was synced to disk before it was announced. */
  readonly synced: number;
}

const digits = 16;

/** Where the last change of a journal is noted. */
export function lastChangePath(path: string): string {
  return `${path}-last`;
}

/** Reads the note of a journal; undefined if it is missing or unreadable. */
export function readLastChange(path: string): NotedChanges | undefined {
  let text: string;
  try {
    text = readFileSync(lastChangePath(path), 'latin1');
  } catch {
    return undefined;
  }
  const [, boot = '', last = '', synced = ''] = /^(\d*) +(\d+) +(\d+) *\n/.exec(text) ?? [];
  return last === ''
    ? undefined
    : { bootId: boot === '' ? undefined : Number(boot), last: Number(last), synced: Number(synced) };
}

/**
 * Notes the last change of a journal in a file next to it, so that missing changes are noticed: SQLite accepts a
 * database whose log is missing, damaged or was left out of a copy as whole.
 *
 * A note costs one small write, and is never ahead of the journal unless the host crashes.
 */
export class LastChange {
  readonly #file: number;
  readonly #boot: string;
  #synced: number;

  /** @param noted what is in the journal. */
  constructor(path: string, { bootId, last, synced }: NotedChanges) {
    this.#boot = (bootId === undefined ? '' : String(bootId)).padEnd(digits);
    this.#synced = synced;
    // Not emptied: every note is as long as the one before, so that it needs no room on a full disk.
    this.#file = openSync(lastChangePath(path), constants.O_RDWR | constants.O_CREAT, 0o600);
    this.note(last, false);
    this.#keep(dirname(path));
  }

  /**
   * Has the note outlive a crash of the host, if the file system can: a journal without one counts as put back. From
   * then on a note takes the place of another in the same block.
   */
  #keep(folder: string): void {
    try {
      fsyncSync(this.#file);
      syncFolder(folder);
    } catch {
      // A full disk, or a file system that syncs no folders: a note that is lost says less, and nothing wrong.
    }
  }

  /** The journal holds all changes up to `last`. @param isSynced on the disk, not only in the system's cache. */
  note(last: number, isSynced: boolean): void {
    if (isSynced) this.#synced = last;
    try {
      writeSync(this.#file, `${this.#boot} ${String(last).padEnd(digits)} ${String(this.#synced).padEnd(digits)}\n`, 0);
    } catch {
      // A note that is too old says less, and nothing wrong.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}

/**
 * Compares a journal with its note.
 *
 * A crash of the host may lose changes that were not synced; their facts are found out again. Any other missing change
 * is a promise that nobody would keep.
 *
 * @throws {MutiraoError} MUT_JOURNAL_CORRUPT when changes are missing.
 */
export function requireWhole(
  path: string,
  held: number,
  { noted, bootId }: { readonly noted: NotedChanges | undefined; readonly bootId: number | undefined },
): void {
  if (noted === undefined) return;
  const isSameRun = bootId !== undefined && bootId === noted.bootId;
  const least = isSameRun ? noted.last : noted.synced;
  if (held >= least) return;
  const missing = held + 1 === least ? `change ${least} is missing` : `changes ${held + 1} to ${least} are missing`;
  throw new MutiraoError(
    'MUT_JOURNAL_CORRUPT',
    `${path} ends with change ${held}, and ${missing}: ${path}-wal is damaged, was removed or was left out of a ` +
      'copy, or an older copy of the journal was put in its place. ' +
      (`Put ${path}-wal back, or restore a back-up ("mutirao restore"). To go on without those changes remove ` +
        `${lastChangePath(path)}: what ended in them runs again, and jobs submitted in them are gone`),
  );
}
