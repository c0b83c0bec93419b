// Providers go on with a leased slice of the bag while their broker is away, and deliver when it is back: nothing is
// lost, and no time.
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus, type OutputSpec } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import {
  GridMachineProviderServiceClient,
  GridMachineProviderServiceService,
  type GetResourceResponse,
} from '@mutirao/api/provider';
import { quietLogger } from '@mutirao/runtime/log';
import { bind, callUnary, dial, serve } from '@mutirao/runtime/rpc';
import {
  discardSocket,
  freeSocket,
  Grid,
  slowHome,
  slowProvider,
  taskGroup,
  temporaryFolder,
  until as poll,
  type GridOptions,
} from '@mutirao/testkit';

/** These walks are long, and must pass on a busy machine too. */
const patience = 180_000;
const until = (holds: () => boolean | Promise<boolean>, what: string): Promise<void> => poll(holds, what, patience);

interface World {
  readonly grid: Grid;
  /** Every run of a task leaves a file here: the world's own truth about what ran. */
  readonly runs: string;
  readonly outputs: string;
}

async function world(t: ExecutionContext, options: GridOptions): Promise<World> {
  const [runs, outputs] = [temporaryFolder(t), temporaryFolder(t)];
  const grid = await Grid.start({
    ...options,
    providerArgs: ['--standby-after', '500ms', ...(options.providerArgs ?? [])],
  });
  t.teardown(() => grid.stop());
  return { grid, runs, outputs };
}

const recorded = (runs: string, seconds: number): string =>
  `echo task {} > out; sleep ${seconds}; touch ${runs}/$TASK.$$`;
const listRuns = (runs: string): number => readdirSync(runs).length;

function outputTo(outputs: string): OutputSpec[] {
  return [{ root: Root.PLAYPEN, path: 'out', localPath: join(outputs, '{}'), condition: '' }];
}

function wrongOutputs(outputs: string, count: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter((index) => {
    const path = join(outputs, String(index));
    return !existsSync(path) || readFileSync(path, 'utf8') !== `task ${index}\n`;
  });
}

async function resourceOf(
  t: ExecutionContext,
  { grid }: World,
  index = 0,
): Promise<() => Promise<GetResourceResponse>> {
  const client = dial(GridMachineProviderServiceClient, grid.providers[index]?.address ?? '', {
    token: () => readFileSync(join(grid.home, 'token'), 'utf8').trim(),
  });
  t.teardown(() => {
    client.close();
  });
  return () => callUnary(client, 'getResource', {}, { deadlineMs: 60_000 });
}

/** A broker that is back asks what ran before it places anything that was leased. */
function checkRuns(t: ExecutionContext, runs: string, count: number): void {
  t.is(new Set(readdirSync(runs).map((name) => name.split('.')[0])).size, count, 'a task never ran');
  t.is(listRuns(runs), count, 'a task ran twice');
}

/**
 * Waits until the provider has a lease with at least `count` tasks.
 *
 * Before the first tasks end, a lease has four tasks for each processor that is asked for. A test that stops the broker
 * must wait for a lease with all the tasks that it expects to run meanwhile.
 */
async function leased(t: ExecutionContext, of: World, count: number): Promise<void> {
  const resource = await resourceOf(t, of);
  await until(async () => ((await resource()).leases[0]?.leasedTasks ?? 0) >= count, `${count} tasks are leased`);
}

test.serial(
  'a broker killed with a bag open: the work goes on without it, and every result is there once when it is back',
  async (t) => {
    const made = await world(t, { clusters: [4] });
    const { grid, runs, outputs } = made;
    const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.2), 400, { outputs: outputTo(outputs) })], {
      replicasMax: 1,
    });
    await until(() => listRuns(runs) >= 8, 'some tasks have run');
    await leased(t, made, 250);
    const placed = (await grid.client.job(jobId)).runningCount;
    await grid.broker.kill('SIGKILL');
    const before = listRuns(runs);
    // Long before the first tasks of what was leased, which come last and may be those that the broker placed itself
    // since.
    await until(() => listRuns(runs) >= 150, 'the work goes on while the broker is away');
    t.true(150 > before + placed, `what was placed was ${placed} more than ${before}`);
    await grid.broker.start();
    const job = await grid.client.waitEnded(jobId);
    t.is(job.status, JobStatus.FINISHED);
    t.is(job.finishedCount, 400);
    t.deepEqual(wrongOutputs(outputs, 400), []);
    checkRuns(t, runs, 400);
  },
);

