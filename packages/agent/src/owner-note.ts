import { createHash, randomBytes } from 'node:crypto';
import { linkSync, lstatSync, readFileSync, readlinkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Duration } from '@mutirao/core/shared';

/** States of processes that have ended: zombie and dead. */
const ended: ReadonlySet<string> = new Set(['Z', 'X']);
/** Longer than a live process that replaces a note, or moves a folder away, takes to do so. */
export const turnPatience: Duration = 5000;
const turnPause: Duration = 5;

/** The process that has a folder, with the host and namespace in which its number is valid. */
export interface Owner {
  readonly host: string;
  /** The run of the host and the space of process numbers; another one after a restart, or in another container. */
  readonly run: string;
  readonly space: string;
  readonly pid: number;
  /** Distinguishes it from a later process of the same number. */
  readonly startedTicks: string;
}

/** What is noted of a folder. */
export type OwnerNote = Partial<Owner> & {
  readonly machineId?: string;
  /** Set while the process has it only to remove it. */
  readonly isRemoving?: true;
};

/** Says who this process is, for `isGone` of another one. */
export function describeOwner(): Owner {
  return { ...ourPlace(), pid: process.pid, startedTicks: startOf(process.pid) };
}

/** Whether another process is known to be the one that was noted. */
export function isAlive({ host, run, space, pid, startedTicks }: OwnerNote): boolean {
  const here = ourPlace();
  return (
    host === here.host &&
    run === here.run &&
    space === here.space &&
    pid !== undefined &&
    pid !== process.pid &&
    startedTicks !== '' &&
    startOf(pid) === startedTicks
  );
}

/** Whether the process of this host that described itself so is gone; never of another host. */
export function isGone(reported: string): boolean {
  const here = ourPlace();
  let owner: Partial<Owner>;
  try {
    owner = JSON.parse(reported) as Partial<Owner>;
  } catch {
    return false; // Half written: its agent is just starting, or has nothing there yet.
  }
  if (owner.host !== here.host) return false;
  if (owner.run !== here.run) return true;
  return owner.space === here.space && owner.pid !== undefined && startOf(owner.pid) !== owner.startedTicks;
}

/** The content of a note; empty if it is malformed. */
export function parseNote(text: string): OwnerNote {
  try {
    return JSON.parse(text) as OwnerNote;
  } catch {
    return {};
  }
}

/** A note to be placed, and which note it may replace. */
export interface Placing {
  readonly file: string;
  readonly note: OwnerNote;
  /**
   * Asked with the note that is there, "" for anything else; throws where that may not be replaced. Asked again when
   * another process was quicker.
   */
  readonly mayReplace: (found: string) => void;
}

/**
 * Places a note if there is none, or one that may be replaced: of several processes of this host that do so at once,
 * one succeeds, and each of the others is then asked about the winner's note.
 *
 * A new note is linked into place, which fails if one exists. An old note is replaced only by the process that holds
 * the right to replace exactly that note. This right is itself a note in the same folder, with a name made of the old
 * one's content; so a process that is killed while it holds the right is followed in the same way.
 *
 * @throws what `mayReplace` throws; MUT_ALREADY_RUNNING when a live process holds the right for too long; an error of
 * the file system. The existing note is then unchanged.
 */
export function placeNote({ file, note, mayReplace }: Placing): void {
  const text = JSON.stringify(note);
  for (;;) {
    if (linkNew(file, text)) return;
    const found = readNote(file);
    if (found === undefined) continue;
    if (found === text) return;
    mayReplace(found);
    const turn = `${file}.after-${createHash('sha256').update(found).digest('hex').slice(0, 16)}`;
    takeTurn(turn);
    try {
      if (readNote(file) === found) {
        withDraft(file, text, (draft) => {
          renameSync(draft, file);
        });
        return;
      }
    } finally {
      rmSync(turn, { force: true });
    }
  }
}

/** Waits while a live process has the turn: it is about to decide whose the note is. */
function takeTurn(turn: string): void {
  const deadline = performance.now() + turnPatience;
  const note = { ...describeOwner() };
  for (;;) {
    try {
      placeNote({ file: turn, note, mayReplace: refuseAlive });
      return;
    } catch (error) {
      if (!(error instanceof TurnTaken) || performance.now() > deadline) throw error;
      pause();
    }
  }
}

class TurnTaken extends MutiraoError {}

function refuseAlive(found: string): void {
  const holder = parseNote(found);
  if (isAlive(holder))
    throw new TurnTaken('MUT_ALREADY_RUNNING', `process ${holder.pid ?? 0} is just taking this machine's folder`);
}

/** Blocks the process: an agent does nothing else before it has its folder. */
export function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, turnPause);
}

function linkNew(file: string, text: string): boolean {
  return withDraft(file, text, (draft) => {
    try {
      linkSync(draft, file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  });
}

/** Nothing of the draft is left. */
function withDraft<Result>(file: string, text: string, use: (draft: string) => Result): Result {
  const draft = `${file}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    const folder = path.dirname(file);
    // Compared with a file that we make: some file systems give files to other accounts than their makers.
    if (statSync(draft).uid !== statSync(folder).uid)
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `the folder ${folder} belongs to another account; remove it, or choose another home folder (--home)`,
      );
    return use(draft);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined where nothing is; "" for something other than a note. */
function readNote(file: string): string | undefined {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : '';
  }
}

function ourPlace(): Omit<Owner, 'pid' | 'startedTicks'> {
  return {
    host: hostname(),
    run: readOr('/proc/sys/kernel/random/boot_id').trim(),
    space: linkOr('/proc/self/ns/pid'),
  };
}

/**
 * Empty for a process that is gone, also where nobody has taken note of its end yet: in a container whose first process
 * never does, it stays listed for ever.
 */
function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ended.has(fields[0] ?? '') ? '' : (fields[19] ?? '');
}

function readOr(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function linkOr(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}
