// Reservations that a provider has a real Slurm keep: made, moved, resized and deleted as the reservation manager says,
// through restarts of everybody.
import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { ReservationServiceClient, ReservationStatus, Timing, type Reservation } from '@mutirao/api/reservation';
import { SlurmManager } from '@mutirao/managers';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import {
  Program,
  siteReservationCases,
  SlurmServer,
  temporaryFolder,
  until,
  type ReservingManager,
} from '@mutirao/testkit';

let slurm: SlurmServer;
const user = userInfo().username;
const limits = { deadlineMs: 60_000 };
const minute = 60_000;

test.before(async () => {
  slurm = await SlurmServer.start();
});
test.after.always(async () => {
  await slurm.stop();
});

interface World {
  readonly home: string;
  readonly manager: Program;
  readonly provider: Program;
  readonly client: ReservationServiceClient;
  reserve(
    key: string,
    from: number,
    more?: { readonly count?: number; readonly duration?: number; readonly holdMs?: number },
  ): Promise<Reservation>;
  /** What Slurm has: `1=4@12:00:00` for each, by name. */
  site(): Promise<string>;
  /** Waits until that is what Slurm has. */
  untilSite(expected: string): Promise<void>;
  /** What `provider show` says. */
  resourceStatus(): Promise<string>;
}

async function start(t: ExecutionContext): Promise<World> {
  const home = temporaryFolder(t);
  const manager = new Program('reservations', ['--home', home], {});
  t.teardown(() => manager.kill());
  await manager.start();
  const provider = new Program(
    'provider',
    [
      '--home',
      home,
      '--id',
      'site',
      '--manager',
      'slurm',
      '--queue-interval',
      '300ms',
      '--reservations',
      manager.address,
    ],
    slurm.environment,
  );
  t.teardown(() => provider.kill());
  await provider.start();
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
  const site = async (): Promise<string> =>
    (await slurm.command('scontrol', '--oneliner', 'show', 'reservation'))
      .split('\n')
      .flatMap((line) => {
        const [, id, startsAt, cores] =
          /^ReservationName=mutirao_site_(\d+) StartTime=\S+T(\S+) .* CoreCnt=(\d+) /.exec(line) ?? [];
        return id === undefined ? [] : [`${id}=${cores}@${startsAt}`];
      })
      .join(' ');
  return {
    home,
    manager,
    provider,
    client,
    site,
    untilSite: async (expected) => {
      let last = '';
      await until(async () => (last = await site()) === expected, `Slurm has ${expected}`).catch((error: unknown) => {
        throw new Error(`it has ${last}; ${provider.log.slice(-5).join('\n')}`, { cause: error });
      });
    },
    reserve: async (clientRequestId, from, { count = 4, duration = 30 * minute, holdMs = 0 } = {}) => {
      const { outcome } = await callUnary(
        client,
        'requestReservation',
        { spec: findSpec(from, count, duration), clientRequestId, holdMs, dryRun: false },
        limits,
      );
      if (outcome?.$case !== 'reservation') throw new Error(JSON.stringify(outcome));
      return outcome.value;
    },
    resourceStatus: async () => {
      const toProvider = dial(GridMachineProviderServiceClient, provider.address, {
        token: readToken(tokenPath(home)),
      });
      const { reasons } = await callUnary(toProvider, 'getResource', {}, limits);
      toProvider.close();
      return reasons.map(({ text }) => text).join(' ');
    },
  };
}

function findSpec(from: number, count: number, durationMs: number) {
  return {
    resourceId: 'site',
    amount: { $case: 'quantity', value: String(count) } as const,
    durationMs,
    earliestStartUnixMs: from,
    latestEndUnixMs: undefined,
    timing: Timing.ADVANCE,
  };
}

/** The next full hour but one, so that nothing begins during the test. */
const later = (): number => Math.ceil(Date.now() / (60 * minute)) * 60 * minute + 60 * minute;
const clock = (instant: number): string => new Date(instant).toISOString().slice(11, 19);

