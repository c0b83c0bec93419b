// A real Slurm that makes no reservations for us: the provider asks ahead, holds what it gets, follows a renegotiation,
// and gives back.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { ReservationServiceClient, Timing, type Reservation } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { Program, type ProgramName, SlurmServer, temporaryFolder, until } from '@mutirao/testkit';

let slurm: SlurmServer;
const limits = { deadlineMs: 60_000 };
const minute = 60_000;
const cli = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));
const run = promisify(execFile);

test.before(async () => {
  slurm = await SlurmServer.start();
});
test.after.always(async () => {
  await slurm.stop();
});

interface World {
  readonly provider: Program;
  readonly client: ReservationServiceClient;
  reserve(clientRequestId: string, from: number, count: number): Promise<Reservation>;
  mutirao(...args: readonly string[]): Promise<string>;
}

async function start(t: ExecutionContext): Promise<World> {
  const home = temporaryFolder(t);
  // Ending agents write there to the last.
  t.teardown(() => slurm.cancelAll());
  const program = async (name: ProgramName, ...args: readonly string[]): Promise<Program> => {
    const started = new Program(name, ['--home', home, ...args], { ...slurm.environment, MUTIRAO_HOME: home });
    t.teardown(() => started.kill());
    await started.start();
    return started;
  };
  const manager = await program('reservations');
  const provider = await program(
    'provider',
    '--id',
    'site',
    '--manager',
    'slurm',
    '--queue-interval',
    '300ms',
    '--reservations',
    manager.address,
    '--reservation-resource',
    'site',
    '--pre-acquire',
    'fixed:30m',
  );
  await program('broker', '--provider', `site=${provider.address}`);
  const client = dial(ReservationServiceClient, manager.address, { token: readToken(tokenPath(home)) });
  t.teardown(() => {
    client.close();
  });
  await until(
    async () =>
      (await callUnary(client, 'listResources', {}, limits)).resources.some(
        ({ resourceId, total }) => resourceId === 'site' && total === 32,
      ),
    'the resource is known',
  );
  return {
    provider,
    client,
    mutirao: async (...args) =>
      (await run(process.execPath, [cli, ...args], { env: { ...process.env, MUTIRAO_HOME: home } })).stdout.trim(),
    reserve: async (clientRequestId, from, count) => {
      const { outcome } = await callUnary(
        client,
        'requestReservation',
        { spec: findSpec(from, count), clientRequestId, holdMs: 0, dryRun: false },
        limits,
      );
      if (outcome?.$case !== 'reservation') throw new Error(JSON.stringify(outcome));
      return outcome.value;
    },
  };
}

function findSpec(from: number, count: number) {
  return {
    resourceId: 'site',
    amount: { $case: 'quantity', value: String(count) } as const,
    durationMs: 10 * minute,
    earliestStartUnixMs: from,
    latestEndUnixMs: undefined,
    timing: Timing.ADVANCE,
  };
}

test.serial(
  "an allocation that waits behind somebody else's work is held when it comes, through a kill, grows with its reservation, runs its bag from the start on, and goes back",
  async (t) => {
    const { provider, client, reserve, mutirao } = await start(t);
    await until(
      () =>
        Promise.resolve(provider.log.some((line) => line.includes('this account may reserve at the resource manager'))),
      'the owner learns that Slurm would make reservations for this account',
    );
    const other = (
      await slurm.command(
        'sbatch',
        '--parsable',
        '--ntasks=32',
        '--time=30',
        '--output=/dev/null',
        '--wrap=srun sleep 600',
      )
    ).trim();
    await until(async () => (await slurm.jobs('RUNNING')).includes(other), 'Slurm is full');
    const { reservationId, startUnixMs } = await reserve('bag', Date.now() + 1.75 * minute, 3);
    const id = String(reservationId);
    await until(
      async () => (await mutirao('reservation', 'show', id)).includes('Queued: 0 of 3 processors ready, 3 requested'),
      'its user sees that it waits',
    );
    t.is((await slurm.jobs('PENDING')).length, 1);
    await slurm.command('scancel', other);
    await until(
      async () => (await mutirao('reservation', 'show', id)).includes('Held: 3 of 3 processors ready'),
      'it is held',
    );
    await provider.kill();
    await provider.start();
    await callUnary(client, 'renegotiateReservation', { reservationId, spec: findSpec(startUnixMs, 5) }, limits);
    await until(
      async () => (await mutirao('reservation', 'show', id)).includes('Held: 5 of 5 processors ready'),
      'the missing processors are requested in addition',
    );
    const allocations = await slurm.jobs('RUNNING');
    t.is(allocations.length, 2, allocations.join(' '));
    const job = await mutirao(
      'job',
      'submit',
      '--quiet',
      '--reservation',
      id,
      '--array',
      '1-10',
      '--',
      'echo $manager_job $(date +%s); sleep 2',
    );
    await mutirao('job', 'wait', job);
    const used = new Set<string>();
    for (let task = 0; task < 10; task += 1) {
      const [, allocation = '', at] = /^(\d+) (\d+)$/m.exec(await mutirao('task', 'output', job, String(task))) ?? [];
      used.add(allocation);
      t.true(Number(at) * 1000 >= startUnixMs - 1000, `${at} is before ${startUnixMs}`);
    }
    t.deepEqual([...used].sort(), [...allocations].sort(), 'it runs in all that was held, and nowhere else');
    t.regex(await mutirao('explain', 'reservation', id), /Honoured: 5 of 5 processors ready/);
    t.is(
      await slurm.command('scontrol', '--oneliner', 'show', 'reservation').then((text) => text.includes('mutirao_')),
      false,
      'Slurm itself has reserved nothing',
    );
    await callUnary(client, 'cancelReservation', { reservationId, reason: 'rain' }, limits);
    await until(async () => (await slurm.jobs()).length === 0, 'what was held goes back');
  },
);

test.serial('what is cancelled before its start goes back from the queue and from the nodes', async (t) => {
  const { client, reserve, mutirao } = await start(t);
  const [one, two] = [
    await reserve('one', Date.now() + 10 * minute, 20),
    await reserve('two', Date.now() + 25 * minute, 20),
  ];
  await until(async () => (await slurm.jobs()).length === 2, 'both are asked for');
  await until(
    async () => (await mutirao('reservation', 'show', String(one.reservationId))).includes('Held: 20 of 20'),
    'the first is held',
  );
  await until(
    async () =>
      (await mutirao('reservation', 'show', String(two.reservationId))).includes(
        'Queued: 0 of 20 processors ready, 20 requested',
      ),
    'the second waits',
  );
  for (const { reservationId } of [one, two])
    await callUnary(client, 'cancelReservation', { reservationId, reason: '' }, limits);
  await until(async () => (await slurm.jobs()).length === 0, 'both go back');
  t.regex(await mutirao('reservation', 'show', String(one.reservationId)), /cancelled/);
});
