// Events of a reservation manager on a real NATS server: all of them, in order, each once, whoever is killed meanwhile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AckPolicy, connect } from 'nats';
import test, { type ExecutionContext } from 'ava';
import { Algorithm, Placement, ReservationEvent, ReservationServiceClient, Timing } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial, listMessages } from '@mutirao/runtime/rpc';
import { NatsServer, Program, until } from '@mutirao/testkit';

const hour = 3_600_000;
const limits = { deadlineMs: 60_000 };
const rules = {
  capPercent: undefined,
  algorithm: Algorithm.SUVS,
  placement: Placement.UNSPECIFIED,
  durationMsMax: 0,
  reservationsPerUserMax: 0,
  amountPerUserMax: 0,
  movesMax: undefined,
  unclaimedMsMax: 0,
};

/** An event: sequence, type, reservation. */
type Reported = [number, string, number];

const getReported = ({ sequence, type, reservation }: ReservationEvent): Reported => [
  sequence,
  type,
  reservation?.reservationId ?? 0,
];

/** All that the stream keeps, in its order. */
async function published(nats: NatsServer): Promise<Reported[]> {
  const connection = await connect({ servers: nats.url });
  try {
    const manager = await connection.jetstreamManager();
    const { name } = await manager.consumers.add('MUTIRAO_EVENTS', { ack_policy: AckPolicy.None });
    const consumer = await connection.jetstream().consumers.get('MUTIRAO_EVENTS', name);
    const { num_pending: count } = await consumer.info();
    const reported: Reported[] = [];
    if (count > 0)
      for await (const { data } of await consumer.fetch({ max_messages: count, expires: 10_000 }))
        reported.push(getReported(ReservationEvent.decode(data)));
    await manager.consumers.delete('MUTIRAO_EVENTS', name);
    return reported;
  } finally {
    await connection.close();
  }
}

/** The same events from the manager's journal. */
async function watched(client: ReservationServiceClient): Promise<Reported[]> {
  const reported: Reported[] = [];
  for await (const { events } of listMessages(
    client.watchReservations({ reservationId: 0, afterSequence: 0, onlyNew: false }),
  )) {
    if (events.length === 0) break;
    reported.push(...events.map(getReported));
  }
  return reported;
}

async function start(
  t: ExecutionContext,
): Promise<{ readonly nats: NatsServer; readonly manager: Program; readonly client: ReservationServiceClient }> {
  const nats = new NatsServer();
  t.teardown(() => nats.stop());
  await nats.start();
  const home = mkdtempSync(join(tmpdir(), 'mutirao-reservation-events-'));
  const manager = new Program('reservations', ['--home', home, '--nats', nats.url, '--nats-bytes', '64M'], {});
  t.teardown(async () => {
    await manager.kill();
    rmSync(home, { recursive: true, force: true });
  });
  await manager.start();
  const client = dial(ReservationServiceClient, manager.address, { token: readToken(tokenPath(home)) });
  t.teardown(() => {
    client.close();
  });
  await callUnary(
    client,
    'registerResource',
    { resourceId: 'cluster', resourceType: 'processors', quantity: '4', rules },
    limits,
  );
  return { nats, manager, client };
}

/** Reserves, and gives every other one back. */
async function work(client: ReservationServiceClient, from: number, count: number): Promise<void> {
  for (let index = from; index < from + count; index += 1) {
    const spec = {
      resourceId: 'cluster',
      amount: { $case: 'quantity', value: '2' } as const,
      durationMs: hour,
      earliestStartUnixMs: Date.now() + hour,
      latestEndUnixMs: undefined,
      timing: Timing.ADVANCE,
    };
    const { outcome } = await callUnary(
      client,
      'requestReservation',
      { spec, clientRequestId: String(index), holdMs: 0, dryRun: false },
      limits,
    );
    if (outcome?.$case !== 'reservation') throw new Error(`refused: ${JSON.stringify(outcome)}`);
    if (index % 2 === 0)
      await callUnary(
        client,
        'cancelReservation',
        { reservationId: outcome.value.reservationId, reason: 'not needed' },
        limits,
      );
  }
}

test.serial(
  'NATS and then the manager are killed: all that became of reservations is published, in order, each once',
  async (t) => {
    const { nats, manager, client } = await start(t);
    await work(client, 0, 10);
    await until(async () => (await published(nats)).length >= 15, 'the first events have come');
    await nats.kill();
    await work(client, 10, 10);
    await manager.crash();
    await work(client, 20, 5);
    await nats.start();
    const truth = await watched(client);
    t.true(truth.length >= 1 + 25 + 12, `${truth.length} events`);
    await until(async () => isDeepStrictEqual(await published(nats), truth), 'the stream has all').catch(
      () => undefined,
    );
    t.deepEqual(await published(nats), truth);
  },
);
