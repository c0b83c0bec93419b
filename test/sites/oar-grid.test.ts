// A broker and a provider over a real OAR of two hosts, as root and as an ordinary account.
import { rmSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { Grid, OarServer, taskGroup, until } from '@mutirao/testkit';
import { folderForAll, nobody, programsForAll } from '@mutirao/testkit/world';

const programs = folderForAll();
let server: OarServer;
const minute = 60_000;

test.before(async () => {
  server = await OarServer.start({ nodes: 2, account: nobody });
});
test.after.always(async () => {
  await server.stop();
  rmSync(programs, { recursive: true, force: true });
});

async function start(t: ExecutionContext, args: readonly string[], isRoot = false): Promise<Grid> {
  // Jobs of OAR begin and end when its scheduler comes by, and agents start slowly on a busy host.
  t.timeout(12 * minute);
  const options = ['--manager', 'oar', '--queue-interval', '1s', '--idle-release', '1s', ...args];
  const account = isRoot ? {} : { account: { ...nobody, ...programsForAll(programs) } };
  const grid = await Grid.start({
    resources: [{ id: 'site', args: options }],
    env: { ...server.environment, ...(isRoot ? {} : { HOME: '/nonexistent' }) },
    ...account,
  });
  t.teardown(async () => {
    await grid.providers[0]?.kill();
    await server.cancelAll();
    await grid.stop();
  });
  return grid;
}

const untilGivenBack = async (): Promise<void> =>
  until(async () => (await server.jobs()).length === 0, 'allocations are given back', 4 * minute);

for (const account of ['root', 'an ordinary account']) {
  test.serial(
    `a bag runs on both hosts as ${account}, sees none of the job's variables but its number, and they are given back`,
    async (t) => {
      const { client } = await start(t, ['--requests-max', '1'], account === 'root');
      const jobId = await client.submit([
        taskGroup(
          'echo "$TASK of ${manager_job:-none} in ${OAR_JOB_ID-}${OAR_NODEFILE-}${OAR_CPUSET-} on $PROC at $HERE as ' +
            '$(id -un)"; sleep 1',
          24,
        ),
      ]);
      const job = await client.waitEnded(jobId, 8 * minute);
      t.is(job.finishedCount, 24, await client.explain({ $case: 'jobId', value: jobId }));
      const outputs = await Promise.all(Array.from({ length: 24 }, (_, index) => client.output(jobId, index)));
      t.regex(outputs[7] ?? '', /^7 of \d+ in {2}on site\/q\d+\.\d+ at \S+ as (?:root|nobody)\n$/);
      t.deepEqual(
        [...new Set(outputs.map((text) => /at (\S*) as (\w+)/.exec(text)?.slice(1).join(' ')))].sort(),
        ['127.0.0.1', '127.0.0.2'].map((host) => `${host} ${account === 'root' ? 'root' : 'nobody'}`),
      );
      await untilGivenBack();
    },
  );
}

test.serial('a bag that is cancelled ends on both hosts, and what runs for it is given back', async (t) => {
  const { client } = await start(t, []);
  const jobId = await client.submit([taskGroup('sleep 600', 16)]);
  await until(async () => (await client.job(jobId)).runningCount >= 8, 'the bag is under way', 6 * minute);
  await client.cancel(jobId);
  const job = await client.waitEnded(jobId, 4 * minute);
  t.is(job.finishedCount, 0);
  await untilGivenBack();
});
