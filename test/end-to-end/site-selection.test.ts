// Tasks of several processors on two embedded clusters of different sizes: which one they join, and what is said of it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

function getCommand(grid: Grid, directory: string) {
  return async (
    ...words: readonly string[]
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> => {
    const split = words.indexOf('--');
    const [before, behind] = split < 0 ? [words, []] : [words.slice(0, split), words.slice(split)];
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...before, '--home', grid.home, '--broker', grid.broker.address, ...behind],
      cwd: directory,
      deadlineMs: 120_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, out: stdout.toString(), err: stderr.toString() };
  };
}

test.serial(
  'a narrow gang is kept off the large cluster, a wide one goes there, explain says why, and a restart changes nothing of it',
  async (t) => {
    const folder = temporaryFolder(t);
    const gate = join(folder, 'gate');
    const grid = await Grid.start({ clusters: [2, 6], brokerArgs: ['--site-selection', 'min-ct:0.1'] });
    t.teardown(() => grid.stop());
    const command = getCommand(grid, folder);
    const waiting = `while [ ! -e ${gate} ]; do sleep 0.05; done`;
    const submit = async (...words: readonly string[]): Promise<string> => {
      const { status, out, err } = await command(
        'job',
        'submit',
        '--quiet',
        '--gang',
        '--limit-time',
        '10m',
        ...words,
        '--',
        waiting,
      );
      t.is(status, 0, err);
      return out.trim();
    };
    const explain = async (jobId: string): Promise<string> => (await command('explain', 'task', jobId, '0')).out;

    const narrow = await submit('--processors', '2');
    const wide = await submit('--processors', '4');
    await until(async () => /runs on 2 processors/.test(await explain(narrow)), 'the narrow gang runs');
    await until(async () => /runs on 4 processors/.test(await explain(wide)), 'the wide gang runs');
    t.regex(
      await explain(narrow),
      /Assigned to alpha .*the only resource admissible with a = 0\.1; beta is left to wider tasks/,
    );
    t.regex(await explain(wide), /Assigned to beta .*the only resource admissible with a = 0\.1/);
    const listPlaces = async (jobId: string): Promise<string[]> =>
      (await grid.client.tasks(Number(jobId))).flatMap(({ replicas }) =>
        replicas.map(({ machineId }) => machineId.split('/')[0] ?? ''),
      );
    t.deepEqual(new Set(await listPlaces(narrow)), new Set(['alpha']));
    t.deepEqual(new Set(await listPlaces(wide)), new Set(['beta']));

    // The small one is taken, and the large one has room for it: it waits all the same, also for a broker that starts
    // again.
    const second = await submit('--processors', '2');
    await until(async () => /Assigned to alpha/.test(await explain(second)), 'the next one is placed');
    await grid.broker.crash();
    await until(() => grid.client.isServing(), 'the broker is back');
    t.regex(await explain(second), /is ready to run\.[^]*Assigned to alpha .*beta is left to wider tasks/);
    // With its own say all are compared, and the large one is idler.
    const own = await submit('--processors', '2', '--site-selection', 'min-ct:1');
    await until(
      async () =>
        /Assigned to beta .*the least by min-ct of the resources admissible with a = 1/.test(await explain(own)),
      'what may choose goes to the large one',
    );
    t.regex((await command('job', 'show', own, '--json')).out, /"site_selection": ?"min-ct:1"/);
    t.regex(
      (await command('explain', 'job', second)).out,
      /assigned to resources by min-ct with a = 0\.1, the grid's default: 1 at alpha/,
    );

    const tooWide = await submit('--processors', '7');
    await until(
      async () => /A task needs 7 processors; the largest resource has 6/.test(await explain(tooWide)),
      'it names the largest resource',
    );
    const refused = await command(
      'job',
      'submit',
      '--processors',
      '2',
      '--gang',
      '--site-selection',
      'min-ct:2',
      '--',
      'true',
    );
    t.is(refused.status, 2);
    t.regex(refused.err, /MUT_BAD_REQUEST.*admissibility "2"; expected a number in 0\.\.1/);

    writeFileSync(gate, '');
    for (const jobId of [narrow, wide, second, own])
      t.is((await grid.client.waitEnded(Number(jobId))).status, JobStatus.FINISHED, jobId);
  },
);

test.serial('a broker with an unknown site selection says so and ends, before anybody can reach it', async (t) => {
  const home = temporaryFolder(t);
  for (const [text, message] of [
    ['best:1', 'begins with no strategy; expected one of random, min-lp'],
    ['min-ctt', 'begins with no strategy; do you mean min-ct?'],
    ['min-ct:7', 'expected a number in 0..1'],
  ] as const) {
    const { status, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, 'run', 'broker', '--home', home, '--site-selection', text],
      cwd: home,
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    t.is(status, 2);
    const { code, msg } = JSON.parse(stderr.toString().trim()) as { code: string; msg: string };
    t.is(code, 'MUT_BAD_CONFIG');
    t.true(msg.includes(`--site-selection "${text}"`) && msg.includes(message), msg);
  }
  t.false(existsSync(join(home, 'broker.json')));
});
