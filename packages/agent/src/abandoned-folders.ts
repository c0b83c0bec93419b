import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';

const ownerFile = 'owner';

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

/** Notes in an agent's folder, which is of use to nobody after it, whose it is. @throws Error of the file system. */
export function claimFolder(folder: string): void {
  writeFileSync(path.join(folder, ownerFile), JSON.stringify(describeOwner()), { mode: 0o600 });
}

/** Says who this process is, for `isGone` of another one. */
export function describeOwner(): Owner {
  return { ...ourPlace(), pid: process.pid, startedTicks: startOf(process.pid) };
}

/**
 * Removes the folders of agents that were killed on this host: those that `claimFolder` noted and whose process is gone.
 *
 * Folders of other hosts, which may share the file system, and folders that nobody noted are left alone.
 */
export async function removeAbandoned(agentsFolder: string): Promise<void> {
  const names = await readdir(agentsFolder).catch(() => []);
  for (const name of names) {
    const folder = path.join(agentsFolder, name);
    const told = await readFile(path.join(folder, ownerFile), 'utf8').catch(() => '');
    if (told !== '' && isGone(told)) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Whether the process of this host that described itself so is gone; never of another host. */
export function isGone(told: string): boolean {
  const here = ourPlace();
  let owner: Partial<Owner>;
  try {
    owner = JSON.parse(told) as Partial<Owner>;
  } catch {
    return false; // Half written: its agent is just starting, or has nothing there yet.
  }
  if (owner.host !== here.host) return false;
  if (owner.run !== here.run) return true;
  return owner.space === here.space && owner.pid !== undefined && startOf(owner.pid) !== owner.startedTicks;
}

function ourPlace(): Omit<Owner, 'pid' | 'startedTicks'> {
  return { host: hostname(), run: readOr('/proc/sys/kernel/random/boot_id').trim(), space: linkOr('/proc/self/ns/pid') };
}

/** Empty for a process that is gone. */
function startOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
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
