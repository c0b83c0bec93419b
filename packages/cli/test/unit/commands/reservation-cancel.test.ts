import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { ReservationStatus, type CancelReservationRequest } from '@mutirao/api/reservation';
import { aReservationWire, runCommandLine } from '@mutirao/testkit';

test('each of several cancellations is tried and reported, also after a reservation that does not exist', async (t) => {
  const asked: number[] = [];
  const reservations = {
    listResources: () => Promise.resolve({ resources: [] }),
    cancelReservation: ({ reservationId }: CancelReservationRequest) => {
      asked.push(reservationId);
      if (reservationId > 900)
        return Promise.reject(new MutiraoError('MUT_NOT_FOUND', `there is no reservation ${reservationId}`));
      return Promise.resolve({ reservation: aReservationWire({ reservationId, status: ReservationStatus.CANCELLED }) });
    },
  };
  const { out, err, status } = await runCommandLine(
    ['reservation', 'cancel', '--manager', 'h:1', '--quiet', '3', '998', '2', '999'],
    { reservations },
  );
  t.deepEqual(asked, [3, 998, 2, 999]);
  t.deepEqual(out.trim().split('\n'), ['3', '2']);
  t.regex(err, /MUT_NOT_FOUND .*no reservation 998.*no reservation 999/);
  t.not(status, 0);
});

test('a duration that ends beyond all dates is refused before the manager is called', async (t) => {
  const reservations = {
    requestReservation: () => Promise.reject(new Error('nobody asks')),
    listResources: () => Promise.resolve({ resources: [] }),
  };
  for (const duration of ['2501500000h', '876601h']) {
    const { err, status } = await runCommandLine(
      ['reservation', 'request', '--manager', 'h:1', '--resource', 'alpha', '--count', '1', '--for', duration],
      { reservations },
    );
    t.true(err.startsWith('error: MUT_RESERVATION_TOO_LONG '), err);
    t.not(status, 0);
  }
});
