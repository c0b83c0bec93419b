// A disk that fills up, at each process in turn: new work is refused, nothing that was promised is lost, and all goes
// on when there is room.
// Small file systems are mounted for it, which takes root: elsewhere these tests fail, and say so.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { OutputSpec } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { Grid, SmallDisk, taskGroup, temporaryFolder, until, type GridOptions } from '@mutirao/testkit';

const mebibyte = 1024 * 1024;

interface World {
  readonly grid: Grid;
  readonly disk: SmallDisk;
  /** Where each run of a task leaves a file. */
  readonly runs: string;
  /** Tasks that are gated end when it is there. */
  readonly gate: string;
  readonly outputs: string;
}

/**
 * A grid with a small disk in the place of one of its folders. @param where below the home folder; `outputs` for where
 * jobs bring their files.
 */
async function world(t: ExecutionContext, where: string, options: GridOptions): Promise<World> {
  const folder = temporaryFolder(t);
  const [runs, outputs] = [join(folder, 'runs'), join(folder, 'outputs')];
  mkdirSync(runs);
  mkdirSync(outputs);
  let disk: SmallDisk | undefined;
  const grid = await Grid.start({
    ...options,
    prepare: (home) => {
      disk = SmallDisk.mount(where === 'outputs' ? outputs : join(home, where), 24 * mebibyte);
      return Promise.resolve();
    },
  });
  if (disk === undefined) throw new Error('no disk was mounted');
  const mounted = disk;
  t.teardown(async () => {
    mounted.empty();
    await grid.stop({ keepHome: true });
    mounted.unmount();
    await grid.stop();
  });
  return { grid, disk: mounted, runs, outputs, gate: join(folder, 'gate') };
}

function outputTo(outputs: string): OutputSpec[] {
  return [{ root: Root.PLAYPEN, path: 'out', localPath: join(outputs, '{}'), condition: '' }];
}

const recorded = (runs: string, seconds: number): string => `echo {} > out; sleep ${seconds}; touch ${runs}/$TASK.$$`;

/**
 * The first four tasks end soon; all others run until the gate is there, so that how fast the machine is decides
 * nothing.
 */
function gatedTask({ runs, gate }: World): string {
  return (
    `echo {} > out; : > ${gate}.{}; if [ {} -ge 4 ]; then until [ -e ${gate} ]; do sleep 0.05; done; fi; touch ` +
    `${runs}/$TASK.$$`
  );
}

/** Four tasks are finished and the next two run. */
async function untilGated({ grid, gate }: World, jobId: number): Promise<void> {
  await until(async () => (await grid.client.job(jobId)).finishedCount >= 4, 'some tasks are finished');
  await until(() => [4, 5].every((index) => existsSync(`${gate}.${index}`)), 'two tasks run');
}

async function getHealth(home: string, file: string): Promise<number> {
  const { metricsAddress } = JSON.parse(readFileSync(join(home, file), 'utf8')) as { metricsAddress: string };
  return (await fetch(`http://${metricsAddress}/healthz`)).status;
}

function isRight(outputs: string, count: number): boolean {
  return Array.from({ length: count }, (_, index) => index).every(
    (index) => readFileSync(join(outputs, String(index)), 'utf8') === `${index}\n`,
  );
}

test.serial(
  'a broker whose disk is full takes no job and says so, keeps what comes, and goes on where it was',
  async (t) => {
    const here = await world(t, 'broker', { machines: [2] });
    const { grid, disk, runs, outputs, gate } = here;
    await grid.client.waitMachines(1);
    const jobId = await grid.client.submit([taskGroup(gatedTask(here), 30, { outputs: outputTo(outputs) })], {
      replicasMax: 1,
    });
    await untilGated(here, jobId);
    const { pid } = grid.broker;
    disk.fill();
    await t.throwsAsync(grid.client.submit([taskGroup('true', 1)]), { message: /nothing new is taken/ });
    t.regex(await grid.client.trouble(), /has .* left; expected|there is no room|no room left to write/);
    t.is(await getHealth(grid.home, 'broker.json'), 503);
    const before = readdirSync(runs).length;
    writeFileSync(gate, '');
    await until(() => readdirSync(runs).length >= before + 2, 'running work goes on');
    disk.empty();
    const job = await grid.client.waitEnded(jobId);
    t.is(job.finishedCount, 30);
    t.is(readdirSync(runs).length, 30, 'a task ran twice, or not at all');
    t.true(isRight(outputs, 30));
    t.is(grid.broker.pid, pid, 'it was not restarted');
    t.is(await grid.client.trouble(), '');
    t.is(await getHealth(grid.home, 'broker.json'), 200);
    t.is((await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 1)]))).finishedCount, 1);
  },
);

test.serial(
  'a broker that is killed while its disk is full has acknowledged nothing that it does not keep',
  async (t) => {
    const here = await world(t, 'broker', { machines: [2] });
    const { grid, disk, runs, outputs, gate } = here;
    await grid.client.waitMachines(1);
    const jobId = await grid.client.submit([taskGroup(gatedTask(here), 40, { outputs: outputTo(outputs) })], {
      replicasMax: 1,
    });
    await untilGated(here, jobId);
    disk.fill();
    const before = readdirSync(runs).length;
    writeFileSync(gate, '');
    await until(() => readdirSync(runs).length >= before + 2, 'results come that cannot be kept');
    await grid.broker.kill('SIGKILL');
    disk.empty();
    await grid.broker.start();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 40);
    t.true(isRight(outputs, 40));
  },
);

