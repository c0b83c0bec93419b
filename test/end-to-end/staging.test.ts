// Where the bytes of inputs and outputs go, on a grid of separate processes.
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { Grid, inviteMachine, readMetrics, taskGroup, temporaryFolder, until, Wire } from '@mutirao/testkit';

/** A figure of a process, from its /metrics. */
async function metric(grid: Grid, file: string, name: string): Promise<number> {
  const text = await readMetrics(grid.home, file);
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${name} `) || (name.includes('{') && one.startsWith(name)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

function input(path: string, to: string, root = Root.PLAYPEN) {
  return { source: { source: { $case: 'localPath' as const, value: path } }, root, path: to, condition: '' };
}

async function startGrid(t: ExecutionContext, options: Parameters<typeof Grid.start>[0]): Promise<Grid> {
  const grid = await Grid.start(options);
  t.teardown(() => grid.stop());
  return grid;
}

/**
 * What may come again of an output after a cut: 1 MiB under way on each of the two streams between agent and home, and
 * the 16 messages of 128 KiB that may wait at the provider.
 */
const outputLossMax = 4 << 20;

const carriedOut = 'mutirao_broker_staged_bytes_total{direction="out"}';
const carriedIn = 'mutirao_broker_staged_bytes_total{direction="in"}';

test.serial('an input that all agents of a site want crosses the wire from home once', async (t) => {
  const grid = await startGrid(t, { machines: [1, 1, 1], agentArgs: ['--shared', 'none'] });
  await grid.client.waitMachines(3);
  const folder = temporaryFolder(t);
  const bytes = randomBytes(3 << 20);
  writeFileSync(join(folder, 'in.bin'), bytes);
  const jobId = await grid.client.submit(
    [
      taskGroup('sleep 0.5; cp in.bin out.{}', 6, {
        inputs: [input('in.bin', 'in.bin')],
        outputs: [{ root: Root.PLAYPEN, path: 'out.{}', localPath: 'out.{}', condition: '' }],
      }),
    ],
    { homeDirectory: folder },
  );
  t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  for (let index = 0; index < 6; index += 1)
    t.true(readFileSync(join(folder, `out.${index}`)).equals(bytes), `out.${index}`);
  const machines = new Set(
    (await grid.client.tasks(jobId)).flatMap(({ replicas }) => replicas.map(({ machineId }) => machineId)),
  );
  t.is(machines.size, 3);
  t.is(await metric(grid, 'broker.json', carriedOut), bytes.length);
  t.is(await metric(grid, 'providers/lab/provider.json', 'mutirao_provider_contents_served_bytes'), 3 * bytes.length);
});

test.serial(
  'where a machine shares the file system of home nothing crosses a wire, and tasks cannot change the source',
  async (t) => {
    const grid = await startGrid(t, { machines: [2] });
    await grid.client.waitMachines(1);
    const folder = temporaryFolder(t);
    const bytes = randomBytes(1 << 20);
    mkdirSync(join(folder, 'in'));
    writeFileSync(join(folder, 'in', 'large.bin'), bytes);
    writeFileSync(join(folder, 'in', 'small'), 'small');
    // A file that was written a moment ago is copied to be safe; both ways must give the right result.
    for (const round of ['fresh', 'settled']) {
      if (round === 'settled')
        await until(() => Date.now() - statSync(join(folder, 'in', 'small')).ctimeMs > 2500, 'the files are settled');
      const jobId = await grid.client.submit(
        [
          taskGroup('cat in/large.bin in/small > out.{}; echo changed >> in/large.bin; echo changed > in/small', 4, {
            inputs: [input('in', 'in')],
            outputs: [{ root: Root.PLAYPEN, path: 'out.{}', localPath: `${round}.{}`, condition: '' }],
          }),
        ],
        { homeDirectory: folder },
      );
      t.is(
        (await grid.client.waitEnded(jobId)).status,
        JobStatus.FINISHED,
        await grid.client.explain({ $case: 'jobId', value: jobId }),
      );
      for (let index = 0; index < 4; index += 1) {
        t.true(
          readFileSync(join(folder, `${round}.${index}`)).equals(Buffer.concat([bytes, Buffer.from('small')])),
          `${round}.${index}`,
        );
      }
    }
    t.true(readFileSync(join(folder, 'in', 'large.bin')).equals(bytes));
    t.is(await metric(grid, 'broker.json', carriedOut), 0);
    t.is(await metric(grid, 'broker.json', carriedIn), 0);
  },
);

test.serial(
  'an input that changed at home after its job was submitted fails the tasks that start later, and the job says so',
  async (t) => {
    const grid = await startGrid(t, { machines: [1] });
    await grid.client.waitMachines(1);
    await grid.agents[0]?.kill('SIGTERM');
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, 'in.txt'), 'as submitted');
    const jobId = await grid.client.submit([taskGroup('cat in.txt', 1, { inputs: [input('in.txt', 'in.txt')] })], {
      homeDirectory: folder,
    });
    writeFileSync(join(folder, 'in.txt'), 'changed since');
    await grid.agents[0]?.start();
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FAILED);
    const replica = (await grid.client.tasks(jobId))[0]?.replicas.at(-1);
    t.is(replica?.reason, 'MUT_INPUT_CHANGED');
    t.regex(
      replica?.detail?.text ?? '',
      /in\.txt is not what it was when the job was submitted: it has 13 bytes now, last written at /,
    );
    t.regex(await grid.client.explain({ $case: 'task', value: { jobId, taskIndex: 0 } }), /MUT_INPUT_CHANGED/);
  },
);

test.serial(
  'an input that is cut off on its way to an agent goes on where it was cut: no more than what was under way comes again',
  async (t) => {
    const grid = await startGrid(t, { machines: [{ processors: 1, args: ['--shared', 'none', '--site', 'near'] }] });
    await grid.client.waitMachines(1);
    const wire = new Wire(grid.providers.at(-1)?.agentsAddress ?? '');
    const address = await wire.open();
    t.teardown(() => {
      wire.close();
    });
    await grid.startMachine('far', {
      processors: 1,
      args: ['--provider', address, '--shared', 'none', '--site', 'far'],
    });
    await grid.client.waitMachines(2);
    const folder = temporaryFolder(t);
    const bytes = randomBytes(48 << 20);
    writeFileSync(join(folder, 'in.bin'), bytes);
    // With a cut goes what was sent and not taken: the 1 MiB that a stream may have under way, and the half message
    // before it.
    const [breaks, lossMax] = [3, (1 << 20) + (256 << 10)];
    wire.breakEvery(10 << 20, breaks);
    const before = wire.bytes;
    const jobId = await grid.client.submit(
      [taskGroup('sha256sum in.bin', 1, { inputs: [input('in.bin', 'in.bin')], requirements: 'site == far' })],
      { homeDirectory: folder },
    );
    t.is(
      (await grid.client.waitEnded(jobId)).status,
      JobStatus.FINISHED,
      await grid.client.explain({ $case: 'jobId', value: jobId }),
    );
    const crossed = wire.bytes - before;
    t.log(`${crossed - bytes.length} bytes of ${bytes.length} again after ${breaks} breaks`);
    t.true(
      crossed > bytes.length && crossed < bytes.length + breaks * lossMax,
      `${crossed} bytes crossed of ${bytes.length}`,
    );
    t.is(await metric(grid, 'broker.json', carriedOut), bytes.length, 'from home it came once');
  },
);

/** A job whose one task leaves this many random bytes, and prints their hash. */
async function submitOutput(grid: Grid, folder: string, bytes: number, requirements = ''): Promise<number> {
  const output = { root: Root.PLAYPEN, path: 'out.bin', localPath: 'out.bin', condition: '' };
  return await grid.client.submit(
    [taskGroup(`head -c ${bytes} /dev/urandom > out.bin; sha256sum < out.bin`, 1, { outputs: [output], requirements })],
    { homeDirectory: folder },
  );
}

/** Fails unless a job's output came home whole. */
async function requireOutput(t: ExecutionContext, grid: Grid, folder: string, jobId: number): Promise<void> {
  t.is(
    (await grid.client.waitEnded(jobId)).status,
    JobStatus.FINISHED,
    await grid.client.explain({ $case: 'jobId', value: jobId }),
  );
  const found = createHash('sha256')
    .update(readFileSync(join(folder, 'out.bin')))
    .digest('hex');
  t.is((await grid.client.output(jobId, 0)).split(' ')[0], found);
  const [task] = await grid.client.tasks(jobId);
  t.is(task?.replicas.length, 1, 'it ran once');
}

test.serial('an output that is cut off on its way from an agent goes on from what home has stored', async (t) => {
  const grid = await startGrid(t, { machines: [{ processors: 1, args: ['--shared', 'none', '--site', 'near'] }] });
  const wire = new Wire(grid.providers.at(-1)?.agentsAddress ?? '');
  const address = await wire.open();
  t.teardown(() => {
    wire.close();
  });
  await grid.startMachine('far', { processors: 1, args: ['--provider', address, '--shared', 'none', '--site', 'far'] });
  await grid.client.waitMachines(2);
  const folder = temporaryFolder(t);
  const [size, breaks] = [48 << 20, 3];
  wire.breakEvery(10 << 20, breaks);
  const before = wire.sentBytes;
  const jobId = await submitOutput(grid, folder, size, 'site == far');
  await requireOutput(t, grid, folder, jobId);
  const crossed = wire.sentBytes - before;
  t.log(`${crossed - size} bytes of ${size} again after ${breaks} breaks`);
  t.true(crossed > size && crossed < size + breaks * outputLossMax, `${crossed} bytes crossed of ${size}`);
});

test.serial('an output that is cut off between its provider and home goes on from what home has stored', async (t) => {
  const wires: Wire[] = [];
  const grid = await startGrid(t, {
    machines: [{ processors: 1, args: ['--shared', 'none'] }],
    reach: async (address) => {
      const wire = new Wire(address);
      wires.push(wire);
      return await wire.open();
    },
  });
  const [wire] = wires;
  if (wire === undefined) throw new Error('the broker reaches no provider');
  t.teardown(() => {
    wire.close();
  });
  await grid.client.waitMachines(1);
  const folder = temporaryFolder(t);
  const [size, breaks] = [48 << 20, 3];
  wire.breakEvery(10 << 20, breaks);
  const before = wire.bytes;
  const jobId = await submitOutput(grid, folder, size);
  await requireOutput(t, grid, folder, jobId);
  const crossed = wire.bytes - before;
  t.log(`${crossed - size} bytes of ${size} again after ${breaks} breaks`);
  t.true(crossed > size && crossed < size + breaks * outputLossMax, `${crossed} bytes crossed of ${size}`);
});

test.serial(
  'an input that two agents of one host want crosses their wire once, though they share nothing with their provider',
  async (t) => {
    const grid = await startGrid(t, { machines: [{ processors: 1, args: ['--shared', 'none', '--site', 'near'] }] });
    const wire = new Wire(grid.providers.at(-1)?.agentsAddress ?? '');
    const address = await wire.open();
    t.teardown(() => {
      wire.close();
    });
    const home = temporaryFolder(t);
    for (const name of ['far1', 'far2']) {
      const file = join(home, `invitation-of-${name}`);
      writeFileSync(file, await inviteMachine(grid.home, 'lab', name), { mode: 0o600 });
      await grid.startMachine(name, {
        processors: 1,
        args: ['--provider', address, '--site', 'far', '--invitation', file, '--home', home],
        env: { MUTIRAO_HOME: home },
      });
    }
    await grid.client.waitMachines(3);
    const folder = temporaryFolder(t);
    const bytes = randomBytes(16 << 20);
    writeFileSync(join(folder, 'in.bin'), bytes);
    const before = wire.bytes;
    const jobId = await grid.client.submit(
      [
        taskGroup('sha256sum < in.bin; sleep 1', 2, {
          inputs: [input('in.bin', 'in.bin')],
          requirements: 'site == far',
        }),
      ],
      { homeDirectory: folder },
    );
    t.is(
      (await grid.client.waitEnded(jobId)).status,
      JobStatus.FINISHED,
      await grid.client.explain({ $case: 'jobId', value: jobId }),
    );
    for (const index of [0, 1])
      t.is((await grid.client.output(jobId, index)).split(' ')[0], createHash('sha256').update(bytes).digest('hex'));
    const machines = new Set(
      (await grid.client.tasks(jobId)).flatMap(({ replicas }) => replicas.map(({ machineId }) => machineId)),
    );
    t.is(machines.size, 2);
    const crossed = wire.bytes - before;
    t.log(`${crossed} bytes crossed of ${bytes.length}`);
    t.true(crossed > bytes.length && crossed < bytes.length + (1 << 20), `${crossed} bytes crossed`);
  },
);

/** Ends a job whose command leaves a process that goes on writing to its output of 8 MiB, and returns its one task. */
async function endWithWriter(t: ExecutionContext, grid: Grid, writer: string) {
  const command =
    `head -c ${8 << 20} /dev/zero > out.bin; (for step in $(seq 2000); do ${writer}; touch begun; done) > ` +
    '/dev/null 2>&1 & until [ -e begun ]; do sleep 0.01; done';
  const output = { root: Root.PLAYPEN, path: 'out.bin', localPath: 'out.bin', condition: '' };
  const folder = temporaryFolder(t);
  const jobId = await grid.client.submit([taskGroup(command, 1, { outputs: [output] })], {
    homeDirectory: folder,
    failuresMax: 1,
  });
  const { status } = await grid.client.waitEnded(jobId);
  const [task] = await grid.client.tasks(jobId);
  return { status, task, folder };
}

test.serial(
  'what writes on after its task is ended first, and the output comes home as it was announced',
  async (t) => {
    const grid = await startGrid(t, { machines: [{ processors: 1, args: ['--shared', 'none'] }] });
    await grid.client.waitMachines(1);
    for (const writer of [
      'echo more >> out.bin',
      'head -c 4096 /dev/urandom | dd of=out.bin bs=4096 seek=$((RANDOM % 2000)) conv=notrunc',
    ]) {
      const { status, task, folder } = await endWithWriter(t, grid, writer);
      t.is(status, JobStatus.FINISHED, writer);
      t.deepEqual(
        task?.replicas.map(({ reason }) => reason),
        [''],
        writer,
      );
      const {
        files: [file],
      } = await grid.client.rawOutput(Number(task?.jobId), 0);
      const content = readFileSync(join(folder, 'out.bin'));
      t.true(content.length >= 8 << 20);
      t.is(
        createHash('sha256').update(content).digest('hex'),
        Buffer.from(file?.content?.sha256 ?? []).toString('hex'),
        writer,
      );
    }
  },
);