test.serial(
  "Slurm has what is reserved, through renegotiations, cancellations, somebody's hand, and deaths of the provider and the manager",
  async (t) => {
    const { manager, provider, client, reserve, untilSite, resourceStatus } = await start(t);
    const from = later();
    const one = await reserve('one', from);
    const hold = await reserve('held', from, { holdMs: 60 * minute });
    await untilSite(`${one.reservationId}=4@${clock(from)}`);
    await until(
      async () => (await resourceStatus()).includes("The site's resource manager guarantees 1 of 1 reservation."),
      'the provider says so',
    );
    await callUnary(client, 'confirmReservation', { reservationId: hold.reservationId }, limits);
    await untilSite(`${one.reservationId}=4@${clock(from)} ${hold.reservationId}=4@${clock(from)}`);
    await callUnary(client, 'cancelReservation', { reservationId: hold.reservationId, reason: '' }, limits);
    await untilSite(`${one.reservationId}=4@${clock(from)}`);
    await callUnary(
      client,
      'renegotiateReservation',
      { reservationId: one.reservationId, spec: findSpec(from + 10 * minute, 4, 30 * minute) },
      limits,
    );
    await untilSite(`${one.reservationId}=4@${clock(from + 10 * minute)}`);
    await callUnary(
      client,
      'renegotiateReservation',
      { reservationId: one.reservationId, spec: findSpec(from, 6, 30 * minute) },
      limits,
    );
    await untilSite(`${one.reservationId}=6@${clock(from)}`);
    await slurm.command('scontrol', 'delete', `ReservationName=mutirao_site_${one.reservationId}`);
    await untilSite(`${one.reservationId}=6@${clock(from)}`);

    await provider.kill();
    const two = await reserve('two', from, { count: 2 });
    await callUnary(client, 'cancelReservation', { reservationId: one.reservationId, reason: '' }, limits);
    await provider.start();
    await untilSite(`${two.reservationId}=2@${clock(from)}`);
    await provider.kill();
    await manager.kill();
    await provider.start();
    await until(
      () => provider.log.some((line) => line.includes('the reservation manager is unreachable')),
      'it misses the manager',
    );
    await slurm.command('scontrol', 'delete', `ReservationName=mutirao_site_${two.reservationId}`);
    await untilSite(`${two.reservationId}=2@${clock(from)}`);
    await manager.start();
    await callUnary(client, 'cancelReservation', { reservationId: two.reservationId, reason: '' }, limits);
    await untilSite('');
    t.false((await resourceStatus()).includes('guarantees'));
  },
);

test.serial(
  'a reservation that Slurm refuses is reported in its words and requested again, and what runs inside a cancelled one ends',
  async (t) => {
    const { client, reserve, untilSite, resourceStatus } = await start(t);
    const [own = ''] = [
      (
        await slurm.command(
          'sbatch',
          '--parsable',
          '--ntasks=32',
          '--time=30',
          '--output=/dev/null',
          '--wrap=srun sleep 600',
        )
      ).trim(),
    ];
    await until(async () => (await slurm.jobs('RUNNING')).includes(own), 'Slurm is full');
    const now = await reserve('now', Date.now() + 3_000, { duration: 5 * minute });
    const name = `mutirao_site_${now.reservationId}`;
    await until(
      async () => /guarantees 0 of 1 reservation\..* not guaranteed: scontrol: .*busy\./.test(await resourceStatus()),
      'the provider says that it is not guaranteed',
    );
    await slurm.command('scancel', own);
    await until(
      async () =>
        (await slurm.command('scontrol', '--oneliner', 'show', 'reservation')).includes(`ReservationName=${name} `),
      'it is made when there is room',
    );
    await until(async () => (await resourceStatus()).includes('guarantees 1 of 1 reservation'), 'the provider says so');
    const inside = (
      await slurm.command(
        'sbatch',
        '--parsable',
        `--reservation=${name}`,
        '--ntasks=4',
        '--time=2',
        '--output=/dev/null',
        '--wrap=srun sleep 600',
      )
    ).trim();
    await until(async () => (await slurm.jobs('RUNNING')).includes(inside), 'a job runs inside');
    await callUnary(client, 'cancelReservation', { reservationId: now.reservationId, reason: 'rain' }, limits);
    await untilSite('');
    t.deepEqual(await slurm.jobs(), []);
  },
);

