// A resource manager of someone else's honours reservations through the published API:
// examples/clients/python/honour.py, with nothing of Mutirao but proto/.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ReservationServiceClient, ReservationStatus, Timing, type Reservation } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { buildExampleClient, isAlive, Program, temporaryFolder, until, type ExampleClient } from '@mutirao/testkit';

const limits = { deadlineMs: 10_000 };
const user = userInfo().username;
const hour = 3_600_000;

/** One call of honour.py. */
class Honour {
  out = '';
  complaints = '';
  readonly #child: ChildProcess;

  constructor(t: ExecutionContext, { folder }: ExampleClient, args: readonly string[]) {
    const child = spawn(join(folder, '.venv/bin/python'), [join(folder, 'honour.py'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdout.on('data', (data: Buffer) => {
      this.out += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => {
      this.complaints += data.toString();
    });
    t.teardown(() => {
      child.kill('SIGKILL');
    });
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** The command has written these words. */
  async wrote(words: string): Promise<void> {
    await until(() => this.out.includes(words) || this.isOver, 'the command runs');
    if (!this.out.includes(words))
      throw new Error(
        `honour.py ended with ${await this.ended()} and its command wrote "${this.out}": ${this.complaints}`,
      );
  }

  async ended(): Promise<number> {
    await until(() => this.isOver, 'honour.py ends');
    return this.#child.exitCode ?? -1;
  }
}

interface World {
  readonly manager: Program;
  readonly client: ReservationServiceClient;
  readonly folder: string;
  reserve(key: string, from: number, duration: number): Promise<Reservation>;
  get(reservationId: number): Promise<Reservation | undefined>;
  /** Shows a claim at the resource `lab`, or as the last arguments say. */
  show(claim: string, command: string, ...more: readonly string[]): Honour;
}

async function start(t: ExecutionContext): Promise<World> {
  const example = await buildExampleClient(t, 'python');
  const [home, folder] = [temporaryFolder(t), temporaryFolder(t)];
  const manager = new Program('reservations', ['--home', home], {});
  t.teardown(() => manager.kill());
  await manager.start();
  const client = dial(ReservationServiceClient, manager.address, { token: readToken(tokenPath(home)) });
  t.teardown(() => {
    client.close();
  });
  await callUnary(
    client,
    'registerResource',
    { resourceId: 'lab', resourceType: 'processors', quantity: '8', rules: undefined },
    limits,
  );
  let shown = 0;
  return {
    manager,
    client,
    folder,
    reserve: async (clientRequestId, from, durationMs) => {
      const spec = {
        resourceId: 'lab',
        amount: { $case: 'quantity', value: '2' } as const,
        durationMs,
        earliestStartUnixMs: from === 0 ? undefined : from,
        latestEndUnixMs: undefined,
        timing: from === 0 ? Timing.IMMEDIATE : Timing.ADVANCE,
      };
      const { outcome } = await callUnary(
        client,
        'requestReservation',
        { spec, clientRequestId, holdMs: 0, dryRun: false },
        limits,
      );
      if (outcome?.$case !== 'reservation') throw new Error(JSON.stringify(outcome));
      return outcome.value;
    },
    get: async (reservationId) => (await callUnary(client, 'getReservation', { reservationId }, limits)).reservation,
    show: (claim, command, ...more) => {
      const path = join(folder, `claim-${(shown += 1)}`);
      writeFileSync(path, `${claim}\n`);
      const access = [
        '--reservations',
        manager.address,
        '--token',
        tokenPath(home),
        '--keys',
        join(folder, 'claim-keys.json'),
        '--claim',
        path,
      ];
      return new Honour(t, example, [
        ...access,
        '--resource',
        'lab',
        '--user',
        user,
        ...more,
        '--',
        'sh',
        '-c',
        command,
      ]);
    },
  };
}

test.serial(
  'a command runs inside the reserved window on the reserved units, and what is left of the window is given back',
  async (t) => {
    const { reserve, get, show } = await start(t);
    const now = Date.now();
    const { reservationId, claim, startUnixMs } = await reserve('soon', now + 3_000, hour);
    const first = await reserve('beside', now + 3_000, hour);
    const honour = show(claim, 'echo "$RESERVED_UNITS of $RESERVED_AMOUNT at $(date +%s%3N)"; exit 7');
    t.is(await honour.ended(), 7, honour.complaints);
    const [, units, at] = /^(\S+) of 2 at (\d+)\n$/.exec(honour.out) ?? [];
    t.true(Number(at) >= startUnixMs, 'it began before its time');
    t.is(units, '0-1');
    t.like(await get(reservationId), { status: ReservationStatus.RELEASED });
    const neighbour = show(
      first.claim,
      'echo $RESERVED_UNITS; grep Cpus_allowed_list /proc/self/status | tr -d "\\t "',
      '--pin',
    );
    const status = await neighbour.ended();
    // Where this host has no processors 2 and 3 it cannot be pinned to them, and nothing runs.
    if (status === 0) t.is(neighbour.out, '2-3\nCpus_allowed_list:2-3\n');
    else t.deepEqual([status, neighbour.out], [1, '']);
  },
);

test.serial(
  'a claim that is forged, for elsewhere, of somebody else or of a cancelled reservation is refused, and nothing runs',
  async (t) => {
    const { client, reserve, show, folder } = await start(t);
    const good = await reserve('good', 0, hour);
    const cancelled = await reserve('cancelled', 0, hour);
    await callUnary(client, 'cancelReservation', { reservationId: cancelled.reservationId, reason: 'rain' }, limits);
    const [header = '', payload = '', signature = ''] = good.claim.split('.');
    const said = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const forge = (change: Record<string, unknown>): string =>
      [header, Buffer.from(JSON.stringify({ ...said, ...change })).toString('base64url'), signature].join('.');
    const ran = `touch ${join(folder, 'ran')}`;
    const refusals: readonly (readonly [RegExp, Honour])[] = [
      [/not signed by the reservation manager/, show(forge({ amount: 8, units: '0-7' }), ran)],
      [/not signed by the reservation manager/, show(`${header}.${payload}.`, ran)],
      [/not signed by the reservation manager/, show('nonsense', ran)],
      [/the claim is for lab and was shown at hall/, show(good.claim, ran, '--resource', 'hall')],
      [/the claim is .*'s and was shown by mallory/, show(good.claim, ran, '--user', 'mallory')],
      [/MUT_RESERVATION_OVER .* is cancelled; "mutirao explain/, show(cancelled.claim, ran)],
    ];
    for (const [words, honour] of refusals) {
      t.is(await honour.ended(), 3, honour.complaints);
      t.regex(honour.complaints, words);
    }
    t.throws(() => readFileSync(join(folder, 'ran')), { code: 'ENOENT' });
  },
);

test.serial(
  'what runs is ended when the reservation is taken back and when its time is over, and a manager that is away is not needed',
  async (t) => {
    const { manager, client, reserve, show } = await start(t);
    const long = await reserve('long', 0, hour);
    const taken = show(long.claim, 'echo began; sleep 600');
    await taken.wrote('began');
    await callUnary(client, 'cancelReservation', { reservationId: long.reservationId, reason: 'rain' }, limits);
    t.is(await taken.ended(), 4, taken.complaints);
    t.regex(taken.complaints, /MUT_RESERVATION_OVER .* is cancelled; "mutirao explain/);
    const short = await reserve('short', 0, 12_000);
    await manager.kill();
    const alone = show(short.claim, 'echo began; sleep 600');
    t.is(await alone.ended(), 5, alone.complaints);
    t.is(alone.out, 'began\n');
    t.regex(alone.complaints, /the reservation manager is away/);
    t.true(Date.now() >= short.endUnixMs);
  },
);

test.serial(
  'what runs when a maintenance is announced runs on to the beginning of that, and one that has another start now is refused',
  async (t) => {
    const { client, reserve, get, show, folder } = await start(t);
    const whole = await reserve('whole', 0, hour);
    const part = await reserve('part', 0, hour);
    const later = await reserve('later', Date.now() + hour / 2, hour);
    const used = show(whole.claim, 'echo began; sleep 600');
    const ended = join(folder, 'ended');
    const left = show(part.claim, `echo began; until [ -e ${ended} ]; do sleep 0.1; done; exit 7`);
    const early = show(later.claim, 'echo began');
    await used.wrote('began');
    await left.wrote('began');
    const begin = Date.now() + 20_000;
    await callUnary(
      client,
      'addMaintenance',
      {
        resourceId: 'lab',
        maintenanceId: 'paint',
        startUnixMs: begin,
        endUnixMs: begin + hour,
        amount: 0,
        reason: 'paint',
      },
      limits,
    );
    await until(() => left.complaints.includes('the reservation ends at'), 'the earlier end is reported');
    writeFileSync(ended, '');
    t.is(await left.ended(), 7, left.complaints);
    t.like(await get(part.reservationId), { status: ReservationStatus.RELEASED });
    t.is(await used.ended(), 5, used.complaints);
    t.true(Date.now() >= begin, 'it was ended before the maintenance');
    t.is(await early.ended(), 3, early.complaints);
    t.regex(early.complaints, /MUT_CLAIM_SUPERSEDED .* another start/);
    t.is(early.out, '');
  },
);

test.serial(
  'a manager that is stopped or killed leaves no command behind, and reports a use to a reservation manager that was away when it began',
  async (t) => {
    const { manager, reserve, get, show } = await start(t);
    for (const [signal, status] of [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
      ['SIGKILL', -1],
    ] as const) {
      const { claim } = await reserve(signal, 0, hour);
      const honour = show(claim, 'echo $$; exec sleep 600');
      await honour.wrote('\n');
      honour.kill(signal);
      t.is(await honour.ended(), status, honour.complaints);
      await until(() => !isAlive(Number(honour.out)), `the command ends with ${signal}`);
    }
    const { claim, reservationId } = await reserve('away', 0, hour);
    process.kill(manager.pid, 'SIGSTOP');
    const honour = show(claim, 'echo began; exec sleep 600');
    await honour.wrote('began');
    process.kill(manager.pid, 'SIGCONT');
    await until(
      async () => (await get(reservationId))?.status === ReservationStatus.CLAIMED,
      'the manager knows of the use',
    );
  },
);
