import { setImmediate as turn } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { ReservationEvent } from '@mutirao/api/reservation';
import type { ReservationsChange } from '@mutirao/core/machines/reservations';
import { ChangeSignal } from '@mutirao/runtime/driver';
import { openJournal } from '@mutirao/runtime/journal';
import { openRules, PretendStream } from '@mutirao/testkit';
import { EventPublisher } from '../../src/events/event-publisher.ts';
import { reservationsChangeCodec } from '../../src/journal/change-codec.ts';

const place = { id: 7, userId: 'ana', start: 100, end: 200, amount: 2, resources: [0, 1], earliestStart: 100, latestEnd: undefined };
const reservation = {
  place, resourceId: 'cluster', status: 'confirmed', holdUntil: 0, requestedAt: 1, claimedAt: 0, endedAt: 0, revision: 1, reason: 'free', clientRequestId: '', claimKey: '',
} as const;
const confirmed: ReservationsChange = { kind: 'ReservationsPut', told: [{ fact: 'confirmed', reservation }] };
const offered: ReservationsChange = {
  kind: 'ResourcePut', at: 1, resource: { id: 'cluster', ownerId: 'owner', type: '', kind: 'counted', total: 4, dimension: 'count', rules: openRules },
};

function prepare(t: ExecutionContext) {
  const journal = openJournal<ReservationsChange>({ path: ':memory:', codec: reservationsChangeCodec });
  const stream = new PretendStream();
  const changes = new ChangeSignal();
  const troubles: string[] = [];
  const make = (): EventPublisher => new EventPublisher({
    journal, source: 's', connect: stream.connect, changes, pause: async () => { await turn(); }, onTrouble: (error) => { troubles.push(error === undefined ? 'over' : (error as Error).message); },
  });
  const publisher = make();
  t.teardown(() => publisher.stop());
  const record = (...told: ReservationsChange[]): void => {
    journal.record(told, 5);
    changes.notify();
  };
  const untilKept = async (count: number): Promise<void> => { for (let turns = 0; turns < 500 && stream.ids.length < count; turns += 1) await turn(); };
  return { publisher, make, stream, troubles, record, untilKept };
}

test('each change is published once, in order, with what has become of whom', async (t) => {
  const { publisher, stream, record, untilKept } = prepare(t);
  record(offered);
  publisher.start();
  await untilKept(1);
  record(confirmed, confirmed);
  await untilKept(3);
  t.deepEqual(stream.messages.map(({ subject }) => subject), ['mutirao.events.resource.offered.cluster', 'mutirao.events.reservation.confirmed.7', 'mutirao.events.reservation.confirmed.7']);
  t.deepEqual(stream.ids, ['1', '2', '3']);
  t.like(ReservationEvent.decode(stream.messages[1]?.data ?? new Uint8Array()), { sequence: 2, atUnixMs: 5, type: 'reservation.confirmed', reservation: { reservationId: 7, userId: 'ana', claim: '' } });
  t.is(publisher.lag, 0);
});

test('an outage costs nothing but time, and the next start goes on where this one was', async (t) => {
  const { publisher, make, stream, troubles, record, untilKept } = prepare(t);
  publisher.start();
  record(offered);
  await untilKept(1);
  stream.breakDown();
  record(confirmed);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  t.is(publisher.lag, 1);
  stream.fateOf = () => 'kept';
  stream.isUp = true;
  await untilKept(2);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  t.deepEqual(stream.ids, ['1', '2']);
  t.is(troubles.at(-1), 'over');
  await publisher.stop();
  record(confirmed);
  const next = make();
  next.start();
  await untilKept(3);
  await next.stop();
  t.deepEqual(stream.ids, ['1', '2', '3']);
});

test('a message that was lost is sent again before those after it', async (t) => {
  const { publisher, stream, record, untilKept } = prepare(t);
  let lost = 0;
  stream.fateOf = (message) => (message.headers['ce-id'] === '2' && lost++ === 0 ? 'lost' : 'kept');
  record(offered, confirmed, confirmed, confirmed);
  publisher.start();
  await untilKept(4);
  t.deepEqual(stream.ids, ['1', '2', '3', '4']);
});
