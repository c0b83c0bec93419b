import { isMainThread } from 'node:worker_threads';
import { isPacked } from './own-program.ts';

/**
 * Starts a program, passes signals on to it, and waits for it, and so for whatever ends meanwhile: a shell waits for
 * all its children, also those that it was given.
 */
const script = `
for name in HUP INT TERM; do trap "kill -$name \\$child 2>/dev/null" "$name"; done
"$@" <&0 &
child=$!
while :; do
  wait "$child"
  status=$?
  kill -0 "$child" 2>/dev/null || exit "$status"
done
`;

/**
 * Makes way for a shell where this is the first process of a container: orphans become children of the first process,
 * which Node never waits for, so that they would stay as zombies until no process can be started any more. The shell
 * starts this program again.
 *
 * To be called first of all: what ran before runs again. Returns where this is another process, or it cannot be
 * replaced.
 */
export function leaveFirst(): void {
  if (process.pid !== 1 || !isMainThread || typeof process.execve !== 'function') return;
  const again = isPacked ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  try {
    process.execve('/bin/sh', ['sh', '-c', script, 'sh', process.execPath, ...again], process.env);
  } catch {
    // There is no shell.
  }
}
