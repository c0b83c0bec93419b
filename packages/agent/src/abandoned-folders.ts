import { lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Duration, Instant } from '@mutirao/core/shared';
import { isRemoved, removedFolder, removeTreeLater, type Removal } from '@mutirao/runtime/files';

/** Whose a folder is that goes with its agent. */
const ownerFile = 'owner';
/**
 * Whose a folder is that outlives its agent. A name of its own, so that no agent of this host takes it for abandoned.
 */
const keeperFile = 'kept-by';
/** Longer than an agent that is not stopped takes from making its folder to noting that it is its own. */
const claimPatience: Duration = 10_000;
/** States of processes that have ended: zombie and dead. */
const ended: ReadonlySet<string> = new Set(['Z', 'X']);

/** Who has a folder: a process, where its number means something. */
export interface Owner {
  readonly host: string;
  /** The run of the host and the space of process numbers; another one after a restart, or in another container. */
  readonly run: string;
  readonly space: string;
  readonly pid: number;
  /** Tells it from a later process of the same number. */
  readonly startedTicks: string;
}

/** Whose a folder is to be. */
export interface Claim {
  /** Two names may lead to one folder. */
  readonly machineId: string;
  /** Whether the folder is of use to a later agent of the machine; otherwise it goes with this one, however it ends. */
  readonly isKept: boolean;
}

/**
 * Makes an agent's folder and notes there whose it is, before anything else is put into it. Another claim of the same
 * process changes nothing.
 *
 * Where another host or container has noted its own process it cannot be told whether that lives: an allocation that
 * was started again elsewhere takes its folder over.
 *
 * @throws {MutiraoError} MUT_ALREADY_RUNNING while another agent of this host uses it; MUT_BAD_CONFIG where it is
 * another machine's or another account's.
 * @throws Error of the file system; then nothing is noted.
 */
export function claimFolder(folder: string, { machineId, isKept }: Claim): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = path.join(folder, isKept ? keeperFile : ownerFile);
  getRefuseFolder(readNote(note), { folder, machineId });
  try {
    writeFileSync(note, JSON.stringify({ ...describeOwner(), machineId }), { mode: 0o600 });
    // Compared with a file of ours, since some file systems give files to other accounts than those that make them.
    if (statSync(note).uid !== statSync(folder).uid)
      throw new MutiraoError(
        'MUT_BAD_CONFIG',
        `the folder ${folder} belongs to another account; remove it, or choose another home folder (--home)`,
      );
  } catch (error) {
    rmSync(note, { force: true });
    throw error;
  }
}

type Note = Partial<Owner> & { readonly machineId?: string };

/** What was noted of a folder; nothing where nothing was, or what is there is no note. */
function readNote(file: string): Note {
  try {
    return lstatSync(file).isFile() ? (JSON.parse(readFileSync(file, 'utf8')) as Note) : {};
  } catch {
    return {};
  }
}

/** @throws {MutiraoError} */
function getRefuseFolder(
  known: Note,
  { folder, machineId }: { readonly folder: string; readonly machineId: string },
): void {
  if (isAlive(known))
    throw new MutiraoError(
      'MUT_ALREADY_RUNNING',
      `process ${known.pid ?? 0} is an agent that uses the folder ${folder}`,
    );
  if (known.machineId === undefined || known.machineId === machineId) return;
  throw new MutiraoError(
    'MUT_BAD_CONFIG',
    `the folder ${folder} belongs to machine ${known.machineId}, and this agent is ${machineId}; choose another ` +
      '--machine-id, or remove the folder',
  );
}

/** Whether another process is known to be the one that was noted. */
function isAlive({ host, run, space, pid, startedTicks }: Note): boolean {
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

/** Says who this process is, for `isGone` of another one. */
export function describeOwner(): Owner {
  return { ...ourPlace(), pid: process.pid, startedTicks: startOf(process.pid) };
}

/**
 * Removes the folders of agents that were killed on this host: those that `claimFolder` noted and whose process is
 * gone, those of which not even that was noted, and what was being removed.
 *
 * Folders of other hosts, which may share the file system, and folders with files that nobody noted are left alone.
 * Never rejects.
 * @param onLeft called with each removal that could not remove all.
 */
export async function removeAbandoned(agentsFolder: string, onLeft: (removal: Removal) => void): Promise<void> {
  const names = await readdir(agentsFolder).catch(() => []);
  const now = await timeAt(agentsFolder).catch(() => 0);
  for (const name of names) {
    // What all of them share is no agent's.
    if (name.startsWith('.') && !isRemoved(name)) continue;
    const folder = path.join(agentsFolder, name);
    const reported = await readFile(path.join(folder, ownerFile), 'utf8').catch(() => '');
    if (!isRemoved(name) && !(reported === '' ? await wasJustMade(folder, now) : isGone(reported))) continue;
    const removal = await removeTreeLater(folder);
    if (!removal.isComplete) onLeft(removal);
  }
}

/**
 * What time it is where the file system dates its folders: another host may serve it, whose clock is another. @throws
 * Error of the file system.
 */
async function timeAt(folder: string): Promise<Instant> {
  const made = await mkdtemp(removedFolder(path.join(folder, 'clock-')));
  const { mtimeMs } = await stat(made);
  await rmdir(made);
  return mtimeMs;
}

/** Whether an agent was killed before it noted whose its folder is, which is the first that it does there. */
async function wasJustMade(folder: string, now: Instant): Promise<boolean> {
  const names = await readdir(folder).catch(() => undefined);
  const madeAt = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Infinity;
  return names !== undefined && names.every((name) => name === ownerFile) && now - madeAt > claimPatience;
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
