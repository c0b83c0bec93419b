// The Grid Engine adapter against a real Grid Engine: what the port promises, and what Grid Engine refuses.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { GridEngineManager, type AllocationOrder, type GridEngineOptions } from '@mutirao/managers';
import { GridEngineServer, resourceManagerCases, temporaryFolder, until } from '@mutirao/testkit';

let server: GridEngineServer;
const user = userInfo().username;

test.before(async () => {
  server = await GridEngineServer.start({
    queues: {
      'short.q': { h_rt: '00:02:00', slots: '4', pe_list: 'onehost four' },
      'closed.q': { user_lists: 'deadlineusers' },
      'off.q': { initial_state: 'disabled' },
      'bare.q': { pe_list: 'NONE' },
    },
    environments: {
      onehost: { allocation_rule: '$pe_slots', slots: '3' },
      four: { allocation_rule: '4', control_slaves: 'TRUE' },
    },
  });
});
test.after.always(async () => {
  await server.stop();
});

function open(t: ExecutionContext, more: Partial<GridEngineOptions> = {}): GridEngineManager {
  const manager = new GridEngineManager({
    user,
    queue: 'main.q',
    parallelEnvironment: '',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    jobFolder: join(server.folder, 'jobs'),
    deadlineMs: 60_000,
    environment: { ...process.env, ...server.environment },
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
  test.serial(`${title} (Grid Engine)`, async (t) => {
    const reopen = () => open(t);
    await check(t, { manager: open(t), reopen, userId: user, processors: 8, folder: temporaryFolder(t) });
  });
}

test.serial('the limits are those of the queue and the parallel environment that are asked for', async (t) => {
  const limits = { requestsMax: 4, walltimeGranularity: 1000 };
  t.deepEqual(await open(t).limits(), { ...limits, processors: 8, widthMax: 8, walltimeMax: 3_600_000 });
  t.deepEqual(await open(t, { walltimeMax: 600_000, widthMax: 5 }).limits(), {
    ...limits,
    processors: 8,
    widthMax: 5,
    walltimeMax: 600_000,
  });
  t.deepEqual(
    await open(t, { queue: 'short.q' }).limits(),
    { ...limits, processors: 4, widthMax: 4, widthGranularity: 4, walltimeMax: 120_000 },
    'one that spans hosts is preferred',
  );
  t.deepEqual(await open(t, { queue: 'short.q', parallelEnvironment: 'onehost' }).limits(), {
    ...limits,
    processors: 4,
    widthMax: 3,
    walltimeMax: 120_000,
  });
  t.deepEqual(await open(t, { queue: 'bare.q' }).limits(), {
    ...limits,
    processors: 8,
    widthMax: 1,
    walltimeMax: 3_600_000,
  });
  t.like(await open(t, { queue: 'closed.q' }).limits(), { processors: 0, widthMax: 0 });
  const off = open(t, { queue: 'off.q' });
  t.like(await off.limits(), { processors: 8, widthMax: 8 }, 'it may be enabled again');
  t.is((await off.queue(0)).processorsFree, 0);
  t.is((await open(t).queue(0)).processorsFree, 8);
  t.like(await open(t, { queue: '', parallelEnvironment: 'four' }).limits(), { processors: 4, walltimeMax: 120_000 });
});

test.serial('what Grid Engine refuses is reported by its code and in its words', async (t) => {
  const refused = async (
    parts: Partial<AllocationOrder>,
    options: Partial<GridEngineOptions>,
    code: string,
    message: RegExp,
  ): Promise<void> => {
    const manager = open(t, options);
    await manager.limits().catch(() => undefined);
    await t.throwsAsync(
      manager.allocate({ ...order, ...parts }),
      { code, message },
      `${JSON.stringify(parts)} ${JSON.stringify(options)}`,
    );
  };
  await refused(
    {},
    { queue: 'nix.q' },
    'MUT_BAD_REQUEST',
    /no queue "nix.q": No cluster queue or queue instance matches/,
  );
  await t.throwsAsync(open(t, { queue: 'nix.q' }).queue(5), { code: 'MUT_BAD_REQUEST', message: /"nix.q"/ });
  await refused({}, { parallelEnvironment: 'nix' }, 'MUT_BAD_REQUEST', /nix is not a parallel environment/);
  await refused(
    {},
    { parallelEnvironment: 'four' },
    'MUT_BAD_REQUEST',
    /no queue "main.q" has the parallel environment "four"/,
  );
  await refused({ walltime: 3_601_000 }, {}, 'MUT_WALLTIME_MAX', /no suitable queues/);
  await refused({ width: 9 }, {}, 'MUT_WIDTH_MAX', /no suitable queues/);
  await refused({ width: 3 }, { queue: 'short.q' }, 'MUT_WIDTH_MAX', /no suitable queues/);
  await refused({}, { flags: ['-P', 'nix'] }, 'MUT_BAD_REQUEST', /project "nix" does not exist/);
  await refused({}, { flags: ['-l', 'arch=teapot'] }, 'MUT_BAD_REQUEST', /no suitable queues/);
  const narrower = open(t);
  await t.throwsAsync(narrower.allocate({ ...order, width: 9 }), { code: 'MUT_WIDTH_MAX' });
  t.true(narrower.hasNewLimits);
  t.is((await narrower.limits()).widthMax, 4, 'half of what was refused');
  await server.configure('-Mconf', { ...(await server.settings('-sconf')), max_u_jobs: '1' });
  t.teardown(async () => {
    await server.configure('-Mconf', { ...(await server.settings('-sconf')), max_u_jobs: '0' });
  });
  const only = await open(t).allocate({ ...order, clientRequestId: 'x.q5' });
  await refused({ clientRequestId: 'x.q6' }, {}, 'MUT_REQUESTS_MAX', /only 1 jobs are allowed per user/);
  await open(t).release(only);
  await server.cancelAll();
});

test.serial('a queue that takes no jobs now has them wait, and none is refused for good', async (t) => {
  const manager = open(t);
  const off = open(t, { queue: 'off.q' });
  t.teardown(() => server.cancelAll());
  const find = async (of: GridEngineManager, id: string) =>
    (await of.queue(0)).requests.find(({ managerRequestId }) => managerRequestId === id);
  const initially = await off.allocate({ ...order, clientRequestId: 'x.q40' });
  t.like(await find(off, initially), { status: 'queued' });
  await off.release(initially);
  for (const [close, reopen] of [
    ['-d', '-e'],
    ['-sq', '-usq'],
  ] as const) {
    await server.command('qmod', close, 'main.q');
    const id = await manager.allocate({ ...order, width: 3, clientRequestId: `x.q41${close}` });
    t.like(await find(manager, id), { status: 'queued' });
    t.like(await manager.limits(), { processors: 8, widthMax: 8 });
    await server.command('qmod', reopen, 'main.q');
    await until(async () => (await find(manager, id))?.status === 'running', `it runs after qmod ${reopen}`);
    await manager.release(id);
  }
});

/** The end of a request, once it is listed. */
async function findEnd(
  manager: GridEngineManager,
  key: string,
): Promise<{ readonly endReason: string; readonly startsAt: number }> {
  let found: { readonly endReason: string; readonly startsAt: number } | undefined;
  await until(
    async () => {
      found = (await manager.queue(50)).requests.find(
        ({ clientRequestId, status }) => clientRequestId === key && status === 'ended',
      );
      return found !== undefined;
    },
    `${key} ends`,
    60_000,
  );
  return found ?? { endReason: '', startsAt: 0 };
}

test.serial(
  "it is reported how a job ended: by itself, by failing, at its walltime, or by somebody's hand",
  async (t) => {
    const manager = open(t);
    const ending = async (key: string, command: readonly string[], walltime = 60_000): Promise<string> => {
      await manager.allocate({ ...order, command, walltime, clientRequestId: key });
      return (await findEnd(manager, key)).endReason;
    };
    t.is(await ending('x.q10', ['/bin/true']), 'COMPLETED');
    t.regex(await ending('x.q11', ['/no/such/program']), /^FAILED, exit status 127: .*\/no\/such\/program: not found/);
    t.is(await ending('x.q12', ['/bin/sleep', '300'], 3_000), 'MUT_WALLTIME_ENDED');
    await manager.allocate({ ...order, clientRequestId: 'x.q13' });
    await until(async () => (await manager.queue(0)).requests.some(({ status }) => status === 'running'), 'it runs');
    await server.cancelAll();
    t.is((await findEnd(manager, 'x.q13')).endReason, 'KILLED');
    const again = open(t);
    t.regex((await findEnd(again, 'x.q11')).endReason, /^FAILED, exit status 127/, 'another provider reads it too');
  },
);

test.serial('a folder whose name means something to qsub is a folder as any other', async (t) => {
  for (const [index, name] of ['a b', 'c$HOME', 'e:f', 'g,h', "i'j"].entries()) {
    const manager = open(t, { jobFolder: join(temporaryFolder(t), name) });
    const key = `x.q3${index}`;
    await manager.allocate({ ...order, command: ['/bin/sh', '-c', 'echo a word; exit 3'], clientRequestId: key });
    t.is((await findEnd(manager, key)).endReason, 'FAILED, exit status 3: a word', name);
  }
});

test.serial("a job that no node can start is ended with the node's words, and taken out", async (t) => {
  const manager = open(t, { flags: ['-clear'] });
  await manager.allocate({ ...order, workingDirectory: '/no/such/folder', clientRequestId: 'x.q20' });
  t.regex((await findEnd(manager, 'x.q20')).endReason, /^FAILED, it cannot start: .*can't chdir to \/no\/such\/folder/);
  await until(async () => (await server.jobs()).length === 0, 'it is taken out');
});

test.serial(
  'jobs of others wait in the same queue, without their names, and what they wait for is listed',
  async (t) => {
    const manager = open(t);
    const whole = await server.submit(
      'sleep 300',
      '-q',
      'main.q',
      '-pe',
      'mutirao',
      '8',
      '-l',
      'h_rt=0:5:0',
      '-N',
      'mine',
    );
    await until(async () => (await manager.queue(0)).processorsFree === 0, 'it runs');
    const held = await server.submit('sleep 1', '-q', 'main.q', '-h');
    const array = await server.submit('sleep 1', '-q', 'main.q', '-t', '3-7:2');
    await server.submit('sleep 300', '-q', 'bare.q');
    const { requests } = await manager.queue(0);
    t.deepEqual(
      requests.map(({ managerRequestId, status, width, walltime, isHeldBack, clientRequestId }) => [
        managerRequestId,
        status,
        width,
        walltime < 400_000 ? walltime : 'none',
        isHeldBack ?? false,
        clientRequestId,
      ]),
      [
        [whole, 'running', 8, 300_000, false, ''],
        [held, 'queued', 1, 'none', true, ''],
        ...[3, 5, 7].map((task) => [`${array.split('.')[0]}.${task}`, 'queued', 1, 'none', false, '']),
      ],
    );
    await server.cancelAll();
  },
);

test.serial('without its master everything is out of reach, and goes on when it is back', async (t) => {
  const manager = open(t, { deadlineMs: 20_000 });
  const id = await manager.allocate({ ...order, clientRequestId: 'x.q30' });
  const isRunning = async (): Promise<boolean> =>
    (await manager.queue(5).catch(() => undefined))?.requests.some(
      ({ managerRequestId, status }) => managerRequestId === id && status === 'running',
    ) ?? false;
  await until(isRunning, 'it runs');
  await server.killMaster();
  const unreachable = { code: 'MUT_UNREACHABLE' };
  await t.throwsAsync(manager.queue(5), unreachable);
  await t.throwsAsync(manager.limits(), unreachable);
  await t.throwsAsync(manager.release(id), unreachable);
  await t.throwsAsync(manager.allocate({ ...order, clientRequestId: 'x.q31' }), unreachable);
  await server.startMaster();
  await until(isRunning, 'it is listed');
  const other = await manager.allocate({ ...order, clientRequestId: 'x.q31' });
  t.deepEqual(
    (await manager.queue(0)).requests.map(({ clientRequestId }) => clientRequestId),
    ['x.q30', 'x.q31'],
  );
  await manager.release(other);
  await manager.release(id);
  await until(async () => (await server.jobs()).length === 0, 'both end', 60_000);
});
