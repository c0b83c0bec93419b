import test from 'ava';
import { encodeReservationEvents } from '../../../src/events/index.ts';
import { ReservationEvent } from '../../../src/reservation.ts';

const place = {
  id: 7,
  userId: 'ana',
  start: 100,
  end: 200,
  amount: 2,
  resources: [0, 1],
  earliestStart: 100,
  latestEnd: undefined,
};
const reservation = {
  place,
  resourceId: 'cluster',
  status: 'confirmed',
  holdUntil: 0,
  requestedAt: 1,
  claimedAt: 0,
  endedAt: 0,
  revision: 1,
  reason: 'free',
  clientRequestId: '',
  claimKey: '',
} as const;

test('each fact of a change is a message of its own, on a subject that names the fact and whose it is, and holds no claim', (t) => {
  const reported = {
    sequence: 17,
    at: 5,
    events: [
      { type: 'resource.offered', resourceId: 'lab 2/ü', resource: undefined, reservation: undefined, reason: '' },
      { type: 'reservation.confirmed', resourceId: 'cluster', resource: undefined, reservation, reason: '' },
    ],
  } as const;
  const [first, second] = encodeReservationEvents('s', reported);
  t.is(first?.subject, 'mutirao.events.resource.offered.lab_2/_');
  t.like(first?.headers, {
    'ce-id': '17',
    'ce-source': 's',
    'ce-subject': 'resources/lab 2/_',
    'ce-time': '1970-01-01T00:00:00.005Z',
  });
  t.is(second?.subject, 'mutirao.events.reservation.confirmed.7');
  t.is(second?.messageId, 's#17.1');
  t.like(ReservationEvent.decode(second?.data ?? new Uint8Array()), {
    sequence: 17,
    atUnixMs: 5,
    type: 'reservation.confirmed',
    reservation: { reservationId: 7, userId: 'ana', claim: '' },
  });
  t.deepEqual(encodeReservationEvents('s', reported)[1]?.data, second?.data, 'byte for byte the same');
});
