// Managers by command templates: what the port promises, with the example of a batch system that needs nothing else.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { CommandsManager, readManagerFile } from '@mutirao/managers';
import { Grid, resourceManagerCases, taskGroup, temporaryFolder, until } from '@mutirao/testkit';

const examples = fileURLToPath(new URL('../../examples/managers/', import.meta.url));

/** The environment of a spool that is empty. */
function spoolIn(folder: string): Record<string, string> {
  return { SPOOL: join(folder, 'spool'), PATH: `${examples}:/usr/bin:/bin` };
}

function open(t: ExecutionContext, folder: string, environment = spoolIn(folder)): CommandsManager {
  const manager = new CommandsManager({
    templates: readManagerFile(join(examples, 'spool.json')),
    user: 'ana',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    jobFolder: join(folder, 'jobs'),
    deadlineMs: 60_000,
    environment,
    now: () => Date.now(),
  });
  t.teardown(() => {
    manager.close();
  });
  return manager;
}

for (const { title, check } of resourceManagerCases) {
  test.serial(`${title} (command templates)`, async (t) => {
    const folder = temporaryFolder(t);
    const manager = open(t, folder);
    t.teardown(async () => {
      for (const { managerRequestId } of (await manager.queue(0)).requests) await manager.release(managerRequestId);
    });
    const reopen = () => open(t, folder);
    await check(t, { manager, reopen, userId: 'ana', processors: 4, folder: temporaryFolder(t) });
  });
}

test.serial("what the manager refuses is reported by the templates' code and in its own words", async (t) => {
  const manager = open(t, temporaryFolder(t));
  const order = {
    userId: 'ana',
    width: 1,
    walltime: 60_000,
    command: ['true'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'k.q1',
  };
  await t.throwsAsync(manager.allocate({ ...order, width: 5 }), {
    code: 'MUT_WIDTH_MAX',
    message: 'spool: spool: width is 5; expected at most 4',
  });
  await t.throwsAsync(manager.allocate({ ...order, walltime: 90_000_000, clientRequestId: 'k.q2' }), {
    code: 'MUT_WALLTIME_MAX',
    message: /time is 90000 s; expected at most 86400/,
  });
  t.deepEqual((await manager.queue(5)).requests, []);
});

test.serial('the end of an allocation that is just being written does not count as garbage', async (t) => {
  const folder = temporaryFolder(t);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'date'), '#!/bin/sh\nsleep 0.2\nexec /bin/date "$@"\n', { mode: 0o755 });
  const environment = spoolIn(folder);
  const manager = open(t, folder, { ...environment, PATH: `${bin}:${environment['PATH']}` });
  await manager.allocate({
    userId: 'ana',
    width: 1,
    walltime: 60_000,
    command: ['true'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'k.q1',
  });
  await until(async () => (await manager.queue(0)).requests.length === 0, 'it has ended');
  t.pass();
});

test.serial('a bag runs over a batch system that is known by templates alone', async (t) => {
  const folder = temporaryFolder(t);
  const args = [
    '--manager',
    'commands',
    '--manager-file',
    join(examples, 'spool.json'),
    '--queue-interval',
    '500ms',
    '--idle-release',
    '300ms',
    '--requests-max',
    '2',
    '--walltime-max',
    '20s',
  ];
  const grid = await Grid.start({ resources: [{ id: 'site', args }], env: spoolIn(folder) });
  t.teardown(() => grid.stop());
  const jobId = await grid.client.submit([taskGroup('echo $TASK; sleep 0.1', 30)]);
  const job = await grid.client.waitEnded(jobId);
  t.is(job.finishedCount, 30, await grid.client.explain({ $case: 'jobId', value: jobId }));
  t.is(await grid.client.output(jobId, 7), '7\n');
  const manager = open(t, folder);
  await until(async () => (await manager.queue(0)).requests.length === 0, 'allocations are given back');
});
