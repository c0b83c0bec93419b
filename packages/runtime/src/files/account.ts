import { userInfo } from 'node:os';

/**
 * Makes files of this process ones that their owner can use: with an umask that forbids that, nothing could be written
 * twice. What others may do is left as the umask has it.
 */
export function keepOwnFilesUsable(): void {
  const mask = process.umask(0o077);
  process.umask(mask & 0o077);
}

/**
 * Has SIGUSR1 do nothing. By itself Node opens the port of its debugger then, to every account of the host; and batch
 * systems send it before a job's end: Slurm with `--signal`, Grid Engine with `-notify`.
 */
export function keepDebuggerShut(): void {
  // Several commands may run in one process, each of which asks for this.
  if (!process.listeners('SIGUSR1').includes(doNothing)) process.on('SIGUSR1', doNothing);
}

function doNothing(): void {
  // Whatever the signal was meant to say, it is not for us.
}

/**
 * The home folder of the account that this process runs as, as the host's list of accounts has it; undefined for an
 * account that is not on it. Never throws.
 */
export function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

/**
 * The name of the account that this process runs as; its number where it has no name, as in a container that runs as
 * any user. Never throws.
 *
 * What asks for an account by name, such as `squeue --user`, takes the number too.
 */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 0);
  }
}
