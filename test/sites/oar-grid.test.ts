// A broker and a provider over a real OAR of two hosts, as root and as an ordinary account.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { ReservationServiceClient, Timing } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { runCommand } from '@mutirao/runtime/processes';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { Grid, OarServer, Program, taskGroup, temporaryFolder, until } from '@mutirao/testkit';
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

/** A reservation manager, a provider that has OAR enforce its reservations, and a broker. */
async function startReserving(t: ExecutionContext, home: string): Promise<ReservationServiceClient> {
  const startProgram = async (name: 'reservations' | 'provider' | 'broker', ...args: string[]): Promise<string> => {
    const program = new Program(name, ['--home', home, ...args], { ...server.environment, MUTIRAO_HOME: home });
    t.teardown(() => program.kill());
    await program.start();
    return program.address;
  };
  t.teardown(() => server.cancelAll());
  const manager = await startProgram('reservations');
  const options = ['--manager', 'oar', '--queue-interval', '1s', '--reservations', manager];
  const provider = await startProgram('provider', '--id', 'site', ...options);
  await startProgram('broker', '--provider', `site=${provider}`);
  const client = dial(ReservationServiceClient, manager, { token: readToken(tokenPath(home)) });
  t.teardown(() => {
    client.close();
  });
  return client;
}

const commandLine = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

test.serial('a bag inside a reservation runs in that of OAR, from its start on', async (t) => {
  t.timeout(12 * minute);
  const home = temporaryFolder(t);
  const limits = { deadlineMs: minute };
  const client = await startReserving(t, home);
  const mutirao = async (...args: readonly string[]): Promise<string> => {
    const env = { ...process.env, MUTIRAO_HOME: home };
    const { status, stdout, stderr } = await runCommand({
      command: process.execPath,
      args: [commandLine, ...args],
      env,
      deadlineMs: 8 * minute,
      outputBytesMax: 1 << 20,
    });
    t.is(status, 0, stderr.toString());
    return stdout.toString().trim();
  };
  await until(
    async () =>
      (await callUnary(client, 'listResources', {}, limits)).resources.some(
        ({ resourceId, total }) => resourceId === 'site' && total === 8,
      ),
    'the resource is known',
  );
  const spec = {
    resourceId: 'site',
    amount: { $case: 'quantity', value: '3' } as const,
    durationMs: 20 * minute,
    earliestStartUnixMs: Date.now() + 20_000,
    latestEndUnixMs: undefined,
    timing: Timing.ADVANCE,
  };
  const request = { spec, clientRequestId: 'bag', holdMs: 0, dryRun: false };
  const { outcome } = await callUnary(client, 'requestReservation', request, limits);
  if (outcome?.$case !== 'reservation') throw new Error(JSON.stringify(outcome));
  const { reservationId, startUnixMs } = outcome.value;
  const inside = ['--reservation', String(reservationId), '--array', '1-6'];
  const job = await mutirao('job', 'submit', '--quiet', ...inside, '--', 'echo $manager_job $(date +%s)');
  await mutirao('job', 'wait', job);
  for (const task of ['0', '5']) {
    const [, number = '', at] = /^(\d+) (\d+)$/m.exec(await mutirao('task', 'output', job, task)) ?? [];
    t.true(Number(at) * 1000 >= startUnixMs - 1000, `${at} is before ${startUnixMs}`);
    t.regex(await server.command('oarstat', '--full', '--job', number), /types = .*inner=\d+/);
  }
  await callUnary(client, 'cancelReservation', { reservationId, reason: 'done' }, limits);
  await untilGivenBack();
});
