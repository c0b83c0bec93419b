// What the program that starts one of ours left open by mistake: a task would hold its files, locks and connections.
import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ownCommandLine, ownProgram } from '@mutirao/runtime/processes';
import { temporaryFolder, until } from '@mutirao/testkit';

test('a program of ours closes what it inherited, behind a gap in the numbers too', async (t) => {
  const home = temporaryFolder(t);
  const theirs = openSync('/etc/passwd', 'r');
  t.teardown(() => {
    closeSync(theirs);
  });
  const [command = '', ...args] = [...ownProgram('broker'), '--home', home];
  const streams: StdioOptions = ['ignore', 'ignore', 'ignore'];
  // Left out, a number is not open there.
  streams[40] = theirs;
  const broker = spawn(command, args, { stdio: Array.from(streams, (stream) => stream ?? null) });
  t.teardown(() => broker.kill('SIGKILL'));
  t.true(existsSync(`/proc/${broker.pid ?? 0}/fd/40`));
  await until(() => existsSync(join(home, 'broker')), 'it works');
  t.true(existsSync(`/proc/${broker.pid ?? 0}/fd/2`));
  t.false(existsSync(`/proc/${broker.pid ?? 0}/fd/40`));
});

test('a file that the shell opens for a word of the command line stays open', (t) => {
  const parallel = [...ownCommandLine(), 'parallel', '--dry-run', 'echo {}', '::::'];
  const shell = `exec "$@" <(printf 'a\\nb\\n')`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', shell, 'bash', ...parallel], { encoding: 'utf8' });
  t.is(status, 0, stderr);
  t.is(stdout, 'echo a\necho b\n');
});
