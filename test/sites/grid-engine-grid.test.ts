// A broker and a provider over a real Grid Engine, as root and as an ordinary account.
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Grid, GridEngineServer, taskGroup, until } from '@mutirao/testkit';
import { folderForAll, nobody, programsForAll } from '@mutirao/testkit/world';

const programs = folderForAll();
let server: GridEngineServer;

test.before(async () => {
  server = await GridEngineServer.start({ queues: { 'one.q': { h_rt: '00:05:00', slots: '4' } } });
});
test.after.always(async () => {
  await server.stop();
  rmSync(programs, { recursive: true, force: true });
});

async function start(t: ExecutionContext, args: readonly string[], asNobody = false): Promise<Grid> {
  const options = [
    '--manager',
    'grid-engine',
    '--grid-engine-queue',
    'one.q',
    '--queue-interval',
    '500ms',
    '--idle-release',
    '500ms',
    ...args,
  ];
  const account = asNobody ? { account: { ...nobody, ...programsForAll(programs) } } : {};
  const grid = await Grid.start({
    resources: [{ id: 'site', args: options }],
    env: { ...server.environment, ...(asNobody ? { HOME: '/nonexistent' } : {}) },
    ...account,
  });
  t.teardown(async () => {
    await grid.providers[0]?.kill();
    await server.cancelAll();
    await grid.stop();
  });
  return grid;
}

for (const account of ['root', 'an ordinary account']) {
  test.serial(
    `a bag runs on the nodes as ${account}, sees none of the job's variables but its number, and the slots are given back`,
    async (t) => {
      const { client } = await start(t, [], account !== 'root');
      const jobId = await client.submit([
        taskGroup(
          'echo $TASK of ${manager_job:-none} in "${JOB_ID-}${PE_HOSTFILE-}${SGE_TASK_ID-}${NSLOTS-}" on $PROC',
          40,
        ),
      ]);
      const job = await client.waitEnded(jobId);
      t.is(job.finishedCount, 40, await client.explain({ $case: 'jobId', value: jobId }));
      t.regex(await client.output(jobId, 7), /^7 of \d+ in {2}on site\/q\d+\.\d+\n$/);
      await until(async () => (await server.jobs()).length === 0, 'allocations are given back');
    },
  );
}

test.serial('a job that somebody else deletes is asked for again, and its tasks run elsewhere', async (t) => {
  const { client } = await start(t, ['--requests-max', '1']);
  const jobId = await client.submit([taskGroup('sleep 1', 24)]);
  await until(async () => (await client.job(jobId)).finishedCount >= 3, 'the bag is under way');
  await server.cancelAll();
  const job = await client.waitEnded(jobId);
  t.is(job.finishedCount, 24);
  t.regex(
    await client.explain({ $case: 'request', value: 'site/q1' }),
    /resource manager ended the request|vanished|lost/i,
  );
});

test.serial("an agent that cannot run on the nodes is reported in the node's own words", async (t) => {
  const broken = join(server.folder, 'agent');
  writeFileSync(broken, '#!/bin/sh\necho "agent: /lib64/libc.so.6: version GLIBC_2.34 not found" >&2\nexit 1\n');
  chmodSync(broken, 0o755);
  const { client } = await start(t, [
    '--requests-max',
    '1',
    '--agent-command',
    JSON.stringify([broken]),
    '--refusal-pause',
    '100ms',
    '--refusals-max',
    '3',
  ]);
  await client.submit([taskGroup('true', 8)]);
  let last = '';
  await until(
    async () => {
      last = await client.explain({ $case: 'request', value: 'site/q1' }).catch(String);
      return /FAILED, exit status 1: .*GLIBC_2.34 not found/.test(last);
    },
    'the error of the node is reported',
    60_000,
  ).catch((error: unknown) => {
    throw new Error(last, { cause: error });
  });
  t.pass();
});
