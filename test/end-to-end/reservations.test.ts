import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  Algorithm,
  Placement,
  ReservationServiceClient,
  ReservationStatus,
  Timing,
  type Reservation,
  type ReservationSpec,
} from '@mutirao/api/reservation';
import { MutiraoError } from '@mutirao/api/errors';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { Program, until } from '@mutirao/testkit';

const rules = {
  capPercent: undefined,
  algorithm: Algorithm.SUVS_P,
  placement: Placement.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};
const limits = { deadlineMs: 60_000 };
const clientCount = 32;
const minute = 60_000;
const units = 16;

function connect(home: string, address: string): ReservationServiceClient {
  return dial(ReservationServiceClient, address, { token: readToken(tokenPath(home)) });
}

function findSpec(seed: number): ReservationSpec {
  const from = Date.now() + (seed % 97) * minute;
  return {
    resourceId: 'cluster',
    amount: { $case: 'quantity', value: String(1 + (seed % 7)) },
    durationMs: (1 + (seed % 5)) * minute,
    earliestStartUnixMs: from + minute,
    latestEndUnixMs: seed % 2 === 0 ? undefined : from + 600 * minute,
    timing: Timing.ADVANCE,
  };
}

/** Repeats a request with its key until it is answered, whatever dies meanwhile. Undefined without capacity. */
async function reserve(
  client: ReservationServiceClient,
  key: string,
  spec: ReservationSpec,
): Promise<Reservation | undefined> {
  for (;;) {
    try {
      const { outcome } = await callUnary(
        client,
        'requestReservation',
        { spec, clientRequestId: key, holdMs: 0, dryRun: false },
        limits,
      );
      return outcome?.$case === 'reservation' ? outcome.value : undefined;
    } catch (error) {
      if (!(error instanceof MutiraoError) || !error.retryable) throw error;
    }
  }
}

async function listAll(client: ReservationServiceClient): Promise<Reservation[]> {
  const all: Reservation[] = [];
  let before = 0;
  do {
    const page = await callUnary(
      client,
      'listReservations',
      {
        pageSize: 1000,
        beforeReservationId: before,
        resourceId: '',
        statuses: [ReservationStatus.CONFIRMED],
        fromUnixMs: 0,
        untilUnixMs: 0,
        allUsers: true,
      },
      limits,
    );
    all.push(...page.reservations);
    before = page.nextBeforeReservationId;
  } while (before !== 0);
  return all;
}

/** At each start, no unit is reserved twice. */
function findOverlap(reservations: readonly Reservation[]): string | undefined {
  const ends = new Map<number, { readonly end: number; readonly id: number }>();
  for (const { reservationId, startUnixMs, endUnixMs, units: ranges } of [...reservations].sort(
    (one, other) => one.startUnixMs - other.startUnixMs,
  )) {
    for (const { first, count } of ranges) {
      for (let unit = first; unit < first + count; unit += 1) {
        const last = ends.get(unit);
        if (unit >= units || (last !== undefined && last.end > startUnixMs))
          return `unit ${unit} is reserved by ${last?.id ?? 0} and ${reservationId}`;
        ends.set(unit, { end: endUnixMs, id: reservationId });
      }
    }
  }
  return undefined;
}

test.serial(
  'a manager that is killed amid the load of 32 clients keeps what it answered, answers repeats alike and over-commits nothing',
  async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'mutirao-reservations-'));
    const manager = new Program('reservations', ['--home', home], {});
    t.teardown(async () => {
      await manager.kill();
      rmSync(home, { recursive: true, force: true });
    });
    await manager.start();
    const client = connect(home, manager.address);
    t.teardown(() => {
      client.close();
    });
    await callUnary(
      client,
      'registerResource',
      { resourceId: 'cluster', resourceType: 'processors', quantity: String(units), rules },
      limits,
    );

    const answers = new Map<string, { readonly spec: ReservationSpec; readonly reservationId: number }>();
    const counts = { asked: 0 };
    const work = Promise.all(
      Array.from({ length: clientCount }, async (_none, index) => {
        for (let round = 0; round < 12; round += 1) {
          const key = `${index}.${round}`;
          const spec = findSpec(index * 31 + round * 17);
          const answer = await reserve(client, key, spec);
          counts.asked += 1;
          if (answer !== undefined) answers.set(key, { spec, reservationId: answer.reservationId });
        }
      }),
    );
    for (const enough of [80, 200]) {
      await until(() => counts.asked >= enough, `${enough} requests are answered`);
      await manager.crash();
    }
    await work;

    const kept = new Map((await listAll(client)).map((one) => [one.clientRequestId, one]));
    for (const [key, { reservationId }] of answers) t.is(kept.get(key)?.reservationId, reservationId, key);
    t.is(kept.size, answers.size);
    t.is(findOverlap([...kept.values()]), undefined);
    const [key = '', { spec, reservationId } = { spec: findSpec(0), reservationId: 0 }] = [...answers][0] ?? [];
    t.is((await reserve(client, key, spec))?.reservationId, reservationId);
    await t.throwsAsync(reserve(client, key, { ...spec, durationMs: spec.durationMs + 1 }), { code: 'MUT_KEY_REUSED' });

    await manager.kill('SIGTERM');
    t.true(manager.log.some((line) => line.includes('draining')));
    await manager.start();
    t.is((await listAll(client)).length, answers.size);
  },
);
