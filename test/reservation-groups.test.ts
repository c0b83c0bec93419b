// Several resources of two reservation managers, all or none, with real processes: one manager is killed between the
// hold and the confirmation.
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { ReservationServiceClient, Timing } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { killProcess, ownProgram, startProcess } from '@mutirao/runtime/processes';
import { until } from '@mutirao/testkit';

const bin = fileURLToPath(new URL('../packages/cli/bin/mutirao.js', import.meta.url));
const [command, ...own] = ownProgram('reservations');
const home = mkdtempSync(join(tmpdir(), 'mutirao-together-'));

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function mutirao(...args: readonly string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [bin, 'reservation', ...args],
      { env: { ...process.env, MUTIRAO_HOME: home } },
      (_error, out, err) => {
        resolve({ status: child.exitCode ?? -1, out, err });
      },
    );
  });
}

interface ReservationJson {
  readonly reservation_id: number;
  readonly status: string;
  readonly start_unix_ms: number;
  readonly end_unix_ms: number;
}

/** All reservations of a manager, newest first. */
async function listed(manager: string): Promise<ReservationJson[]> {
  return JSON.parse((await mutirao('list', '--all', '--manager', manager, '--json')).out) as ReservationJson[];
}

const ended = new Set<number>();
const pids = new Map<string, number>();

async function start(id: string, listen?: string): Promise<string> {
  const file = join(home, 'reservations', id, 'reservations.json');
  rmSync(file, { force: true });
  const pid =
    startProcess({
      command,
      args: [...own, '--home', home, '--id', id, ...(listen === undefined ? [] : ['--listen', listen])],
      onExit: () => {
        ended.add(pid);
      },
    }).pid ?? 0;
  pids.set(id, pid);
  await until(() => existsSync(file), `manager ${id} listens`);
  return (JSON.parse(readFileSync(file, 'utf8')) as { address: string }).address;
}

async function kill(id: string): Promise<void> {
  const pid = pids.get(id) ?? 0;
  killProcess(pid, 'SIGKILL');
  await until(() => ended.has(pid), `manager ${id} ends`);
}

let address = '';

test.serial.before(async (t) => {
  await start('one');
  address = await start('two');
  t.is((await mutirao('resource', 'add', 'alpha', '--total', '4', '--manager', 'one')).status, 0);
  t.is((await mutirao('resource', 'add', 'net', '--total', '800KB/s', '--manager', 'two')).status, 0);
});
test.serial.after.always(async () => {
  for (const id of pids.keys()) await kill(id);
  rmSync(home, { recursive: true, force: true });
});

test.serial('two resources of two managers get the first window that both have', async (t) => {
  const taken = await mutirao('request', '--manager', 'two', '--resource', 'net', '--share', '80%', '--for', '10m');
  t.is(taken.status, 0, taken.err);
  const { status, out, err } = await mutirao('co-allocate', 'alpha=4@one', 'net=30%@two', '--for', '5m', '--json');
  t.is(status, 0, err);
  const { start_unix_ms: from, rounds } = JSON.parse(out) as { start_unix_ms: number; rounds: number };
  const [other] = (await listed('two')).filter(({ status: one }) => one === 'confirmed').slice(1);
  t.is(from, other?.end_unix_ms ?? 0);
  t.is(rounds, 2);
  const [mine] = await listed('one');
  t.like(mine, { status: 'confirmed', start_unix_ms: from, end_unix_ms: from + 300_000 });
});

test.serial('a manager that is killed before it confirmed leaves nothing reserved anywhere', async (t) => {
  const before = (await listed('one')).length;
  // The first answers only when the second is gone, so that both hold and one cannot confirm.
  killProcess(pids.get('one') ?? 0, 'SIGSTOP');
  const asking = mutirao('co-allocate', 'alpha=1@one', 'net=10%@two', '--from', '+1h', '--for', '1m', '--hold', '14s');
  await until(async () => (await listed('two'))[0]?.status === 'held', 'the second holds');
  await kill('two');
  killProcess(pids.get('one') ?? 0, 'SIGCONT');
  const { status, err } = await asking;
  t.not(status, 0);
  t.regex(
    err,
    /^error: MUT_GROUP_ABORTED net=10%@two was not confirmed \(MUT_UNREACHABLE .*and the others are given back/,
  );
  const after = await listed('one');
  t.is(after.length, before + 1);
  t.is(after[0]?.status, 'cancelled');
  await start('two', address);
  await until(async () => (await listed('two'))[0]?.status === 'expired', 'the hold lapses');
});

/** What the command does up to its death: both are held and prepared to the first. Returns their numbers. */
async function prepareBoth(holdMs: number): Promise<{
  readonly one: ReservationServiceClient;
  readonly two: ReservationServiceClient;
  readonly ids: readonly [number, number];
}> {
  const from = Date.now() + 3_600_000;
  const managers = await Promise.all(
    ['one', 'two'].map(async (id) => {
      const at = (
        JSON.parse(readFileSync(join(home, 'reservations', id, 'reservations.json'), 'utf8')) as { address: string }
      ).address;
      const client = dial(ReservationServiceClient, at, { token: readToken(tokenPath(home)) });
      const spec = {
        resourceId: id === 'one' ? 'alpha' : 'net',
        amount: { $case: 'quantity' as const, value: id === 'one' ? '1' : '10%' },
        durationMs: 60_000,
        earliestStartUnixMs: from,
        latestEndUnixMs: from + 60_000,
        timing: Timing.ADVANCE,
      };
      const { outcome } = await callUnary(
        client,
        'requestReservation',
        { spec, clientRequestId: '', holdMs, dryRun: false },
        { deadlineMs: 60_000 },
      );
      return { at, client, id: outcome?.$case === 'reservation' ? outcome.value.reservationId : 0 };
    }),
  );
  const [one, two] = managers as [(typeof managers)[0], (typeof managers)[0]];
  const groupId = `${from}-and-some-more-of-it`;
  await callUnary(
    one.client,
    'prepareReservation',
    { reservationId: one.id, together: { groupId, managerAddress: '', reservationId: one.id } },
    { deadlineMs: 60_000 },
  );
  await callUnary(
    two.client,
    'prepareReservation',
    { reservationId: two.id, together: { groupId, managerAddress: one.at, reservationId: one.id } },
    { deadlineMs: 60_000 },
  );
  return { one: one.client, two: two.client, ids: [one.id, two.id] };
}

test.serial(
  'a client that dies before the deciding one is confirmed leaves nothing, also at a manager that waits for it',
  async (t) => {
    const { one, two } = await prepareBoth(5000);
    one.close();
    two.close();
    await until(
      async () => (await listed('two'))[0]?.status === 'cancelled',
      'the second learns that it need not wait',
    );
    t.is((await listed('one'))[0]?.status, 'expired');
  },
);

test.serial(
  'a client that dies when the deciding one is confirmed leaves all of them, also where the other manager was killed meanwhile',
  async (t) => {
    const {
      one,
      two,
      ids: [first, second],
    } = await prepareBoth(60_000);
    await kill('two');
    await callUnary(one, 'confirmReservation', { reservationId: first }, { deadlineMs: 60_000 });
    one.close();
    two.close();
    await start('two', address);
    await until(async () => (await listed('two'))[0]?.status === 'confirmed', 'the second learns that all stand');
    t.like((await listed('two'))[0], { reservation_id: second });
    t.is((await listed('one'))[0]?.status, 'confirmed');
  },
);
