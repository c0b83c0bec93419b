// The OAR adapter against a real OAR: what the port promises, and what OAR refuses.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { OarManager, type AllocationOrder, type OarOptions } from '@mutirao/managers';
import { OarServer, resourceManagerCases, temporaryFolder, until } from '@mutirao/testkit';

let server: OarServer;
const user = userInfo().username;

test.before(async () => {
  server = await OarServer.start();
});
test.after.always(async () => {
  await server.stop();
});

function open(t: ExecutionContext, more: Partial<OarOptions> = {}): OarManager {
  const manager = new OarManager({
    user,
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
  test.serial(`${title} (OAR)`, async (t) => {
    const reopen = () => open(t);
    await check(t, { manager: open(t), reopen, userId: user, processors: 8, folder: temporaryFolder(t) });
  });
}

test.serial('what OAR refuses is reported by its code and in its words, and a refused width is halved', async (t) => {
  const manager = open(t);
  await t.throwsAsync(manager.allocate({ ...order, width: 9 }), {
    code: 'MUT_WIDTH_MAX',
    message: /not enough resources/,
  });
  t.is((await manager.limits()).widthMax, 4);
  await t.throwsAsync(open(t, { flags: ['-q', 'nix'] }).allocate(order), {
    code: 'MUT_BAD_REQUEST',
    message: /queue nix does not exist/,
  });
  t.throws(() => open(t, { flags: ['-r', '2030-01-01 00:00:00'] }), { code: 'MUT_BAD_CONFIG' });
});

test.serial('jobs with odd names and properties, and a queue that is closed, spoil no listing', async (t) => {
  const manager = open(t);
  t.teardown(() => server.cancelAll());
  const before = (await manager.queue(9)).requests.length;
  const names = ['a"b', "it's", 'ü é', 'x\ny', '{"a":1}', '$(id)', '%jobid%', 'c\\d', '-n', '\t', '[1,', 'null'];
  const refused: string[] = [];
  for (const name of names)
    await server.command('oarsub', '-n', name, 'sleep 600').then(
      () => undefined,
      () => refused.push(name),
    );
  t.deepEqual(refused, ["it's"], 'OAR itself refuses an apostrophe, which breaks its SQL');
  // Bytes that are not UTF-8, as from a shell in Latin-1, in the name and in the command.
  await server.command('sh', '-c', `oarsub -n "$(printf 'caf\\351')" "sleep 600 # $(printf '\\351')"`);
  await server.command('oarsub', '-p', "network_address = 'nowhere'", 'sleep 600').catch(() => undefined);
  await until(
    async () => (await manager.queue(9)).requests.length >= before + names.length - refused.length + 1,
    'all of them are listed',
    60_000,
  );
  await server.command('oarnotify', '-d', 'default');
  t.teardown(() => server.command('oarnotify', '-e', 'default'));
  const id = await manager.allocate({ ...order, clientRequestId: 'x.q7' });
  t.like(
    (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === id),
    { status: 'queued', clientRequestId: 'x.q7' },
  );
  t.like(await manager.limits(), { processors: 8 });
  await manager.release(id);
});

test.serial('it is reported how a job ended', async (t) => {
  const manager = open(t);
  for (const [key, command, reason] of [
    ['x.q10', '/bin/true', /^COMPLETED$/],
    ['x.q11', '/no/such/program', /^FAILED, exit status 127: .*\/no\/such\/program: not found/],
  ] as const) {
    await manager.allocate({ ...order, command: [command], clientRequestId: key });
    let reported = '';
    await until(
      async () =>
        (reported =
          (await manager.queue(9)).requests.find(
            ({ clientRequestId, status }) => clientRequestId === key && status === 'ended',
          )?.endReason ?? '') !== '',
      `${key} ends`,
      60_000,
    );
    t.regex(reported, reason);
  }
});