test.serial('a broker that is stopped and goes on later finds the work done', async (t) => {
  const made = await world(t, { clusters: [4] });
  const { grid, runs, outputs } = made;
  const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.5), 160, { outputs: outputTo(outputs) })], {
    replicasMax: 1,
  });
  await until(() => listRuns(runs) >= 4, 'some tasks have run');
  await leased(t, made, 100);
  process.kill(grid.broker.pid, 'SIGSTOP');
  try {
    const resource = await resourceOf(t, made);
    const stoppedAt = Date.now();
    await until(
      async () => ((await resource()).leases[0]?.standbySinceUnixMs ?? 0) > 0,
      'the provider stands in for the broker that is stopped',
    );
    t.log(`stood in for after ${(Date.now() - stoppedAt) / 1000} s, half a second of which it waits`);
    await until(() => listRuns(runs) >= 50, 'the work goes on while the broker sleeps');
  } finally {
    process.kill(grid.broker.pid, 'SIGCONT');
  }
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 160);
  t.deepEqual(wrongOutputs(outputs, 160), []);
  checkRuns(t, runs, 160);
});

test.serial(
  'a broker that lost its journal takes nothing for its own that ran for the one before it under its name',
  async (t) => {
    const { grid, runs, outputs } = await world(t, { clusters: [2] });
    const task = (word: string): string => `echo ${word} {} > out; sleep 1; touch ${runs}/${word}.$TASK`;
    const count = 20;
    await grid.client.submit([taskGroup(task('OLD'), count, { outputs: outputTo(outputs) })], { replicasMax: 1 });
    const resource = await resourceOf(t, { grid, runs, outputs });
    await until(async () => ((await resource()).leases[0]?.leasedTasks ?? 0) > 0, 'tasks are leased');
    await grid.broker.kill('SIGKILL');
    const before = listRuns(runs);
    // The first tasks run, whose replicas have the numbers that a new journal gives first.
    await until(() => listRuns(runs) >= before + 4, 'some tasks end while the broker is away');
    renameSync(join(grid.home, 'broker'), join(grid.home, 'broker.lost'));
    await grid.providers[0]?.kill('SIGKILL');
    await grid.broker.start();
    const jobId = await grid.client.submit([taskGroup(task('NEW'), count, { outputs: outputTo(outputs) })], {
      replicasMax: 1,
    });
    await grid.providers[0]?.start();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, count);
    for (let index = 0; index < count; index += 1)
      t.is(readFileSync(join(outputs, String(index)), 'utf8'), `NEW ${index}\n`);
    t.is(
      readdirSync(runs).filter((name) => name.startsWith('NEW.')).length,
      count,
      'a task of the new journal never ran',
    );
  },
);

const largeLines = 30_000;
const large = (runs: string): string => `yes "line of {}" | head -n ${largeLines} > out; touch ${runs}/$TASK.$$`;

function wrongLargeOutputs(outputs: string, count: number): number[] {
  return Array.from({ length: count }, (_, index) => index).filter((index) => {
    const path = join(outputs, String(index));
    return !existsSync(path) || readFileSync(path, 'utf8') !== `line of ${index}\n`.repeat(largeLines);
  });
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

test.serial(
  'large outputs wait on the disk of the provider, for nobody else to read, until their broker has them',
  async (t) => {
    const made = await world(t, { clusters: [2] });
    const { grid, runs, outputs } = made;
    const jobId = await grid.client.submit(
      [taskGroup(`sleep 0.2; ${large(runs)}`, 60, { outputs: outputTo(outputs) })],
      { replicasMax: 1 },
    );
    await until(() => listRuns(runs) >= 2, 'some tasks have run');
    await leased(t, made, 40);
    await grid.broker.kill('SIGKILL');
    const resource = await resourceOf(t, made);
    const spool = join(grid.home, 'providers/alpha/spool');
    await until(() => listRuns(runs) >= 40, 'the work goes on');
    await until(async () => ((await resource()).leases[0]?.spooledBytes ?? 0) > 1_000_000, 'outputs are kept');
    t.is(statSync(spool).mode & 0o777, 0o700);
    for (const path of filesIn(spool)) t.is(statSync(path).mode & 0o177, 0, path);
    await grid.broker.start();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 60);
    t.deepEqual(wrongLargeOutputs(outputs, 60), []);
    t.is(listRuns(runs), 60, 'a task ran twice, or not at all');
    await until(async () => ((await resource()).leases[0]?.spooledReports ?? 0) === 0, 'reports are forgotten');
    await until(() => filesIn(spool).length === 0, 'outputs are gone');
  },
);

