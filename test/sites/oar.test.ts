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

test.serial('what OAR refuses is told by its code and in its words, and a refused width is halved', async (t) => {
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

test.serial('how a job ended is told', async (t) => {
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
