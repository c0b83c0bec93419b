// A reservation manager that listens for other hosts: users come by TLS with identities of their own, reserve for
// themselves, and one who is revoked is out.
import { mkdtempSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Algorithm, Placement, ReservationServiceClient, Timing, type Reservation } from '@mutirao/api/reservation';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { identityFolder, initIdentity, issueIdentity, revokeSerial, userTrust } from '@mutirao/runtime/identity';
import { callUnary, dial, listMessages } from '@mutirao/runtime/rpc';
import { Program, temporaryFolder, until } from '@mutirao/testkit';

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
const found = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4');
const host = found === undefined ? 'tls://127.0.0.1' : found.address;
const home = mkdtempSync(join(tmpdir(), 'mutirao-reservation-users-'));
const manager = new Program('reservations', ['--home', home, '--listen', `${host}:0`], {});

test.serial.before(async () => {
  await initIdentity({
    folder: identityFolder(home),
    user: userInfo().username,
    hosts: [],
    lasts: 24 * hour,
    now: Date.now(),
  });
  await manager.start();
  const owner = ownerClient();
  await callUnary(
    owner,
    'registerResource',
    { resourceId: 'cluster', resourceType: 'processors', quantity: '4', rules },
    limits,
  );
  owner.close();
});

test.serial.after.always(async () => {
  await manager.kill();
  rmSync(home, { recursive: true, force: true });
});

/** A client that speaks for whoever has a home folder, with its token and its identity where it has them. */
function connect(folder: string, token = ''): ReservationServiceClient {
  return dial(ReservationServiceClient, manager.address, { token, trust: userTrust(folder, {}) });
}

function ownerClient(): ReservationServiceClient {
  return connect(home, readToken(tokenPath(home)));
}

/**
 * The client of a user with a home of her own, into which she has put the identity that she was given, and that
 * identity's serial number.
 */
async function getClient(
  t: ExecutionContext,
  user: string,
): Promise<{ readonly client: ReservationServiceClient; readonly serial: string }> {
  const folder = temporaryFolder(t);
  const issued = await issueIdentity({
    folder: identityFolder(home),
    out: identityFolder(folder),
    hosts: [],
    user,
    lasts: 24 * hour,
    now: Date.now(),
  });
  const client = connect(folder);
  t.teardown(() => {
    client.close();
  });
  return { client, serial: issued.user?.serial ?? '' };
}

async function reserve(client: ReservationServiceClient, key: string): Promise<Reservation> {
  const spec = {
    resourceId: 'cluster',
    amount: { $case: 'quantity', value: '1' } as const,
    durationMs: hour,
    earliestStartUnixMs: undefined,
    latestEndUnixMs: Date.now() + 8 * hour,
    timing: Timing.ON_DEMAND,
  };
  const { outcome } = await callUnary(
    client,
    'requestReservation',
    { spec, clientRequestId: key, holdMs: 0, dryRun: false },
    limits,
  );
  if (outcome?.$case !== 'reservation') throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.value;
}

async function listedBy(client: ReservationServiceClient, allUsers: boolean): Promise<number[]> {
  const query = {
    pageSize: 0,
    beforeReservationId: 0,
    resourceId: 'cluster',
    statuses: [],
    fromUnixMs: 0,
    untilUnixMs: 0,
    allUsers,
  };
  return (await callUnary(client, 'listReservations', query, limits)).reservations.map(
    ({ reservationId }) => reservationId,
  );
}

