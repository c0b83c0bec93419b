import { isMainThread } from 'node:worker_threads';
import { isPacked } from './own-program.ts';

/** The descriptor at which the process that takes our place finds the value. */
const descriptor = 3;

/**
 * Passes `$1` on as the variable that names the descriptor; a document of the shell is a pipe or an unlinked file,
 * which nobody else can open by a name.
 */
const script = `variable=$1; shift
eval "value=\\$$variable"
exec ${descriptor}<<END_OF_VALUE
$value
END_OF_VALUE
unset "$variable" value
export "\${variable}_FD=${descriptor}"
exec "$@"`;

/**
 * Takes a secret out of this process's environment: what the system shows as that (`/proc/PID/environ`) is what a
 * process was started with, however it changes its
 * variables later. So the process is replaced by itself, which finds the value at the descriptor that `NAME_FD` names.
 *
 * To be called first of all: what ran before runs again. Returns where there is nothing to hide, or where the process
 * cannot be replaced.
 */
export function hideVariable(name: string): void {
  if (process.env[name] === undefined || !isMainThread || typeof process.execve !== 'function') return;
  const again = isPacked ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  process.execve('/bin/sh', ['sh', '-c', script, 'sh', name, process.execPath, ...again], process.env);
}
