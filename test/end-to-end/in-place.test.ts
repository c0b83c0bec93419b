// Jobs that work in the folder of submission, where machines share it.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

interface Said {
  readonly status: number;
  readonly said: string;
}

async function start(
  t: ExecutionContext,
  agentArgs: readonly string[] = [],
): Promise<{ readonly grid: Grid; readonly folder: string; command(...words: readonly string[]): Promise<Said> }> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'sim.sh'), 'echo "$1 in $PWD" > "out-$1"\n');
  mkdirSync(join(folder, 'sub'));
  const grid = await Grid.start({ machines: [1, 1], agentArgs });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(2);
  const command = async (...words: readonly string[]): Promise<Said> => {
    const at = words.includes('--') ? words.indexOf('--') : words.length;
    const all = [
      commandLine,
      ...words.slice(0, at),
      '--home',
      grid.home,
      '--broker',
      grid.broker.address,
      ...words.slice(at),
    ];
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: all,
      cwd: folder,
      deadlineMs: 120_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, said: `${stdout.toString()}${stderr.toString()}` };
  };
  return { grid, folder, command };
}

test.serial('--in-place runs tasks in the folder of submission, and --chdir in another one', async (t) => {
  const { folder, command } = await start(t);
  t.like(
    await command(
      'job',
      'submit',
      '--in-place',
      '--array',
      '1-3',
      '--put',
      'sim.sh',
      '--get',
      'out-{}',
      '--wait',
      '--',
      'sh',
      'sim.sh',
      '{}',
    ),
    { status: 0 },
  );
  t.deepEqual(
    [1, 2, 3].map((value) => readFileSync(join(folder, `out-${value}`), 'utf8')),
    [`1 in ${folder}\n`, `2 in ${folder}\n`, `3 in ${folder}\n`],
  );
  t.like(await command('job', 'submit', '--chdir', 'sub', '--wait', '--', 'sh ../sim.sh x'), { status: 0 });
  t.is(readFileSync(join(folder, 'sub/out-x'), 'utf8'), `x in ${join(folder, 'sub')}\n`);

  const { status, said } = await command(
    'job',
    'submit',
    '--in-place',
    '--get',
    'out',
    '--retries',
    '0',
    '--wait',
    '--',
    'true',
  );
  t.is(status, 1, said);
  t.regex((await command('task', 'list', 'last')).said, /MUT_OUTPUT_MISSING/);
  t.regex(
    (await command('job', 'submit', '--in-place', '--get', 'out:results/{}', '--array', '1-2', '--', 'true')).said,
    /the output out would be copied/,
  );
  t.regex(
    (await command('job', 'submit', '--in-place', '--get', 'out', '--array', '1-2', '--', 'true')).said,
    /MUT_OUTPUT_CONFLICT/,
  );
  t.regex((await command('job', 'submit', '--in-place', '--chdir', 'sub', '--', 'true')).said, /expected one of them/);
  t.regex((await command('job', 'submit', '--chdir', 'gone', '--', 'true')).said, /MUT_WORK_FOLDER.*it is not there/);
  t.regex((await command('job', 'submit', '--in-place', '--replicas', '2', '--', 'true')).said, /2 replicas/);

  const resumed = await command(
    'job',
    'submit',
    '--in-place',
    '--array',
    '1-3',
    '--put',
    'sim.sh',
    '--get',
    'out-{}',
    '--resume',
    '1',
    '--',
    'sh',
    'sim.sh',
    '{}',
  );
  t.regex(resumed.said, /Results of 3 tasks are reused from job 1/);
  t.deepEqual(readdirSync(folder).sort(), ['out-1', 'out-2', 'out-3', 'sim.sh', 'sub']);
});

test.serial('a job in place waits where no machine shares the folder, and explain says so', async (t) => {
  const { folder, command } = await start(t, ['--shared', 'none']);
  await command('job', 'submit', '--in-place', '--', 'touch ran');
  await until(
    async () =>
      (await command('explain', 'job', '1')).said.includes(
        `These tasks start in ${folder} (--in-place, --chdir): none of 2 machines`,
      ),
    'explain says what is missing',
  );
  t.false(existsSync(join(folder, 'ran')));
});
