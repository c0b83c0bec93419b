// Workflow files run on real processes: in order, with their data, whatever becomes of the broker in the midst of it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { runCommand } from '@mutirao/runtime/processes';
import { Grid, readMetrics, temporaryFolder, until } from '@mutirao/testkit';

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

/** The command line as a user has it, in her folder. */
function getCommand(grid: Grid, directory: string) {
  return async (
    ...words: readonly string[]
  ): Promise<{ readonly status: number; readonly out: string; readonly err: string }> => {
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...words, '--home', grid.home, '--broker', grid.broker.address],
      cwd: directory,
      deadlineMs: 60_000,
      outputBytesMax: 1024 * 1024,
    });
    return { status, out: stdout.toString(), err: stderr.toString() };
  };
}

/** More than what travels within messages. */
const largeBytes = 200_000;

test.serial(
  'a diamond with files ends with what its tasks made of them, though the broker is killed in its midst',
  async (t) => {
    const folder = temporaryFolder(t);
    const gate = join(folder, 'gate');
    writeFileSync(join(folder, 'in.txt'), 'seed\n');
    writeFileSync(
      join(folder, 'diamond.yaml'),
      `
name: diamond
inputs: [in.txt]
outputs: [left.txt]
tasks:
  split:
    command: "head -c ${largeBytes} /dev/zero | tr '\\\\0' 'x' > large.dat; cat in.txt > small.txt; echo split >> ${folder}/order"
    inputs: [in.txt]
    outputs: [large.dat, small.txt]
  left: {command: 'wc -c < large.dat > left.txt; echo left >> ${folder}/order', inputs: [large.dat], outputs: [left.txt]}
  right: {command: 'while [ ! -e ${gate} ]; do sleep 0.05; done; tr a-z A-Z < small.txt > right.txt', inputs: [small.txt], outputs: [right.txt]}
  join: {command: 'cat left.txt right.txt > all.txt; echo join >> ${folder}/order', inputs: [left.txt, right.txt], outputs: [all.txt]}
`,
    );
    const grid = await Grid.start({ machines: [1, 1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const command = getCommand(grid, folder);
    const submitted = await command('job', 'submit', 'diamond.yaml', '--replicas', '1', '--quiet');
    t.is(submitted.status, 0, submitted.err);
    const jobId = Number(submitted.out);
    await until(async () => (await grid.client.job(jobId)).finishedCount === 2, 'split and left have finished');
    t.like(await grid.client.job(jobId), { waitingCount: 1, taskCount: 4 });
    t.false(existsSync(join(folder, 'all.txt')));
    const waits = await command('explain', 'task', String(jobId), '3');
    t.regex(waits.out, /Task 3 of job 1 waits for 1 task to finish: 2\./);

    await grid.broker.crash();
    writeFileSync(gate, '');
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
    t.is(readFileSync(join(folder, 'all.txt'), 'utf8').replace(/ /g, ''), `${largeBytes}\nSEED\n`);
    t.deepEqual(
      readFileSync(join(folder, 'order'), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
      ['split', 'left', 'join'],
    );
    t.true(existsSync(join(folder, 'left.txt')), 'what the whole names as its output comes home');
    t.false(
      existsSync(join(folder, 'large.dat')) || existsSync(join(folder, 'right.txt')),
      'what is only read by others does not',
    );
  },
);

test.serial(
  'what the next task reads is not sent to the machine that wrote it, and comes home once all the same',
  async (t) => {
    const folder = temporaryFolder(t);
    const half = largeBytes / 2;
    writeFileSync(
      join(folder, 'chain.yaml'),
      `
outputs: [middle.dat]
tasks:
  first: {command: "head -c ${largeBytes} /dev/urandom > first.dat; mkdir parts; head -c ${half} /dev/urandom > parts/a; echo b > parts/b", outputs: [first.dat, parts]}
  second: {command: 'cat first.dat parts/a > middle.dat; echo spoilt >> first.dat', inputs: [first.dat, parts], outputs: [middle.dat]}
  third: {command: 'sha256sum < middle.dat > sum; cat first.dat parts/a | cmp - middle.dat', inputs: [middle.dat, first.dat, parts], outputs: [sum]}
`,
    );
    const grid = await Grid.start({
      machines: [1, 1, 1],
      agentArgs: ['--shared', 'none'],
      brokerArgs: ['--keep-intermediates', '0s'],
    });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(3);
    const submitted = await getCommand(grid, folder)('job', 'submit', 'chain.yaml', '--replicas', '1', '--wait');
    t.is(submitted.status, 0, submitted.err);
    t.is(
      createHash('sha256')
        .update(readFileSync(join(folder, 'middle.dat')))
        .digest('hex'),
      readFileSync(join(folder, 'sum'), 'utf8').split(' ')[0] ?? '',
    );
    const machines = new Set(
      (await grid.client.tasks(1)).flatMap(({ replicas }) => replicas.map(({ machineId }) => machineId)),
    );
    t.is(machines.size, 1, 'each goes where its inputs are');
    const text = await readMetrics(grid.home);
    const bytes = (direction: string): number =>
      Number(
        new RegExp(`^mutirao_broker_staged_bytes_total\\{direction="${direction}"\\} (\\d+)$`, 'm').exec(text)?.[1] ??
          0,
      );
    t.is(bytes('out'), 0, 'no content was sent to a machine');
    t.true(
      bytes('in') >= 2 * largeBytes + half && bytes('in') < 3 * largeBytes + half,
      `${bytes('in')} bytes came home`,
    );
    await until(
      () => !readdirSync(join(grid.home, 'broker', 'contents')).some((name) => /^[0-9a-f]{64}$/.test(name)),
      'what is only between tasks is removed after the job',
    );
  },
);

test.serial(
  'what a machine enrolled for the next task is lost with it, and the task gets it from home elsewhere',
  async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(
      join(folder, 'pair.yaml'),
      `
tasks:
  first: {command: 'head -c ${largeBytes} /dev/urandom > data; sha256sum < data > ${folder}/sum', outputs: [data]}
  second: {command: 'echo begun >> ${folder}/begun; while [ ! -e ${folder}/gate ]; do sleep 0.05; done; sha256sum < data > again', inputs: [data], outputs: [again]}
`,
    );
    const grid = await Grid.start({ machines: [1, 1], agentArgs: ['--shared', 'none'] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(2);
    const submitted = await getCommand(grid, folder)('job', 'submit', 'pair.yaml', '--replicas', '1', '--quiet');
    t.is(submitted.status, 0, submitted.err);
    await until(() => existsSync(join(folder, 'begun')), 'the second task has begun');
    const machineId = (await grid.client.tasks(1))[1]?.replicas[0]?.machineId ?? '';
    t.is(machineId, (await grid.client.tasks(1))[0]?.replicas[0]?.machineId ?? '', 'where the first one was');
    const agent = grid.agents.find((_, index) => machineId === `lab/pc${index}`);
    await agent?.kill('SIGKILL');
    writeFileSync(join(folder, 'gate'), '');
    t.is((await grid.client.waitEnded(1)).status, JobStatus.FINISHED);
    t.is(readFileSync(join(folder, 'again'), 'utf8'), readFileSync(join(folder, 'sum'), 'utf8'));
    t.not((await grid.client.tasks(1))[1]?.replicas.at(-1)?.machineId, machineId);
  },
);

test.serial(
  'what cannot run behind a failed task runs with it when the job is retried, and nothing that is done',
  async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(
      join(folder, 'chain.yaml'),
      `
tasks:
  first: {command: 'echo first >> ${folder}/runs; echo 1 > a', outputs: [a]}
  second: {command: 'echo second >> ${folder}/runs; test -e ${folder}/mended && cp a b', inputs: [a], outputs: [b]}
  third: {command: 'echo third >> ${folder}/runs; cp b c', inputs: [b], outputs: [c]}
`,
    );
    const grid = await Grid.start({ machines: [1] });
    t.teardown(() => grid.stop());
    await grid.client.waitMachines(1);
    const command = getCommand(grid, folder);
    const failed = await command('job', 'submit', 'chain.yaml', '--replicas', '1', '--retries', '0', '--wait');
    t.not(failed.status, 0);
    t.like(await grid.client.job(1), { status: JobStatus.FAILED, finishedCount: 1, failedCount: 1, cancelledCount: 1 });
    t.regex((await command('explain', 'task', '1', '2')).out, /cannot run, because task 1 failed/);
    writeFileSync(join(folder, 'mended'), '');
    t.is((await command('job', 'retry', '1')).status, 0);
    t.is((await grid.client.waitEnded(1)).status, JobStatus.FINISHED);
    t.is(readFileSync(join(folder, 'c'), 'utf8'), '1\n');
    t.is(readFileSync(join(folder, 'runs'), 'utf8'), 'first\nsecond\nsecond\nthird\n');
  },
);

test.serial('a workflow with a fault is refused with its place, and nothing of it is submitted', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'cycle.yaml'), 'tasks:\n  a: {command: x, after: [b]}\n  b: {command: x, after: [a]}\n');
  writeFileSync(
    join(folder, 'no-command.xml'),
    '<job name="x"><tasks><task id="1" operation="TRD" dimension="300"/></tasks><edges/></job>\n',
  );
  const grid = await Grid.start({ machines: [1] });
  t.teardown(() => grid.stop());
  const command = getCommand(grid, folder);
  const cycle = await command('job', 'submit', 'cycle.yaml');
  t.regex(cycle.err, /MUT_WORKFLOW_CYCLE/);
  t.regex(cycle.err, /cycle\.yaml:\d+:\d+/);
  const bare = await command('job', 'submit', 'no-command.xml');
  t.regex(bare.err, /MUT_WORKFLOW_NO_COMMAND/);
  t.is((await command('job', 'list', '--quiet')).out, '');
  const standIn = await command(
    'addjob',
    'matrices',
    'no-command.xml',
    '--task-command',
    'test {kind}-{dimension} = TRD-300',
    '--wait',
  );
  t.is(standIn.status, 0, standIn.err);
  t.is((await grid.client.job(1)).label, 'matrices');
});

test.serial('a task that is wider than what any provider may ask for is refused with its name', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(
    join(folder, 'wide.yaml'),
    'tasks:\n  small: {command: true-ish, outputs: [a]}\n  large: {command: x, inputs: [a], processors: 2-64}\n',
  );
  const grid = await Grid.start({ clusters: [4] });
  t.teardown(() => grid.stop());
  const command = getCommand(grid, folder);
  // A provider that has just been started does not know its limits yet.
  let refusal = '';
  await until(async () => {
    refusal = (await command('job', 'submit', 'wide.yaml')).err;
    return refusal !== '';
  }, 'the provider knows what it may ask for');
  t.regex(
    refusal,
    /MUT_PROCESSORS_MAX.*task 1 \(large\) takes 2 processors of one machine; a machine of provider alpha has 1 at most/s,
  );
});
