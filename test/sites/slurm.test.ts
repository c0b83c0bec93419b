// The Slurm adapter against a real Slurm: what the port promises, and what Slurm refuses.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { SlurmManager, type AllocationOrder, type SlurmOptions } from '@mutirao/managers';
import { resourceManagerCases, SlurmServer, temporaryFolder, until } from '@mutirao/testkit';

let slurm: SlurmServer;
const user = userInfo().username;

test.before(async () => {
  slurm = await SlurmServer.start({
    settings: [
      'PartitionName=short Nodes=n[1-4] MaxTime=2 MaxNodes=2 State=UP',
      'PartitionName=none Nodes=n[1-4] MaxTime=60 MaxNodes=0 State=UP',
      'PartitionName=closed Nodes=n[1-4] State=DOWN',
    ],
  });
});
test.after.always(async () => {
  await slurm.stop();
});

function open(t: ExecutionContext, more: Partial<SlurmOptions> = {}): SlurmManager {
  const manager = new SlurmManager({
    user,
    partition: '',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    logFolder: join(slurm.folder, 'jobs'),
    deadlineMs: 60_000,
    environment: { ...process.env, ...slurm.environment },
    now: () => Date.now(),
    ...more,
  });
  t.teardown(() => {
    manager.close();
  });
  return manager;
}

const order: AllocationOrder = {
  userId: user,
  width: 1,
  walltime: 60_000,
  command: ['/bin/sleep', '300'],
  environment: {},
  workingDirectory: '',
  clientRequestId: 'x.q1',
};

for (const { title, check } of resourceManagerCases) {
  test.serial(`${title} (Slurm)`, async (t) => {
    const reopen = () => open(t);
    await check(t, { manager: open(t), reopen, userId: user, processors: 32, folder: temporaryFolder(t) });
  });
}

test.serial('the limits are those of the partition that is asked for', async (t) => {
  const nodes = [{ count: 4, processors: 8, memory: 0, gpus: {} }];
  t.deepEqual(await open(t).limits(), {
    nodes,
    processors: 32,
    widthMax: 32,
    requestsMax: 4,
    walltimeMax: 3_600_000,
    walltimeGranularity: 60_000,
  });
  t.deepEqual(await open(t, { partition: 'short' }).limits(), {
    nodes,
    nodesMax: 2,
    processors: 32,
    widthMax: 16,
    requestsMax: 4,
    walltimeMax: 120_000,
    walltimeGranularity: 60_000,
  });
  t.is((await open(t, { partition: 'none' }).limits()).widthMax, 0);
  t.is((await open(t, { walltimeMax: 600_000 }).limits()).walltimeMax, 600_000);
});

test.serial('what Slurm refuses is reported by its code and in its words', async (t) => {
  const refused = async (
    parts: Partial<AllocationOrder>,
    options: Partial<SlurmOptions>,
    code: string,
    message: RegExp,
  ): Promise<void> => {
    await t.throwsAsync(
      open(t, options).allocate({ ...order, ...parts }),
      { code, message },
      `${JSON.stringify(parts)} ${JSON.stringify(options)}`,
    );
  };
  await refused({}, { partition: 'nix' }, 'MUT_BAD_REQUEST', /invalid partition.*nix|nix/);
  await t.throwsAsync(open(t, { partition: 'nix' }).limits(), {
    code: 'MUT_BAD_REQUEST',
    message: /no partition "nix"/,
  });
  await t.throwsAsync(open(t, { partition: 'nix' }).queue(5), {
    code: 'MUT_BAD_REQUEST',
    message: /no partition "nix"/,
  });
  await refused({ walltime: 3_601_000 }, {}, 'MUT_WALLTIME_MAX', /time limit/i);
  await refused({ walltime: 180_000 }, { partition: 'short' }, 'MUT_WALLTIME_MAX', /time limit/i);
  await refused({ width: 33 }, {}, 'MUT_WIDTH_MAX', /processors|available/);
  await refused({ width: 17 }, { partition: 'short' }, 'MUT_WIDTH_MAX', /./);
  await refused({}, { partition: 'none' }, 'MUT_BAD_REQUEST', /partition configuration not available/);
  await refused({}, { flags: ['--no-such-flag'] }, 'MUT_BAD_REQUEST', /no-such-flag/);
  await refused({}, { flags: ['--constraint=teapot'] }, 'MUT_BAD_REQUEST', /feature/i);
  t.deepEqual(await slurm.jobs(), []);
});

test.serial('a job that fails is listed with the words of the node', async (t) => {
  const manager = open(t);
  await manager.allocate({ ...order, command: ['/no/such/program'], clientRequestId: 'x.q2' });
  let reason = '';
  await until(
    async () => {
      reason =
        (await manager.queue(50)).requests.find(
          ({ clientRequestId, status }) => clientRequestId === 'x.q2' && status === 'ended',
        )?.endReason ?? '';
      return reason !== '';
    },
    'the job fails',
    60_000,
  );
  t.regex(reason, /^FAILED, NonZeroExitCode: .*\/no\/such\/program/);
});

test.serial('without its controller everything is out of reach, and goes on when it is back', async (t) => {
  const manager = open(t, { deadlineMs: 3_000 });
  const id = await manager.allocate({ ...order, clientRequestId: 'x.q3' });
  await until(
    async () =>
      (await manager.queue(5)).requests.some(
        ({ managerRequestId, status }) => managerRequestId === id && status === 'running',
      ),
    'it runs',
  );
  await slurm.killController(await slurm.saveState());
  const unreachable = { code: 'MUT_UNREACHABLE' };
  await Promise.all([
    t.throwsAsync(manager.queue(5), unreachable),
    t.throwsAsync(manager.limits(), unreachable),
    t.throwsAsync(manager.release(id), unreachable),
    t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'x.q4' }), unreachable),
  ]);
  await slurm.startController();
  await until(
    async () =>
      (await manager.queue(5).catch(() => undefined))?.requests.some(
        ({ managerRequestId, status }) => managerRequestId === id && status === 'running',
      ) ?? false,
    'it is listed',
  );
  await manager.release(id);
  const other = await manager.allocate({ ...order, clientRequestId: 'x.q4' });
  t.deepEqual(
    (await manager.queue(0)).requests.map(({ clientRequestId }) => clientRequestId),
    ['x.q4'],
  );
  await manager.release(other);
});

test.serial('250 jobs are released in three calls', async (t) => {
  const manager = open(t);
  const ids: string[] = [];
  for (let index = 0; index < 250; index += 1)
    ids.push((await slurm.command('sbatch', '--parsable', '--hold', '--output=/dev/null', '--wrap=true')).trim());
  t.is((await manager.queue(0)).requests.length, 250);
  await Promise.all(ids.map((id) => manager.release(id)));
  t.deepEqual((await manager.queue(0)).requests, []);
});
