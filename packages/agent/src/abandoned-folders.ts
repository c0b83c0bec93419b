import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Duration, Instant } from '@mutirao/core/shared';
import { isRemoved, removedFolder, removeTreeLater, type Removal } from '@mutirao/runtime/files';

import { describeOwner, isAlive, isGone, parseNote, pause, placeNote, turnPatience } from './owner-note.ts';

/** Whose a folder is that goes with its agent. */
const ownerFile = 'owner';
/**
 * Whose a folder is that outlives its agent. A name of its own, so that no agent of this host takes it for abandoned.
 */
const keeperFile = 'kept-by';
/** Longer than an agent that is not stopped takes from making its folder to noting that it is its own. */
const claimPatience: Duration = 10_000;

/** Ownership of a folder. */
export interface Claim {
  /** Two names may lead to one folder. */
  readonly machineId: string;
  /** Whether the folder is of use to a later agent of the machine; otherwise it goes with this one, however it ends. */
  readonly isKept: boolean;
}

/**
 * Creates an agent's folder and notes its owner there, before anything else is put into it. Another claim of the same
 * process changes nothing. Of agents of one host that claim a folder at the same time, one gets it.
 *
 * A process that another host or container has noted cannot be checked: an allocation that was started again elsewhere
 * takes its folder over.
 *
 * @throws {MutiraoError} MUT_ALREADY_RUNNING while another agent of this host uses it; MUT_BAD_CONFIG where it is
 * another machine's or another account's.
 * @throws Error of the file system; then nothing is noted.
 */
export function claimFolder(folder: string, { machineId, isKept }: Claim): void {
  const file = path.join(folder, isKept ? keeperFile : ownerFile);
  const note = { ...describeOwner(), machineId };
  const deadline = performance.now() + turnPatience;
  for (;;) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      placeNote({
        file,
        note,
        mayReplace: (found) => {
          getRefuseFolder(found, { folder, machineId });
        },
      });
      return;
    } catch (error) {
      // Another agent of this host moves away what a killed agent left: then the folder is made again.
      if (performance.now() > deadline) throw error;
      if (error instanceof BeingRemoved) pause();
      else if (existsSync(folder)) throw error;
    }
  }
}

class BeingRemoved extends MutiraoError {}

/** @throws {MutiraoError} */
function getRefuseFolder(found: string, { folder, machineId }: { folder: string; machineId: string }): void {
  const known = parseNote(found);
  if (isAlive(known)) {
    if (known.isRemoving === true)
      throw new BeingRemoved(
        'MUT_ALREADY_RUNNING',
        `process ${known.pid ?? 0} is removing what a killed agent left in ${folder}`,
      );
    throw new MutiraoError(
      'MUT_ALREADY_RUNNING',
      `process ${known.pid ?? 0} is an agent that uses the folder ${folder}`,
    );
  }
  if (known.isRemoving === true || known.machineId === undefined || known.machineId === machineId) return;
  throw new MutiraoError(
    'MUT_BAD_CONFIG',
    `the folder ${folder} belongs to machine ${known.machineId}, and this agent is ${machineId}; choose another ` +
      '--machine-id, or remove the folder',
  );
}

/**
 * Removes the folders of agents that were killed on this host: those that `claimFolder` noted and whose process is
 * gone, those of which not even that was noted, and what was being removed.
 *
 * Folders of other hosts, which may share the file system, and folders with files that nobody noted are left alone; so
 * is a folder that an agent takes in the same moment. Never rejects.
 * @param onLeft called with each removal that could not remove all.
 */
export async function removeAbandoned(agentsFolder: string, onLeft: (removal: Removal) => void): Promise<void> {
  const names = await readdir(agentsFolder).catch(() => []);
  const now = await timeAt(agentsFolder).catch(() => 0);
  for (const name of names) {
    // Hidden folders are shared by all agents, except those under removal.
    if (name.startsWith('.') && !isRemoved(name)) continue;
    const folder = path.join(agentsFolder, name);
    if (!isRemoved(name) && !((await isAbandoned(folder, now)) && takeForRemoval(folder))) continue;
    const removal = await removeTreeLater(isRemoved(name) ? folder : await moveAside(folder));
    if (!removal.isComplete) onLeft(removal);
  }
}

async function isAbandoned(folder: string, now: Instant): Promise<boolean> {
  const reported = await readFile(path.join(folder, ownerFile), 'utf8').catch(() => '');
  return reported === '' ? wasJustMade(folder, now) : isGone(reported);
}

/**
 * Takes an abandoned folder, so that no agent does while it is removed; false where one has done so. Where that cannot
 * be noted, say on a full disk, it is removed all the same.
 */
function takeForRemoval(folder: string): boolean {
  try {
    placeNote({
      file: path.join(folder, ownerFile),
      note: { ...describeOwner(), isRemoving: true },
      mayReplace: (found) => {
        if (found !== '' && !isGone(found)) throw new MutiraoError('MUT_ALREADY_RUNNING', 'it is used again');
      },
    });
    return true;
  } catch (error) {
    return !(error instanceof MutiraoError && error.code === 'MUT_ALREADY_RUNNING');
  }
}

/** Gives a folder the name of one that is being removed, and says where it is now. */
async function moveAside(folder: string): Promise<string> {
  const aside = removedFolder(folder);
  await removeTreeLater(aside);
  try {
    renameSync(folder, aside);
    return aside;
  } catch {
    return folder; // A mount point, or a folder that we may not move.
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
  const isEmpty = names?.every((name) => name === ownerFile || name.startsWith(`${ownerFile}.`)) === true;
  return isEmpty && now - madeAt > claimPatience;
}
