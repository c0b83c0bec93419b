// Settings that sites of Slurm have: hidden, exclusive and powered-down partitions, flags and variables of the user's,
// her other jobs, and MPI in tasks.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SlurmManager, type SlurmOptions } from '@mutirao/managers';
import { SlurmGrid, SlurmServer, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

let slurm: SlurmServer;
const user = userInfo().username;

test.before(async () => {
  slurm = await SlurmServer.start({
    nodes: 2,
    settings: [
      'PartitionName=hidden Nodes=n[1-2] MaxTime=10 Hidden=YES State=UP',
      'PartitionName=whole Nodes=n[1-2] MaxTime=10 OverSubscribe=EXCLUSIVE State=UP',
      'PartitionName=short Nodes=n1 MaxTime=2 State=UP',
      'SuspendProgram=/bin/true',
      'ResumeProgram=/bin/true',
      'SuspendTime=600',
      'NodeName=c[1-3] CPUs=8 State=CLOUD',
      'PartitionName=cloud Nodes=c[1-3] MaxTime=10 State=UP',
    ],
  });
});
test.after.always(async () => {
  await slurm.stop();
});
test.afterEach.always(async () => {
  await slurm.cancelAll();
});

function open(t: ExecutionContext, more: Partial<SlurmOptions> = {}): SlurmManager {
  const { environment, ...others } = more;
  const manager = new SlurmManager({
    user,
    partition: '',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    logFolder: join(slurm.folder, 'jobs'),
    deadlineMs: 60_000,
    now: () => Date.now(),
    ...others,
    environment: { ...process.env, ...slurm.environment, ...environment },
  });
  t.teardown(() => {
    manager.close();
  });
  return manager;
}

async function start(t: ExecutionContext, ...args: readonly string[]): Promise<SlurmGrid> {
  const site = await SlurmGrid.start(slurm, ...args);
  t.teardown(() => site.stop());
  return site;
}

async function runBag(site: SlurmGrid, command: string, count: number): Promise<number> {
  const { client } = site.grid;
  const jobId = await client.submit([taskGroup(command, count)]);
  const job = await client.waitEnded(jobId);
  if (job.finishedCount !== count) throw new Error(await client.explain({ $case: 'jobId', value: jobId }));
  return jobId;
}

test.serial('a hidden partition is used as any other, and the queue of it is seen', async (t) => {
  const site = await start(t, '--slurm-partition', 'hidden');
  await runBag(site, 'true', 8);
  const manager = open(t, { partition: 'hidden' });
  t.like(await manager.limits(), { processors: 16, widthMax: 16, walltimeMax: 600_000 });
  const other = (
    await slurm.command(
      'sbatch',
      '--parsable',
      '--partition=hidden',
      '--ntasks=16',
      '--time=5',
      '--output=/dev/null',
      '--wrap=srun sleep 600',
    )
  ).trim();
  await until(
    async () =>
      (await manager.queue(0)).requests.some(
        ({ managerRequestId, status }) => managerRequestId === other && status === 'running',
      ),
    'the job of somebody else is seen',
  );
});

test.serial('where jobs hold whole nodes all of their processors are asked for, and used', async (t) => {
  const site = await start(t, '--slurm-partition', 'whole', '--requests-max', '1');
  const { client } = site.grid;
  const jobId = await client.submit([taskGroup('sleep 3', 3)]);
  await until(async () => (await slurm.jobs('RUNNING')).length === 1, 'it runs');
  const [job = ''] = await slurm.jobs();
  t.is((await slurm.command('squeue', '--noheader', '--format=%C', `--jobs=${job}`)).trim(), '8');
  await client.waitEnded(jobId);
  await site.untilExplained('q1', /Widened from 3 to 8 processors: the resource allocates whole nodes/);
  const row = (await client.ledger()).find(({ requestId }) => requestId === 'q1');
  t.true((row?.requestedProcessorMs ?? 0) >= 8 * 60_000, JSON.stringify(row));
});

test.serial('nodes of a cloud that are powered down are asked for', async (t) => {
  const manager = open(t, { partition: 'cloud' });
  t.like(await manager.limits(), { processors: 24, widthMax: 24 });
});

test.serial("a partition of the user's flags or variables is the one that everything is read of", async (t) => {
  for (const more of [
    { flags: ['-p', 'short'] },
    { environment: { SBATCH_PARTITION: 'short', SBATCH_TIMELIMIT: '1', SBATCH_ARRAY_INX: '1-3' } },
  ]) {
    const manager = open(t, more);
    t.like(await manager.limits(), { processors: 8, walltimeMax: 120_000 });
    const id = await manager.allocate({
      userId: user,
      width: 2,
      walltime: 120_000,
      command: ['/bin/sleep', '300'],
      environment: {},
      workingDirectory: '',
      clientRequestId: 'x.q1',
    });
    t.is((await slurm.command('squeue', '--noheader', '--format=%P %l %i', `--jobs=${id}`)).trim(), `short 2:00 ${id}`);
    await slurm.cancelAll();
  }
});

test.serial("the user's own jobs in other partitions are not part of the queue", async (t) => {
  const elsewhere = (
    await slurm.command(
      'sbatch',
      '--parsable',
      '--partition=short',
      '--ntasks=1',
      '--time=1',
      '--output=/dev/null',
      '--wrap=sleep 600',
    )
  ).trim();
  const here = (
    await slurm.command('sbatch', '--parsable', '--ntasks=1', '--time=5', '--output=/dev/null', '--wrap=sleep 600')
  ).trim();
  const { requests } = await open(t).queue(5);
  const ids = requests.map(({ managerRequestId }) => managerRequestId);
  t.true(ids.includes(here));
  t.false(ids.includes(elsewhere));
});

test.serial("jobs of the user's with odd names, and one that could never be placed, spoil no listing", async (t) => {
  const names = ['a|b', 'x\n12|root|1', '-n', 'ü%j', '<job>7'];
  for (const name of names)
    await slurm.command('sbatch', '--output=/dev/null', '--time=5', `--job-name=${name}`, '--wrap=sleep 600');
  // Slurm 22.05 takes it, and lists it as failed, with no processors; later ones refuse it.
  await slurm.command('sbatch', '--output=/dev/null', '--time=5', '-N0', '--wrap=true').catch(() => undefined);
  const { requests } = await open(t).queue(5);
  for (const name of names)
    t.true(
      requests.some(({ clientRequestId }) => clientRequestId === name),
      name,
    );
});

test.serial('a partition that takes no jobs now, and nodes in maintenance, are waited for', async (t) => {
  const order = (key: string) =>
    ({
      userId: user,
      width: 2,
      walltime: 60_000,
      command: ['/bin/sleep', '300'],
      environment: {},
      workingDirectory: '',
      clientRequestId: key,
    }) as const;
  const manager = open(t, { partition: 'short' });
  t.teardown(() => slurm.command('scontrol', 'update', 'PartitionName=short', 'State=UP'));
  for (const [index, state] of ['DRAIN', 'INACTIVE'].entries()) {
    await slurm.command('scontrol', 'update', 'PartitionName=short', `State=${state}`);
    t.is((await manager.limits()).processors, 8);
    await t.throwsAsync(manager.allocate(order(`x.q3${index}`)), {
      code: 'MUT_QUEUE_CLOSED',
      message: /partition not available/,
    });
  }
  await slurm.command('scontrol', 'update', 'PartitionName=short', 'State=DOWN');
  const waiting = await manager.allocate(order('x.q33'));
  const find = async (id: string) =>
    (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === id);
  t.like(await find(waiting), { status: 'queued' });
  await slurm.command('scontrol', 'update', 'PartitionName=short', 'State=UP');
  await until(async () => (await find(waiting))?.status === 'running', 'it runs when the partition is up again');
  await slurm.cancelAll();
  // A maintenance window over all nodes: a job that does not end before it waits, and is not hopeless.
  const window = ['reservation', 'Reservation=repair', 'StartTime=now', 'Duration=10', 'Users=root', 'Nodes=ALL'];
  await slurm.command('scontrol', 'create', ...window, 'Flags=MAINT,IGNORE_JOBS');
  t.teardown(() => slurm.command('scontrol', 'delete', 'Reservation=repair').catch(() => undefined));
  const later = await manager.allocate(order('x.q34'));
  await until(async () => (await find(later)) !== undefined, 'it is listed');
  await until(
    async () =>
      /ReqNodeNotAvail|Reserved/i.test(await slurm.command('squeue', '--noheader', '--format=%r', `--jobs=${later}`)),
    'it waits for the end of the window',
  );
  t.like(await find(later), { status: 'queued', isHeldBack: true });
  t.is((await manager.limits()).processors, 8);
  await slurm.command('scontrol', 'delete', 'Reservation=repair');
  await until(async () => (await find(later))?.status === 'running', 'it runs when the window is over');
});

test.serial('a folder whose name means something to sbatch is a folder as any other', async (t) => {
  for (const [index, name] of ['100%u a', 'b%%c', 'd\\e', 'f%j\\g', "h'i,j:k"].entries()) {
    const logFolder = join(temporaryFolder(t), name);
    const manager = open(t, { logFolder });
    const id = await manager.allocate({
      userId: user,
      width: 1,
      walltime: 60_000,
      command: ['/bin/sh', '-c', 'echo a word; exit 3'],
      environment: {},
      workingDirectory: '',
      clientRequestId: `x.q2${index}`,
    });
    const findEnd = async (): Promise<string> =>
      (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === id)?.endReason ?? '';
    await until(async () => (await findEnd()) !== '', 'it ends');
    // What srun says of it may come before or behind.
    t.regex(await findEnd(), /^FAILED, NonZeroExitCode: (?:srun: error: [^;]+; )*a word/, name);
  }
});

test.serial('whole nodes are known by the environment of the user, too', async (t) => {
  const manager = open(t, { environment: { SBATCH_EXCLUSIVE: '' } });
  t.is((await manager.limits()).widthGranularity, 8);
  const id = await manager.allocate({
    userId: user,
    width: 2,
    walltime: 120_000,
    command: ['/bin/sleep', '300'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'x.q7',
  });
  await until(async () => (await slurm.jobs('RUNNING')).includes(id), 'it runs');
  t.is((await slurm.command('squeue', '--noheader', '--format=%C', `--jobs=${id}`)).trim(), '8');
});

test.serial("the job has the user's flags, in place of the provider's", async (t) => {
  const site = await SlurmGrid.start(slurm, '--', '--comment=for the thesis', '--export=NONE');
  t.teardown(() => site.stop());
  const jobId = await site.grid.client.submit([taskGroup('squeue --noheader --format=%k --jobs=$manager_job', 1)]);
  t.is(
    (await site.grid.client.waitEnded(jobId)).finishedCount,
    1,
    await site.grid.client.explain({ $case: 'jobId', value: jobId }),
  );
  t.is(await site.grid.client.output(jobId, 0), 'for the thesis\n');
});

test.serial(
  "a program with MPI runs in a task by itself and by mpirun, and the manager's job is known by its number alone",
  async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(
      join(folder, 'ring.c'),
      '#include <mpi.h>\n#include <stdio.h>\nint main(int c, char **v) { int r, n; MPI_Init(&c, &v); ' +
        'MPI_Comm_rank(MPI_COMM_WORLD, &r); MPI_Comm_size(MPI_COMM_WORLD, &n); printf("%d of %d\\n", r, n); ' +
        'MPI_Finalize(); return 0; }\n',
    );
    execFileSync('mpicc', ['-o', join(folder, 'ring'), join(folder, 'ring.c')]);
    const site = await start(t, '--requests-max', '1');
    const mpirun = 'OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 2';
    const { client } = site.grid;
    const jobId = await runBag(
      site,
      `${join(folder, 'ring')} && ${mpirun} ${join(folder, 'ring')} | sort && env | grep -c ^SLURM_JOB_ID; echo ` +
        '$manager_job',
      2,
    );
    for (const task of [0, 1]) t.regex(await client.output(jobId, task), /^0 of 1\n0 of 2\n1 of 2\n0\n\d+\n$/);
  },
);