test.serial('inputs of leased tasks are brought to the site beforehand', async (t) => {
  for (const shared of ['none', '']) {
    const made = await world(t, { machines: [2], agentArgs: shared === '' ? [] : ['--shared', shared] });
    const { grid, runs, outputs } = made;
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'common'), 'x'.repeat(200_000));
    for (let index = 0; index < 100; index += 1)
      writeFileSync(join(folder, `in.${index}`), `input ${index}\n`.repeat(index % 3 === 0 ? 20_000 : 1));
    const inputs = ['common', 'in.{}'].map((path) => ({
      source: { source: { $case: 'localPath' as const, value: path } },
      root: Root.PLAYPEN,
      path,
      condition: '',
    }));
    const command =
      'test $(wc -c < common) = 200000 && tail -n 1 in.{} | sed s/input/task/ > out; sleep 0.1; touch ' +
      `${runs}/$TASK.$$`;
    const jobId = await grid.client.submit([taskGroup(command, 100, { inputs, outputs: outputTo(outputs) })], {
      replicasMax: 1,
      homeDirectory: folder,
    });
    await until(() => listRuns(runs) >= 2, 'some tasks have run');
    const resource = await resourceOf(t, made);
    await until(
      async () =>
        (await resource()).leases.some(({ leasedTasks, unstockedTasks }) => leasedTasks >= 40 && unstockedTasks === 0),
      'inputs of 40 leased tasks are at the site',
    );
    await grid.broker.kill('SIGKILL');
    const before = listRuns(runs);
    await until(() => listRuns(runs) >= before + 30, 'the work goes on');
    await grid.broker.start();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 100);
    t.deepEqual(wrongOutputs(outputs, 100), []);
    t.is(listRuns(runs), 100, 'a task ran twice, or not at all');
    await grid.stop();
  }
});

/**
 * The broker is killed, then the provider that stands in for it, and both come back while tasks run: every result is
 * there once.
 */
async function killWhileStatusIn(t: ExecutionContext, options: GridOptions = {}): Promise<void> {
  const made = await world(t, { clusters: [2], ...options });
  const { grid, runs, outputs } = made;
  const jobId = await grid.client.submit([taskGroup(`sleep 0.2; ${large(runs)}`, 80, { outputs: outputTo(outputs) })], {
    replicasMax: 1,
  });
  await until(() => listRuns(runs) >= 2, 'some tasks have run');
  await leased(t, made, 40);
  await grid.broker.kill('SIGKILL');
  const resource = await resourceOf(t, made);
  await until(async () => ((await resource()).leases[0]?.spooledEnds ?? 0) >= 10, 'ends are kept');
  await grid.providers[0]?.crash();
  const before = listRuns(runs);
  await until(() => listRuns(runs) >= before + 10, 'it goes on where it was');
  await grid.broker.start();
  t.is((await grid.client.waitEnded(jobId)).finishedCount, 80);
  t.deepEqual(wrongLargeOutputs(outputs, 80), []);
  t.is(listRuns(runs), 80, 'a task ran twice, or not at all');
}

test.serial('a provider killed while it stands in for its broker loses nothing of what it kept', async (t) => {
  await killWhileStatusIn(t);
});

test.serial(
  'an output whose push ends while kept reports are delivered is fetched once, and nothing waits for it again',
  async (t) => {
    // So slow that pushes end in the midst of the delivery. Were one announced twice, the second fetch would find
    // nothing, and its machine stand still for five minutes.
    await killWhileStatusIn(t, { preloads: { broker: slowHome, provider: slowProvider } });
  },
);

