import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { ReservationStatus } from '@mutirao/api/reservation';
import { runCommandLine } from '@mutirao/testkit';

/** A manager with one reservation, which records the claims that it is shown and refuses those that are not its own. */
function getManager(status: ReservationStatus, claim: string) {
  const shown: string[] = [];
  const reservation = {
    reservationId: 7,
    resourceId: 'cluster',
    userId: 'ana',
    status,
    startUnixMs: 0,
    endUnixMs: 9000,
    amount: 1,
    units: [],
    together: undefined,
    provisioning: undefined,
    earliestStartUnixMs: 0,
    latestEndUnixMs: undefined,
    holdUntilUnixMs: 0,
    requestedUnixMs: 0,
    claimedUnixMs: 0,
    endedUnixMs: 0,
    revision: 1,
    reason: { code: '', parameters: {}, text: 'rain' },
    clientRequestId: '',
    claim,
  };
  const show = (text: string): void => {
    shown.push(text);
    if (text !== claim || claim === '')
      throw new MutiraoError('MUT_CLAIM_FORGED', 'the claim is not signed by this manager');
  };
  return {
    shown,
    getReservation: () => Promise.resolve({ reservation }),
    listResources: () => Promise.resolve({ resources: [] }),
    claimReservation: ({ claim: text }: { claim: string }) => (show(text), Promise.resolve({ reservation })),
    verifyReservation: ({ claim: text }: { claim: string }) => (
      show(text), Promise.resolve({ valid: true, code: '', message: '', presentClaim: '', reservation })
    ),
  };
}

test('a reservation without a claim is reported as such, and not as a forgery', async (t) => {
  const cases: [ReservationStatus, string][] = [
    [ReservationStatus.HELD, 'MUT_CLAIM_UNCONFIRMED'],
    [ReservationStatus.CANCELLED, 'MUT_RESERVATION_OVER'],
    [ReservationStatus.RELEASED, 'MUT_RESERVATION_OVER'],
    [ReservationStatus.EXPIRED, 'MUT_CLAIM_LATE'],
    [ReservationStatus.CONFIRMED, 'MUT_CLAIM_NOT_YOURS'],
  ];
  for (const [status, code] of cases) {
    for (const verb of ['claim', 'verify']) {
      const manager = getManager(status, '');
      const { err } = await runCommandLine(['reservation', verb, '7', '--manager', 'h:1'], { reservations: manager });
      t.true(err.startsWith(`error: ${code} `), err);
      t.deepEqual(manager.shown, []);
    }
  }
});

test('a claim is shown by the number of its reservation, or as it is', async (t) => {
  for (const verb of ['claim', 'verify']) {
    for (const text of ['7', 'a.b.c']) {
      const manager = getManager(ReservationStatus.CONFIRMED, 'a.b.c');
      t.is(
        (await runCommandLine(['reservation', verb, text, '--manager', 'h:1'], { reservations: manager })).status,
        0,
      );
      t.deepEqual(manager.shown, ['a.b.c']);
    }
  }
});