test.serial('results wait while the disk of their places is full, and their tasks do not fail', async (t) => {
  const { grid, disk, runs, outputs } = await world(t, 'outputs', { machines: [2] });
  await grid.client.waitMachines(1);
  disk.fill();
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.05), 10, { outputs: outputTo(outputs) })], {
    failuresMax: 1,
    replicasMax: 1,
  });
  await until(async () => (await grid.client.trouble()).includes(outputs), 'the job names the disk that is full');
  await until(() => readdirSync(runs).length === 10, 'all tasks have run');
  t.is((await grid.client.job(jobId)).failedCount, 0);
  disk.empty();
  t.is((await grid.client.waitEnded(jobId)).finishedCount, 10);
  t.is(readdirSync(runs).length, 10, 'a task ran twice');
  t.true(isRight(outputs, 10));
});

test.serial(
  'a provider whose disk is full says so, its machines work on, and it asks for more when there is room',
  async (t) => {
    const { grid, disk, runs } = await world(t, 'providers/alpha', {
      clusters: [2],
      providerArgs: ['--idle-release', '500ms'],
    });
    const [provider] = grid.providers;
    const jobId = await grid.client.submit([taskGroup(`sleep 0.1; touch ${runs}/$TASK.$$`, 40)], { replicasMax: 1 });
    await until(() => readdirSync(runs).length >= 4, 'some tasks have run');
    const pid = provider?.pid;
    disk.fill();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 40, 'the job ends with the machines that are there');
    const client = dial(GridMachineProviderServiceClient, provider?.address ?? '', {
      token: () => readFileSync(join(grid.home, 'token'), 'utf8').trim(),
    });
    t.teardown(() => {
      client.close();
    });
    const getReason = async (): Promise<string> =>
      (await callUnary(client, 'getResource', {}, { deadlineMs: 60_000 })).reasons[0]?.text ?? '';
    await until(async () => /there is no room/.test(await getReason()), 'the provider says that there is no room');
    t.is(await getHealth(grid.home, 'providers/alpha/provider.json'), 503);
    disk.empty();
    await until(async () => !/there is no room/.test(await getReason()), 'it goes on');
    t.is((await grid.client.waitEnded(await grid.client.submit([taskGroup('true', 4)]))).finishedCount, 4);
    t.is(provider?.pid, pid, 'it was not restarted');
  },
);

test.serial('a cluster whose disk is full takes no request, and the next job waits until there is room', async (t) => {
  const { grid, disk, runs } = await world(t, 'clusters/alpha', {
    clusters: [2],
    providerArgs: ['--refusal-pause', '300ms', '--refusal-pause-max', '500ms'],
  });
  const [cluster] = grid.clusters;
  const pid = cluster?.pid;
  disk.fill();
  const jobId = await grid.client.submit([taskGroup(`touch ${runs}/$TASK.$$`, 4)], { replicasMax: 1 });
  await until(
    async () =>
      (await grid.client.explain({ $case: 'jobId', value: jobId })).includes('MUT_DISK_FULL') ||
      (grid.providers[0]?.log.some((line) => line.includes('nothing new is taken')) ?? false),
    'the request is refused for want of room',
  );
  t.is(readdirSync(runs).length, 0);
  disk.empty();
  t.is((await grid.client.waitEnded(jobId)).finishedCount, 4);
  t.is(cluster?.pid, pid, 'it was not restarted');
});

test.serial(
  'a machine whose disk is full breaks what it gets, is left alone for a moment only, and works again when there is room',
  async (t) => {
    const { grid, disk, runs } = await world(t, 'agents', { machines: [2] });
    await grid.client.waitMachines(1);
    const pid = grid.agents[0]?.pid;
    disk.fill();
    const jobId = await grid.client.submit([taskGroup(`head -c 100000 /dev/zero > big && touch ${runs}/$TASK.$$`, 4)], {
      failuresMax: 1,
      replicasMax: 1,
    });
    await until(
      async () =>
        (await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } })).includes('its disk was full'),
      'the machine reports its disk',
    );
    t.is((await grid.client.job(jobId)).failedCount, 0);
    disk.empty();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 4);
    t.is(grid.agents[0]?.pid, pid, 'it was not restarted');
  },
);

test.serial('a task that found no room and removed what it wrote before it failed has not failed', async (t) => {
  const { grid, outputs } = await world(t, 'agents', { machines: [1] });
  await grid.client.waitMachines(1);
  const command = `test -e ${outputs}/go || { head -c 40000000 /dev/zero > big || { sleep 3; rm big; exit 1; }; }`;
  const jobId = await grid.client.submit([taskGroup(command, 1)], { failuresMax: 1, replicasMax: 1 });
  await until(
    async () =>
      (await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } })).includes('its disk was full'),
    'the machine reports its disk',
  );
  t.is((await grid.client.job(jobId)).failedCount, 0);
  writeFileSync(join(outputs, 'go'), '');
  t.is((await grid.client.waitEnded(jobId)).finishedCount, 1);
});
