import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, isAlive, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

// Machines that a provider keeps: added by the command line, driven by templates of this host, back after a crash, gone
// when they are removed.

const commandLine = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));

interface Rig {
  readonly grid: Grid;
  readonly there: string;
  /** Runs a command line and returns what it printed as JSON. */
  mutirao(args: readonly string[], status?: number): Promise<unknown>;
}

async function startRig(t: ExecutionContext): Promise<Rig> {
  // A time-shared machine of no use to our tasks, so that there is a provider.
  const there = path.join(temporaryFolder(t), 'the "login\'s" home');
  mkdirSync(there);
  const grid = await Grid.start({ machines: [1], agentArgs: ['--attribute', 'mine=no'], env: { there } });
  t.teardown(() => grid.stop());
  writeFileSync(
    path.join(grid.home, 'lab.gdf'),
    [
      'gum:',
      '  name: old',
      '  type: GRIDSCRIPT',
      '  mine: yes',
      '  processors: 2',
      '  remExec: HOME="$there" /bin/sh -c $command',
      '  copyTo: cp "$localfile" "$remotefile"',
      '  copyFrom: cp "$remotefile" "$localfile"',
      '',
    ].join('\n'),
  );
  return {
    grid,
    there,
    mutirao: async (args, status = 0) => {
      const result = await runCommand({
        command: process.execPath,
        args: [commandLine, ...args, '--json', '--home', grid.home, '--broker', grid.broker.address],
        cwd: grid.home,
        deadlineMs: 60_000,
      });
      t.is(result.status, status, result.stderr.toString());
      return status === 0 ? JSON.parse(result.stdout.toString()) : result.stderr.toString();
    },
  };
}

const isRunning = async ({ mutirao }: Rig): Promise<boolean> =>
  ((await mutirao(['machine', 'enrolled'])) as { status: string }[])[0]?.status === 'running';

/** Runs a bag on the kept machine alone. */
async function runBag({ grid }: Rig, t: ExecutionContext, name: string): Promise<void> {
  const jobId = await grid.client.submit([taskGroup('echo ran {}', 5, { requirements: 'mine == yes' })], {
    label: name,
  });
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 5);
}

test.serial(
  'a machine of a list works for the grid, comes back after a crash of its provider, and leaves nothing when it is removed',
  async (t) => {
    const rig = await startRig(t);
    const { mutirao, grid, there } = rig;
    t.like(((await mutirao(['machine', 'add', '--file', 'lab.gdf'])) as unknown[])[0], {
      machine_id: 'lab/old',
      by: 'templates',
      at: 'old',
    });
    await until(() => isRunning(rig), 'its agent is attached');
    await runBag(rig, t, 'first');
    t.regex(
      (await mutirao(['machine', 'add', '--file', 'lab.gdf'], 2)) as string,
      /a machine "old" is on the list already/,
    );

    const [lab] = grid.providers;
    const agents = (): number[] =>
      readdirSync('/proc')
        .filter((pid) => /^\d+$/.test(pid) && getCommand(pid).includes('lab/old'))
        .map(Number);
    const before = agents();
    t.is(before.length, 1);
    await lab?.kill('SIGKILL');
    await until(() => before.every((pid) => !isAlive(pid)), 'the agent ends with its provider');
    await lab?.start();
    await until(() => isRunning(rig), 'it is back');
    await runBag(rig, t, 'second');

    await mutirao(['machine', 'remove', 'old']);
    t.deepEqual(await mutirao(['machine', 'enrolled']), []);
    t.deepEqual(agents(), []);
    t.deepEqual(readdirSync(path.join(there, '.mutirao/machines/lab_old/runs')), []);
    t.regex(
      (await mutirao(['machine', 'remove', 'old'], 2)) as string,
      /there is no machine "old" to remove; expected one of pc0/,
    );
  },
);

function getCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

test.serial("a machine that does not answer is tried again, and says why in the template's words", async (t) => {
  const rig = await startRig(t);
  writeFileSync(
    path.join(rig.grid.home, 'bad.gdf'),
    'gum:\n name: away\n remExec: echo "no route to $machine" >&2; false $command\n copyTo: false $localfile ' +
      '$remotefile\n copyFrom: false $localfile $remotefile\n',
  );
  await rig.mutirao(['machine', 'add', '--file', 'bad.gdf']);
  await until(
    async () => ((await rig.mutirao(['machine', 'enrolled'])) as { status: string }[])[0]?.status === 'waiting',
    'it is given up for a while',
  );
  t.regex(
    ((await rig.mutirao(['machine', 'enrolled'])) as { reason: string }[])[0]?.reason ?? '',
    /MUT_TEMPLATE_FAILED remExec for away ended with status 1: no route to away/,
  );
});