test.serial(
  "each user reserves for herself: another neither sees, cancels nor uses what is hers, and the resource is its owner's",
  async (t) => {
    const { client: maria } = await getClient(t, 'maria');
    const { client: joao } = await getClient(t, 'joao');
    const hers = await reserve(maria, 'one');
    t.is(hers.userId, 'maria');
    const his = await reserve(joao, 'one');
    t.not(his.reservationId, hers.reservationId, "a key is its user's");
    const id = { reservationId: hers.reservationId };
    const verify = { claim: hers.claim, resourceId: 'cluster' };
    const refusals: Readonly<Record<string, () => Promise<unknown>>> = {
      get: () => callUnary(joao, 'getReservation', id, limits),
      cancel: () => callUnary(joao, 'cancelReservation', { ...id, reason: 'mine now' }, limits),
      release: () => callUnary(joao, 'releaseReservation', id, limits),
      confirm: () => callUnary(joao, 'confirmReservation', id, limits),
    };
    for (const [name, call] of Object.entries(refusals)) await t.throwsAsync(call(), { code: 'MUT_NOT_OWNER' }, name);
    t.deepEqual(await listedBy(joao, false), [his.reservationId]);
    await t.throwsAsync(
      callUnary(
        joao,
        'claimReservation',
        { ...verify, userId: '', clientRequestId: 'use', reservationId: hers.reservationId },
        limits,
      ),
      { code: 'MUT_CLAIM_NOT_YOURS' },
    );
    await t.throwsAsync(
      callUnary(joao, 'registerResource', { resourceId: 'disk', resourceType: 'disk', quantity: '2', rules }, limits),
      { code: 'MUT_NOT_OWNER' },
    );
    await t.throwsAsync(callUnary(joao, 'updateResource', { resourceId: 'cluster', rules }, limits), {
      code: 'MUT_NOT_OWNER',
    });
    const owner = ownerClient();
    t.teardown(() => {
      owner.close();
    });
    t.deepEqual((await listedBy(owner, true)).sort(), [hers.reservationId, his.reservationId].sort());
    t.like(await callUnary(owner, 'verifyReservation', { ...verify, userId: 'maria' }, limits), { valid: true });
    t.like(await callUnary(owner, 'verifyReservation', { ...verify, userId: 'joao' }, limits), {
      valid: false,
      code: 'MUT_CLAIM_NOT_YOURS',
    });
    t.is(
      (
        await callUnary(
          maria,
          'claimReservation',
          { ...verify, userId: '', clientRequestId: 'use', reservationId: hers.reservationId },
          limits,
        )
      ).reservation?.reservationId,
      hers.reservationId,
    );
  },
);

test.serial("without an identity, or with the owner's token alone, nobody gets in", async (t) => {
  const foreign = temporaryFolder(t);
  await initIdentity({ folder: identityFolder(foreign), user: 'maria', hosts: [], lasts: hour, now: Date.now() });
  for (const [who, folder, code] of [
    ['a user of another authority', foreign, 'MUT_UNTRUSTED'],
    ['nobody', temporaryFolder(t), 'MUT_BAD_CONFIG'],
  ] as const) {
    await t.throwsAsync(
      async () => {
        const client = connect(folder, readToken(tokenPath(home)));
        t.teardown(() => {
          client.close();
        });
        await callUnary(client, 'listResources', {}, { deadlineMs: 60_000 });
      },
      { code },
      who,
    );
  }
});

test.serial('a user who is revoked receives nothing further from her watches, and gets in nowhere', async (t) => {
  const { client, serial } = await getClient(t, 'rosa');
  const { reservationId } = await reserve(client, 'watched');
  const reported: string[] = [];
  const watching = (async () => {
    for await (const { events } of listMessages(
      client.watchReservations({ reservationId: 0, afterSequence: 0, onlyNew: false }),
    ))
      reported.push(...events.map(({ type }) => type));
  })();
  watching.catch(() => undefined);
  await until(() => reported.includes('reservation.confirmed'), 'her reservation is reported');
  revokeSerial(identityFolder(home), serial, 'left the lab');
  await t.throwsAsync(watching, { code: 'MUT_UNAUTHENTICATED' });
  await t.throwsAsync(callUnary(client, 'getReservation', { reservationId }, limits), { code: 'MUT_UNAUTHENTICATED' });
});
