// A provider that is drained amid a job takes nothing new, also after a restart, and goes on when it is undrained: no
// task is lost by it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

test.serial(
  'a lab that is drained amid a job and restarted finishes each task once when it is undrained, and none fails',
  async (t) => {
    const folder = temporaryFolder(t);
    const grid = await Grid.start({ machines: [1, 1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const command = async (...words: readonly string[]): Promise<string> => {
      const { status, stdout, stderr } = await runCommand({
        command: process.execPath,
        args: [commandLine, ...beforeCommand(words, ['--home', grid.home, '--broker', grid.broker.address])],
        cwd: folder,
        deadlineMs: 120_000,
        outputBytesMax: 1024 * 1024,
      });
      t.is(status, 0, stderr.toString());
      return stdout.toString();
    };
    const begun = (): string[] =>
      existsSync(join(folder, 'begun')) ? readFileSync(join(folder, 'begun'), 'utf8').trim().split('\n') : [];
    await command(
      'job',
      'submit',
      '--array',
      '1-8',
      '--replicas',
      '1',
      '--',
      `echo {} >> ${folder}/begun; until [ -e ${folder}/go-{} ] || [ -e ${folder}/go ]; do sleep 0.05; done`,
    );
    await until(() => begun().length === 2, 'both machines have a task');

    t.regex(await command('provider', 'drain', 'lab', '--reason', 'repairs'), /Provider lab is draining/);
    t.regex(await command('provider', 'drain', 'lab'), /Provider lab is draining/, 'again is harmless');
    await until(
      async () => /draining \(since .*, 2 tasks still running\): repairs/.test(await command('provider', 'list')),
      'the broker learns of it',
    );
    await command('job', 'submit', '--array', '1-2', '--', 'true');

    const [lab] = grid.providers;
    await lab?.crash();
    await until(
      async () => /draining \(since .*, 2 tasks still running\): repairs/.test(await command('provider', 'list')),
      'the next process is draining, too',
    );
    for (const value of begun()) writeFileSync(join(folder, `go-${value}`), '');
    await until(async () => (await grid.client.job(1)).finishedCount === 2, 'what ran has ended');
    await until(
      async () => /draining \(since .*, 0 tasks still running\)/.test(await command('provider', 'list')),
      'nothing runs there',
    );
    t.is(begun().length, 2, 'nothing new has begun');
    t.regex(
      await command('explain', 'job', '2'),
      /Provider lab has been draining since .* \(repairs\): it takes no new tasks; no task is running there/,
    );

    writeFileSync(join(folder, 'go'), '');
    t.regex(await command('provider', 'undrain', 'lab'), /Provider lab takes work/);
    t.is((await grid.client.waitEnded(1)).status, JobStatus.FINISHED);
    t.is((await grid.client.waitEnded(2)).status, JobStatus.FINISHED);
    t.deepEqual(
      begun()
        .map(Number)
        .sort((one, other) => one - other),
      [1, 2, 3, 4, 5, 6, 7, 8],
      'each ran once',
    );
  },
);

/** The words with these options, which come before the task's command. */
function beforeCommand(words: readonly string[], options: readonly string[]): string[] {
  const at = words.includes('--') ? words.indexOf('--') : words.length;
  return [...words.slice(0, at), ...options, ...words.slice(at)];
}
