// The limits of a user's shell do not bind our processes; tasks get them back.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const processes = fileURLToPath(new URL('../../packages/runtime/src/processes/', import.meta.url));

/** What a shell's process, and one that starts as tasks do, find their limits to be. */
function printLimits(before: string): string {
  const program = `
    import { execFileSync } from 'node:child_process';
    import { findTaskLimits, raiseSoftLimits } from ${JSON.stringify(join(processes, 'soft-limits.ts'))};
    raiseSoftLimits();
    const print = 'echo $(ulimit -S -f) $(ulimit -S -v) $(ulimit -S -n)';
    const { prefix, line } = findTaskLimits();
    const [command, ...args] = [...prefix, '/bin/sh', '-c'];
    process.stdout.write(execFileSync('/bin/sh', ['-c', print]));
    process.stdout.write(execFileSync(command, [...args, line + print]));
  `;
  return execFileSync(
    '/bin/sh',
    ['-c', `${before}; "$@"; exit $?`, 'sh', process.execPath, '--input-type=module', '-e', program],
    { encoding: 'utf8', timeout: 30_000 },
  );
}

test("soft limits of a shell do not bind our processes, and bind tasks as the shell's own programs", (t) => {
  const [ours = '', ofTasks = ''] = printLimits('ulimit -S -f 2048; ulimit -S -v 30000000; ulimit -S -n 200').split(
    '\n',
  );
  t.regex(ours, /^unlimited unlimited \d{3,}$/);
  t.is(ofTasks, '2048 30000000 200');
});

test('hard limits stay, and tasks have them as well', (t) => {
  const [ours = '', ofTasks = ''] = printLimits('ulimit -f 300000; ulimit -n 256').split('\n');
  t.regex(ours, /^300000 unlimited 256$/);
  t.is(ofTasks, ours);
});
