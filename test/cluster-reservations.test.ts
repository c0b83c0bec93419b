// Proves with real processes that a cluster packs its queue around a reservation, lets its holder in, and does both
// while the manager is away.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ClusterServiceClient, RequestStatus, type QueuedRequest } from '@mutirao/api/cluster';
import { ReservationServiceClient, ReservationStatus, Timing, type Reservation } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { killProcess, ownProgram, startProcess } from '@mutirao/runtime/processes';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { until } from '@mutirao/testkit';

const limits = { deadlineMs: 60_000 };
const home = mkdtempSync(join(tmpdir(), 'mutirao-walls-'));

/** A process of the home folder. */
class ProcessUnderTest {
  readonly folder: string;
  readonly #name: 'cluster' | 'reservations';
  #pid = 0;
  #hasEnded = false;

  constructor(name: 'cluster' | 'reservations') {
    this.#name = name;
    this.folder = join(home, name === 'cluster' ? 'clusters' : name, 'a');
  }

  /** Resolves to its address. */
  async start(...flags: string[]): Promise<string> {
    const file = join(this.folder, `${this.#name}.json`);
    rmSync(file, { force: true });
    this.#hasEnded = false;
    const [command, ...own] = ownProgram(this.#name);
    this.#pid =
      startProcess({
        command,
        args: [...own, '--home', home, '--id', 'a', ...flags],
        onExit: () => {
          this.#hasEnded = true;
        },
      }).pid ?? 0;
    await until(() => existsSync(file), `${this.#name} listens`);
    return (JSON.parse(readFileSync(file, 'utf8')) as { address: string }).address;
  }

  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#hasEnded || this.#pid === 0) return;
    killProcess(this.#pid, signal);
    await until(() => this.#hasEnded, `${this.#name} ends`);
  }
}

const managerProcess = new ProcessUnderTest('reservations');
const clusterProcess = new ProcessUnderTest('cluster');
let managerAddress = '';
let manager: ReservationServiceClient;
let cluster: ClusterServiceClient;

test.serial.before(async () => {
  managerAddress = await managerProcess.start();
  manager = dial(ReservationServiceClient, managerAddress, { token: readToken(tokenPath(home)) });
  await startCluster();
});

async function startCluster(): Promise<void> {
  const address = await clusterProcess.start(
    '--processors',
    '3',
    '--walltime-max',
    '1h',
    '--kill-grace',
    '100ms',
    '--reservations',
    managerAddress,
  );
  cluster = dial(ClusterServiceClient, address, { token: readToken(tokenPath(home)) });
}

test.serial.after.always(async () => {
  cluster.close();
  manager.close();
  await clusterProcess.end('SIGTERM');
  await managerProcess.end('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

async function allocate(widthProcessors: number, walltimeMs: number, reservationClaim = ''): Promise<string> {
  const order = {
    userId: '',
    widthProcessors,
    walltimeMs,
    command: ['/bin/sleep', '1000'],
    environment: {},
    workingDirectory: '',
    clientRequestId: '',
    reservationClaim,
  };
  return (await callUnary(cluster, 'allocate', order, limits)).requestId;
}

function queue() {
  return callUnary(cluster, 'getQueue', { endedMax: 100, userId: '' }, limits);
}

async function untilEntry(
  requestId: string,
  what: string,
  holds: (entry: QueuedRequest) => boolean,
): Promise<QueuedRequest> {
  let found: QueuedRequest | undefined;
  await until(async () => {
    found = (await queue()).requests.find((request) => request.requestId === requestId);
    return found !== undefined && holds(found);
  }, `request ${requestId} ${what}`);
  return found as QueuedRequest;
}

test.serial(
  'a reservation is a wall in the queue, whose holder gets in at its time, also without the manager, until it is cancelled',
  async (t) => {
    await until(
      async () =>
        (await callUnary(manager, 'listResources', {}, limits)).resources.some(
          ({ resourceId, total }) => resourceId === 'a' && total === 3,
        ),
      'the cluster makes itself known',
    );
    const spec = {
      resourceId: 'a',
      amount: { $case: 'quantity', value: '2' },
      durationMs: 3_000_000,
      earliestStartUnixMs: Date.now() + 4000,
      latestEndUnixMs: undefined,
      timing: Timing.ADVANCE,
    } as const;
    const placed = await callUnary(
      manager,
      'requestReservation',
      { spec, clientRequestId: 'demo', holdMs: 0, dryRun: false },
      limits,
    );
    const { reservationId, claim, startUnixMs, endUnixMs } = placed.outcome?.value as Reservation;
    await until(
      async () =>
        (await queue()).reservations.some((one) => one.reservationId === reservationId && one.processors === 2),
      'the cluster learns of it',
    );

    const inside = await allocate(2, 2_000_000, claim);
    const beside = await allocate(1, 1_000_000);
    const around = await allocate(2, 1_000_000);
    t.is((await untilEntry(beside, 'runs', ({ status }) => status === RequestStatus.RUNNING)).reservationId, 0);
    t.true(
      (await untilEntry(around, 'waits', ({ status }) => status === RequestStatus.QUEUED)).startsUnixMs >= endUnixMs,
    );
    const started = await untilEntry(inside, 'starts', ({ status }) => status === RequestStatus.RUNNING);
    t.is(started.reservationId, reservationId);
    t.true(started.startsUnixMs >= startUnixMs && started.startsUnixMs < endUnixMs);
    t.is((await queue()).reservations[0]?.processorsUsed, 2);

    await managerProcess.end('SIGKILL');
    const forged = `${claim.slice(0, -4)}${claim.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
    await t.throwsAsync(allocate(1, 1000, forged), { code: 'MUT_CLAIM_FORGED' });
    await t.throwsAsync(allocate(3, 1000, claim), { code: 'MUT_RESERVATION_EXCEEDED' });
    const second = await allocate(1, 1_000_000, claim);
    t.is((await queue()).reservations.length, 1);

    await managerProcess.start('--listen', managerAddress);
    await until(
      async () =>
        (await callUnary(manager, 'cancelReservation', { reservationId, reason: '' }, limits)).reservation !==
        undefined,
      'it is cancelled',
    );
    t.is(
      (await untilEntry(inside, 'ends', ({ status }) => status === RequestStatus.ENDED)).endReason,
      'MUT_RESERVATION_OVER',
    );
    t.is(
      (await untilEntry(second, 'ends', ({ status }) => status === RequestStatus.ENDED)).endReason,
      'MUT_RESERVATION_OVER',
    );
    await untilEntry(around, 'starts', ({ status }) => status === RequestStatus.RUNNING);
    t.deepEqual((await queue()).reservations, []);
    await t.throwsAsync(allocate(1, 1000, claim), { code: 'MUT_RESERVATION_OVER' });
    t.is(started.userId, userInfo().username);
  },
);

test.serial(
  'a cluster that was killed reports what it starts inside a reservation, though the claim was shown in its former life',
  async (t) => {
    const spec = {
      resourceId: 'a',
      amount: { $case: 'quantity', value: '1' },
      durationMs: 3_000_000,
      earliestStartUnixMs: Date.now() + 2000,
      latestEndUnixMs: undefined,
      timing: Timing.ADVANCE,
    } as const;
    const placed = await callUnary(
      manager,
      'requestReservation',
      { spec, clientRequestId: 'killed', holdMs: 0, dryRun: false },
      limits,
    );
    const { reservationId, claim } = placed.outcome?.value as Reservation;
    await allocate(1, 2_000_000, claim);
    await clusterProcess.end('SIGKILL');
    await startCluster();
    await until(
      async () =>
        (await callUnary(manager, 'getReservation', { reservationId }, limits)).reservation?.status ===
        ReservationStatus.CLAIMED,
      'the manager learns of the use',
    );
    t.like(
      (await queue()).reservations.find((one) => one.reservationId === reservationId),
      { processorsUsed: 1 },
    );
    await callUnary(manager, 'cancelReservation', { reservationId, reason: '' }, limits);
  },
);
