import test from 'ava';
import { ReservationStatus, ResourceKind, type RequestReservationRequest } from '@mutirao/api/reservation';
import { aReservationWire, runCommandLine } from '@mutirao/testkit';

const net = {
  resourceId: 'net',
  ownerId: 'ana',
  resourceType: 'network',
  kind: ResourceKind.CAPACITY,
  total: 800_000,
  unit: 'B/s',
  rules: undefined,
  failed: 0,
  failedUnits: [],
  maintenances: [],
  reservationCount: 0,
};

/** A manager that answers each request with the same reservation. */
function getManager(reservation: ReturnType<typeof aReservationWire>) {
  const asked: RequestReservationRequest[] = [];
  return {
    asked,
    listResources: () => Promise.resolve({ resources: [net] }),
    requestReservation: (request: RequestReservationRequest) => (
      asked.push(request),
      Promise.resolve({ outcome: { $case: 'reservation' as const, value: reservation }, movedCount: 0 })
    ),
  };
}

const words = ['reservation', 'request', '--manager', 'h:1', '--for', '1h', '--key', 'k'];

test('a key whose reservation is over is reported as such, with the unit of its own resource, and not as a success', async (t) => {
  for (const status of [ReservationStatus.CANCELLED, ReservationStatus.EXPIRED, ReservationStatus.RELEASED]) {
    const reservations = getManager(
      aReservationWire({
        resourceId: 'net',
        status,
        amount: 200_000,
        reason: { code: '', parameters: {}, text: 'rain' },
      }),
    );
    const {
      out,
      err,
      status: exit,
    } = await runCommandLine([...words, '--resource', 'cluster', '--count', '4'], { reservations });
    t.is(exit, 3);
    t.regex(out, /amount +200 KB\/s/);
    t.regex(err, /^Reservation \d+ is (cancelled|expired|released): rain\. Another key asks for a new one\.$/m);
    const { out: json } = await runCommandLine([...words, '--resource', 'net', '--share', '4%', '--json'], {
      reservations,
    });
    t.like(JSON.parse(json), { placed: false });
  }
  const { status, err } = await runCommandLine([...words, '--resource', 'net', '--share', '4%'], {
    reservations: getManager(aReservationWire({ status: ReservationStatus.CLAIMED })),
  });
  t.deepEqual([status, err], [0, '']);
});

test('units of a single capacity are refused before the manager is called, with advice', async (t) => {
  for (const much of [
    ['--count', '4'],
    ['--processors', '2..8'],
  ]) {
    const reservations = getManager(aReservationWire({}));
    const { status, err } = await runCommandLine([...words, '--resource', 'net', ...much], { reservations });
    t.regex(
      err,
      new RegExp(
        `^error: MUT_UNKNOWN_UNIT ${much.join(' is ')}, but net is measured in B/s; expected --share ` +
          '30%, or --capacity as in 200KB/s',
      ),
    );
    t.not(status, 0);
    t.deepEqual(reservations.asked, []);
  }
});