test.serial(
  'an agent killed while its broker is away: what it reported is kept, and what it ran runs on another',
  async (t) => {
    const made = await world(t, { machines: [1, 1] });
    const { grid, runs, outputs } = made;
    const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.3), 80, { outputs: outputTo(outputs) })], {
      replicasMax: 1,
    });
    await until(() => listRuns(runs) >= 2, 'some tasks have run');
    await leased(t, made, 40);
    await grid.broker.kill('SIGKILL');
    const resource = await resourceOf(t, made);
    await until(async () => ((await resource()).leases[0]?.spooledEnds ?? 0) >= 8, 'ends are kept');
    await grid.agents[0]?.kill('SIGKILL');
    const before = listRuns(runs);
    await until(() => listRuns(runs) >= before + 10, 'the other one goes on');
    await grid.broker.start();
    t.is((await grid.client.waitEnded(jobId)).finishedCount, 80);
    t.deepEqual(wrongOutputs(outputs, 80), []);
    // What ran on the killed agent, or waited in it, or had ended and was not reported.
    const count = listRuns(runs);
    t.true(count >= 80 && count <= 84, `${count} runs`);
  },
);

test.serial(
  'a job cancelled as soon as its broker is back: nothing of it runs on, and the next one is served',
  async (t) => {
    const made = await world(t, { clusters: [2] });
    const { grid, runs } = made;
    const jobId = await grid.client.submit([taskGroup(recorded(runs, 0.5), 200)], { replicasMax: 1 });
    await until(() => listRuns(runs) >= 2, 'some tasks have run');
    await leased(t, made, 50);
    await grid.broker.kill('SIGKILL');
    const resource = await resourceOf(t, made);
    await until(async () => ((await resource()).leases[0]?.spooledEnds ?? 0) >= 6, 'ends are kept');
    await grid.broker.start();
    await grid.client.cancel(jobId);
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.CANCELLED);
    const nextId = await grid.client.submit([taskGroup('true', 10)]);
    t.is((await grid.client.waitEnded(nextId)).finishedCount, 10);
    const count = listRuns(runs);
    t.true(count < 200, 'it was not cancelled');
    await until(async () => ((await resource()).leases[0]?.spooledReports ?? 0) === 0, 'nothing is kept of it');
    await grid.broker.kill('SIGKILL');
    await until(
      async () => ((await resource()).leases[0]?.standbySinceUnixMs ?? 0) > 0,
      'the provider stands in again',
    );
    t.is((await resource()).leases[0]?.leasedTasks, 0, 'nothing is leased of a cancelled job');
    t.is(listRuns(runs), count, 'tasks of a cancelled job were started');
  },
);

/** What a provider with these capabilities and one machine receives from a broker before it gets a task. */
async function receivedBefore(t: ExecutionContext, capabilities: string[]): Promise<string[]> {
  const received: string[] = [];
  const facts = {
    machineId: 'old/m',
    incarnation: 'i',
    processors: 1,
    attributes: {},
    untilUnixMs: undefined,
    requestId: '',
    sharedTokens: [],
    homeMarks: [],
  };
  const server = await serve({
    address: freeSocket(),
    tokens: () => 'anybody',
    log: quietLogger,
    services: [
      bind(
        { connect: GridMachineProviderServiceService.connect },
        {
          connect: (stream) => {
            stream.listen({
              onMessage: ({ message }) => {
                received.push(message?.$case ?? 'unknown');
                if (message?.$case !== 'hello') return;
                stream.write({
                  message: {
                    $case: 'hello',
                    value: {
                      protocolVersion: 1,
                      programVersion: '0',
                      capabilities,
                      speakerId: 'old',
                      sentUnixMs: undefined,
                    },
                  },
                });
                stream.write({ message: { $case: 'joined', value: { facts, heldReplicaIds: [] } } });
                stream.write({ message: { $case: 'settled', value: {} } });
              },
              onClosed: () => undefined,
            });
          },
        },
      ),
    ],
  });
  t.teardown(async () => {
    await server.drain(0);
    discardSocket(server.address);
  });
  const grid = await Grid.start({ brokerArgs: ['--provider', `old=${server.address}`] });
  t.teardown(() => grid.stop());
  await grid.client.waitMachines(1);
  await grid.client.submit([taskGroup('true', 10)]);
  await until(() => received.includes('toMachine'), 'a task is placed');
  return received;
}

test.serial('a provider of a release that knows no leases is leased nothing', async (t) => {
  t.true((await receivedBefore(t, ['lease'])).includes('lease'));
  t.false((await receivedBefore(t, [])).includes('lease'));
});
