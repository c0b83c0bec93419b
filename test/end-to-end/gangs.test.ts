// Gangs on real processes: a task on processors of several machines, whatever becomes of one of them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

/** The command line as a user has it, in her folder. */
function getCommand(grid: Grid, directory: string) {
  return async (
    ...words: readonly string[]
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> => {
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [
        commandLine,
        ...words.slice(0, 2),
        '--home',
        grid.home,
        '--broker',
        grid.broker.address,
        ...words.slice(2),
      ],
      cwd: directory,
      deadlineMs: 120_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, out: stdout.toString(), err: stderr.toString() };
  };
}

test.serial('the old job file for two processors runs on two machines, and brings home what both said', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'mp.jdf'),
    'job :\nlabel : SimpleMPJob\nrequirements : ( num_procs == 2 )\ntask :\nremote : $RSH_CMD $PROC0 "echo a" ' +
      '>> out; $RSH_CMD $PROC1 "echo b" >> out; cat "$HOSTFILE" >> out\nfinal  : get out out\n',
  );
  const grid = await Grid.start({ machines: [1, 1] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(2);
  const submitted = await getCommand(grid, folder)('job', 'submit', 'mp.jdf', '--wait');
  t.is(submitted.status, 0, submitted.err);
  const [first, second, ...hosts] = readFileSync(join(folder, 'out'), 'utf8').trim().split('\n');
  t.deepEqual([first, second], ['a', 'b']);
  t.is(hosts.length, 2);
});

test.serial(
  'a gang that loses a machine while it runs ends and is run again, also when the broker is killed meanwhile',
  async (t) => {
    const folder = temporaryFolder(t);
    const gate = join(folder, 'gate');
    const grid = await Grid.start({ machines: [1, 1, 1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(3);
    const command = getCommand(grid, folder);
    const submitted = await command(
      'job',
      'submit',
      '--processors',
      '2',
      '--gang',
      '--quiet',
      '--',
      `echo run >> ${folder}/runs; $RSH_CMD $PROC1 "echo there >> ${folder}/there"; while [ ! -e ${gate} ]; do ` +
        'sleep 0.05; done; $RSH_CMD $PROC1 "echo done"',
    );
    t.is(submitted.status, 0, submitted.err);
    const jobId = Number(submitted.out);
    await until(() => existsSync(join(folder, 'there')), 'the other member does what it is asked');
    const [task] = await grid.client.tasks(jobId);
    t.is(task?.replicas.length, 2, 'both members are shown');
    const explained = await command('explain', 'task', String(jobId), '0');
    t.regex(explained.out, /runs on 2 processors on 2 machines/);

    const follower = task?.replicas[1]?.machineId ?? '';
    await grid.agents[Number(/\d+$/.exec(follower)?.[0])]?.kill('SIGKILL');
    await until(
      () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length === 2,
      'it runs a second time',
    );
    await grid.broker.crash();
    writeFileSync(gate, '');
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  },
);

test.serial(
  'an impossible gang is refused before anything is submitted, and one wider than its provider says what it waits for',
  async (t) => {
    const folder = temporaryFolder(t);
    const grid = await Grid.start({ machines: [1, 1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const command = getCommand(grid, folder);
    const voted = await command('job', 'submit', '--processors', '2', '--gang', '--verify', 'vote:3', '--', 'true');
    t.is(voted.status, 2);
    t.regex(voted.err, /MUT_GANG_UNSUITABLE.*not voted on/);
    const replicated = await command('job', 'submit', '--processors', '2', '--gang', '--replicas', '2', '--', 'true');
    t.regex(replicated.err, /MUT_GANG_UNSUITABLE.*once at a time/);
    t.regex((await command('job', 'submit', '--gang', '--', 'true')).err, /--gang is given for tasks of one processor/);
    const wide = await command('job', 'submit', '--processors', '3', '--gang', '--quiet', '--', 'true');
    t.is(wide.status, 0, wide.err);
    await until(
      async () =>
        /needs 3 processors of one provider.*has 2/s.test((await command('explain', 'task', wide.out.trim(), '0')).out),
      'it says what is missing',
    );
  },
);