const cli = fileURLToPath(new URL('../../packages/cli/bin/mutirao.js', import.meta.url));

test.serial(
  'a bag inside a reservation runs in that of Slurm, from its start on, and is notified of a cancellation',
  async (t) => {
    const { home, client, provider, reserve } = await start(t);
    const broker = new Program('broker', ['--home', home, '--provider', `site=${provider.address}`], {
      MUTIRAO_HOME: home,
    });
    t.teardown(() => broker.kill());
    await broker.start();
    const run = promisify(execFile);
    const mutirao = async (...args: readonly string[]): Promise<string> =>
      (await run(process.execPath, [cli, ...args], { env: { ...process.env, MUTIRAO_HOME: home } })).stdout.trim();
    const { reservationId, startUnixMs } = await reserve('bag', Date.now() + 15_000, {
      count: 3,
      duration: 10 * minute,
    });
    const job = await mutirao(
      'job',
      'submit',
      '--quiet',
      '--reservation',
      String(reservationId),
      '--array',
      '1-6',
      '--',
      'echo $(squeue --noheader --format=%v --jobs=$manager_job) $(date +%s); sleep 1',
    );
    await mutirao('job', 'wait', job);
    for (const task of ['0', '5']) {
      const [, name, at] = /^(\S+) (\d+)$/m.exec(await mutirao('task', 'output', job, task)) ?? [];
      t.is(name, `mutirao_site_${reservationId}`);
      t.true(Number(at) * 1000 >= startUnixMs - 1000, `${at} is before ${startUnixMs}`);
    }
    const statusNow = async (): Promise<ReservationStatus | undefined> =>
      (await callUnary(client, 'getReservation', { reservationId }, limits)).reservation?.status;
    await until(
      async () => (await statusNow()) === ReservationStatus.CLAIMED,
      'the manager knows that it is in use, as soon as the queue is read',
    );
    const long = await mutirao(
      'job',
      'submit',
      '--quiet',
      '--reservation',
      String(reservationId),
      '--on-reservation-end',
      'wait',
      '--',
      'sleep 600',
    );
    await until(async () => (await mutirao('task', 'list', long)).includes('running'), 'it runs inside');
    await callUnary(client, 'cancelReservation', { reservationId, reason: 'rain' }, limits);
    await until(
      async () => (await mutirao('explain', 'job', long)).includes('MUT_RESERVATION_OVER'),
      'the job explains the end of the reservation',
    );
    await mutirao('job', 'cancel', long);
  },
);

function openManager(t: ExecutionContext): ReservingManager {
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
    reservations: { prefix: 'mutirao_other_', resourceId: 'site' },
  });
  t.teardown(() => {
    manager.close();
  });
  if (manager.siteReservations === undefined) throw new Error('it makes none');
  return manager as SlurmManager & ReservingManager;
}

for (const { title, check } of siteReservationCases) {
  test.serial(`${title} (Slurm)`, async (t) => {
    await check(t, { manager: openManager(t), reopen: () => openManager(t), userId: user, processors: 32 });
  });
}

test.serial(
  'a refusal carries the words of Slurm, and a reservation that Slurm does not know need not be deleted',
  async (t) => {
    const { siteReservations: site } = openManager(t);
    const reservation = { reservationId: 1, count: 33, startsAt: later(), endsAt: later() + minute };
    await t.throwsAsync(site.make(reservation), {
      code: 'MUT_BAD_REQUEST',
      message: /^scontrol: Error creating the reservation: [^;]*$/,
    });
    await t.throwsAsync(site.move(reservation), { code: 'MUT_BAD_REQUEST', message: /^scontrol: .*invalid/ });
    await site.remove(1);
    await site.make({ ...reservation, count: 5 });
    t.deepEqual(await site.list(), { reservations: [{ ...reservation, count: 5 }], granularity: 1 });
    await site.remove(1);
  },
);
