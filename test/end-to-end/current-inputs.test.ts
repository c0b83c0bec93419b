// A script that was mended: what failed runs again with it, what is done stays, and a job that goes on with another
// says truly what changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

test.serial(
  'a mended script is used by a retry with current inputs, and the results that are there stay',
  async (t) => {
    const folder = temporaryFolder(t);
    const grid = await Grid.start({ machines: [1, 1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const command = async (
      ...words: readonly string[]
    ): Promise<{ readonly status: number; readonly said: string }> => {
      const { status, stdout, stderr } = await runCommand({
        command: process.execPath,
        args: [commandLine, ...beforeCommand(words, ['--home', grid.home, '--broker', grid.broker.address])],
        cwd: folder,
        deadlineMs: 120_000,
        outputBytesMax: 1024 * 1024,
      });
      return { status, said: `${stdout.toString()}${stderr.toString()}` };
    };
    const results = (): string[] =>
      [0, 1, 2, 3, 4].map((index) => {
        try {
          return readFileSync(join(folder, `o${index}`), 'utf8').trim();
        } catch {
          return '';
        }
      });
    const submit = (values: readonly string[], ...more: readonly string[]) =>
      command(
        'job',
        'submit',
        ...values,
        '--retries',
        '0',
        '--put',
        's.sh',
        '--get',
        'out:o{#}',
        ...more,
        '--',
        'sh s.sh {}',
      );
    const script = (text: string): void => {
      writeFileSync(join(folder, 's.sh'), text);
    };

    script('[ "$1" -lt 3 ] || exit 1; echo first-$1 > out\n');
    await submit(['--array', '1-5'], '--label', 'sweep');
    await grid.client.waitEnded(1);
    t.deepEqual(results(), ['first-1', 'first-2', '', '', '']);

    script('echo second-$1 > out\n');
    await command('job', 'retry', '1');
    await grid.client.waitEnded(1);
    t.regex(
      (await command('task', 'list', '1')).said,
      /MUT_INPUT_CHANGED: .*s\.sh is not what it was .*"mutirao job retry 1 --current-inputs" runs what has not finished/,
    );
    t.is((await command('job', 'retry', '1', '2,3', '--current-inputs')).status, 0);
    await grid.client.waitEnded(1);
    t.deepEqual(results(), ['first-1', 'first-2', 'second-3', 'second-4', '']);
    await grid.broker.crash();
    t.is((await command('job', 'retry', '1')).status, 0, 'what was read again is promised, and needs no second word');
    await grid.client.waitEnded(1);
    t.deepEqual(results(), ['first-1', 'first-2', 'second-3', 'second-4', 'second-5']);

    const resumed = await submit(['--array', '1-5'], '--label', 'sweep', '--resume');
    t.regex(
      resumed.said,
      /Results of 3 tasks are reused from job 1; 2 to run\.\nTask 0 runs: its input s\.sh changed\.\nTask 1 runs: its input s\.sh changed\./,
    );
    await grid.client.waitEnded(2);
    t.deepEqual(results(), ['second-1', 'second-2', 'second-3', 'second-4', 'second-5']);
    const some = await submit(['--values', '3,4'], '--label', 'sweep', '--resume');
    t.regex(some.said, /MUT_RESUME_OTHER .*would write over .*o0, the result of task 0 of job 2/);
    t.is(some.status, 2);
  },
);

/** The words with these options, which come before the task's command. */
function beforeCommand(words: readonly string[], options: readonly string[]): string[] {
  const at = words.includes('--') ? words.indexOf('--') : words.length;
  return [...words.slice(0, at), ...options, ...words.slice(at)];
}
