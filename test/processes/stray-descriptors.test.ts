// What whoever started us left open is not held by what we start, for as long as that runs.
import { execFile, spawnSync } from 'node:child_process';
import { openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { temporaryFolder } from '@mutirao/testkit';

const processes = fileURLToPath(new URL('../../packages/runtime/src/processes/', import.meta.url));

/** A process with standard streams and one descriptor more, which starts others and prints what they have open. */
function listOfChildren(program: string, stray: number, file: string): string {
  const stdio = ['ignore', 'pipe', 'pipe', ...Array.from({ length: stray - 3 }, () => 'ignore' as const)] as const;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: [...stdio, openSync(file, 'r')],
    encoding: 'utf8',
    timeout: 30_000,
  });
  return `${stdout}${stderr}`;
}

for (const stray of [3, 40, 200])
  test(`a file that is open as descriptor ${stray} reaches nothing that we start`, (t) => {
    const file = join(temporaryFolder(t), 'lock');
    writeFileSync(file, '');
    const program = `
      import { runCommand } from ${JSON.stringify(join(processes, 'run-command.ts'))};
      import { startPiped } from ${JSON.stringify(join(processes, 'start-piped.ts'))};
      const line = 'for file in /proc/self/fd/*; do readlink "$file"; done; echo listed';
      const plain = await runCommand({ command: '/bin/sh', args: ['-c', line], deadlineMs: 10_000 });
      process.stdout.write(plain.stdout);
      const piped = startPiped({ command: '/bin/sh', args: ['-c', line], env: {}, cwd: '/', onClosed: () => undefined });
      piped.standardOutput.pipe(process.stdout);
    `;
    const printed = listOfChildren(program, stray, file);
    t.is(printed.split('listed').length, 3, printed);
    t.notRegex(printed, /lock/);
  });

test('a list that a shell gives by a descriptor is still read by the process that it was given to', async (t) => {
  const file = join(temporaryFolder(t), 'reads.mjs');
  writeFileSync(
    file,
    `import { readFileSync } from 'node:fs';
     import { runCommand } from ${JSON.stringify(join(processes, 'run-command.ts'))};
     await runCommand({ command: 'true', deadlineMs: 10_000 });
     process.stdout.write(readFileSync(process.argv[2], 'utf8'));`,
  );
  const printed = await new Promise<string>((resolve) => {
    execFile('/bin/bash', ['-c', '"$@" <(printf "one\\ntwo\\n")', 'bash', process.execPath, file], (_, out, err) => {
      resolve(out + err);
    });
  });
  t.is(printed, 'one\ntwo\n');
});
