// Follows a reservation manager that stands in for a real one, and verifies claims that are really signed; time passes
// when the test says so.
import { setImmediate as turn } from 'node:timers/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ProvisioningState, ReservationStatus } from '@mutirao/api/reservation';
import type { ReservedWindow } from '@mutirao/core/messages';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { quietLogger } from '@mutirao/runtime/log';
import { ReservationClient, type ReservationClientOptions } from '@mutirao/runtime/reservations';
import { aReservationWire, FakeReservations, temporaryFolder } from '@mutirao/testkit';

interface Scene {
  readonly manager: FakeReservations;
  readonly client: ReservationClient;
  /** The last report, and the number of reports. */
  readonly reported: { last: readonly ReservedWindow[] | undefined; count: number };
  /** What was warned of. */
  readonly warnings: string[];
  readonly folder: string;
  /** Ends each wait that has begun, and lets what follows from that happen. */
  wake(): Promise<void>;
}

/** Lets all happen that needs no time. */
async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await turn();
}

function open(t: ExecutionContext, parts: Partial<ReservationClientOptions> = {}, folder = temporaryFolder(t)): Scene {
  const manager = new FakeReservations(openClaimSigner(join(folder, 'claim-key.pem'), 'local'));
  const reported: Scene['reported'] = { last: undefined, count: 0 };
  const warnings: string[] = [];
  const sleepers = new Set<() => void>();
  const log = {
    ...quietLogger,
    warn: (_facts: unknown, message?: string) => {
      warnings.push(message ?? '');
    },
  };
  const client = new ReservationClient({
    address: 'h:1',
    resourceId: 'alpha',
    processors: 16,
    token: () => 'secret',
    keysPath: join(folder, 'claim-keys.json'),
    log,
    now: () => 0,
    connect: () => manager.connect(),
    sleep: (_delay, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        sleepers.add(resolve);
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
    onReported: (windows) => {
      reported.last = windows;
      reported.count += 1;
    },
    ...parts,
  });
  t.teardown(() => client.stop());
  const wake = async (): Promise<void> => {
    for (const end of sleepers) end();
    sleepers.clear();
    await settle();
  };
  return { manager, client, reported, warnings, folder, wake };
}

const use7 = { reservationId: 7, userId: 'ana' };
const window7 = { reservationId: 7, userId: 'ana', count: 2, startsAt: 1000, endsAt: 5000 };

test("a use that begins a moment before the manager's start is reported again, with the same key, until the manager takes it", async (t) => {
  const { manager, client, warnings, wake } = open(t, { kind: 'provider' });
  manager.reservations = [aReservationWire()];
  client.start();
  await settle();
  await client.admit(manager.claim(), 'ana');
  manager.refusals = ['MUT_CLAIM_EARLY', 'MUT_CLAIM_EARLY', 'MUT_UNREACHABLE'];
  client.noteUse(use7);
  await settle();
  t.is(manager.shown.length, 1);
  for (let count = 2; count <= 4; count += 1) {
    await wake();
    t.is(manager.shown.length, count);
  }
  await wake();
  t.is(manager.shown.length, 4, 'an accepted report is not repeated');
  t.deepEqual(new Set(manager.shown.map((one) => JSON.stringify(one))).size, 1);
  t.like(manager.shown[0], {
    claim: manager.claim(),
    resourceId: 'alpha',
    userId: 'ana',
    clientRequestId: 'provider alpha',
    reservationId: 7,
  });
  t.deepEqual(warnings, []);
});

test('changes of windows are reported, and no others', async (t) => {
  const { manager, client, reported } = open(t);
  manager.reservations = [aReservationWire()];
  client.start();
  await settle();
  const before = reported.count;
  manager.report(aReservationWire({ status: ReservationStatus.CLAIMED }));
  await settle();
  t.is(reported.count, before);
  manager.report(aReservationWire({ endUnixMs: 4000 }));
  await settle();
  t.deepEqual([reported.count, reported.last], [before + 1, [{ ...window7, endsAt: 4000 }]]);
});

test('provisioning is reported until the manager answers, only the latest status of each reservation, and a permanent refusal drops it with a warning', async (t) => {
  const { manager, client, warnings, wake } = open(t, { kind: 'provider' });
  const ahead = {
    status: 'queued',
    heldCount: 0,
    askedCount: 2,
    askAt: 0,
    expectedAt: 0,
    chance: undefined,
    reasons: [],
  } as const;
  manager.refusals = ['MUT_UNREACHABLE', 'MUT_NOT_OWNER'];
  client.noteProvisioning(7, ahead);
  await settle();
  client.noteProvisioning(7, { ...ahead, status: 'held', heldCount: 2, askedCount: 0 });
  client.noteProvisioning(8, ahead);
  t.deepEqual(
    manager.aheads.map(({ provisioning }) => provisioning?.status),
    [ProvisioningState.QUEUED],
  );
  await wake();
  t.deepEqual(
    manager.aheads.slice(1).map(({ reservationId, provisioning }) => [reservationId, provisioning?.status]),
    [
      [7, ProvisioningState.HELD],
      [8, ProvisioningState.QUEUED],
    ],
  );
  t.deepEqual(warnings, ['cannot report pre-acquired allocations to the reservation manager']);
  client.noteProvisioning(7, ahead);
  client.noteProvisioning(7, { ...ahead, status: 'lost' });
  await settle();
  t.deepEqual(
    manager.aheads.slice(3).map(({ provisioning }) => provisioning?.status),
    [ProvisioningState.QUEUED, ProvisioningState.LOST],
    'a change during the report is reported too',
  );
});

test('a use that the manager refuses for good is reported once, and its owner is warned', async (t) => {
  const { manager, client, warnings, wake } = open(t);
  await client.admit(manager.claim(), 'ana');
  manager.refusals = ['MUT_CLAIM_LATE'];
  client.noteUse(use7);
  await settle();
  await wake();
  t.is(manager.shown.length, 1);
  t.deepEqual(warnings, ['cannot report to the reservation manager that a reservation is in use']);
});

test('a reservation that moved between the showing of its claim and its use is reported with the claim that replaced the first', async (t) => {
  const { manager, client, warnings, wake } = open(t);
  await client.admit(manager.claim(), 'ana');
  const moved = manager.claim(aReservationWire({ endUnixMs: 9000, revision: 2 }));
  manager.verify = () => ({ code: 'MUT_CLAIM_SUPERSEDED', presentClaim: moved });
  manager.refusals = ['MUT_CLAIM_SUPERSEDED'];
  client.noteUse(use7);
  await settle();
  await wake();
  t.deepEqual(
    manager.shown.map(({ claim, userId }) => [claim, userId]),
    [
      [manager.claim(), 'ana'],
      [moved, 'ana'],
    ],
  );
  t.deepEqual(warnings, []);
});

test('a use is reported by number with each new connection, also without its claim, until the manager knows of it', async (t) => {
  const { manager, client, wake } = open(t, {
    inUse: () => [use7, { reservationId: 8, userId: 'bob' }, { reservationId: 9, userId: 'eve' }],
  });
  manager.reservations = [
    aReservationWire(),
    aReservationWire({ reservationId: 8, userId: 'bob', status: ReservationStatus.CLAIMED }),
  ];
  client.start();
  await settle();
  const reported = {
    claim: '',
    resourceId: 'alpha',
    userId: 'ana',
    clientRequestId: 'cluster alpha',
    reservationId: 7,
  };
  t.deepEqual(manager.shown, [reported], 'a use that the manager knows, or of a reservation it lacks, is not reported');
  manager.leave();
  manager.isAway = false;
  await settle();
  await wake();
  t.deepEqual(manager.shown, [reported, reported]);
  manager.reservations = [aReservationWire({ status: ReservationStatus.CLAIMED })];
  manager.leave();
  manager.isAway = false;
  await settle();
  await wake();
  t.is(manager.shown.length, 2);
});

test('a reservation in use that the manager reports as unused is reported again, and nothing else with it', async (t) => {
  const { manager, client } = open(t, { inUse: () => [use7, { reservationId: 8, userId: 'bob' }] });
  manager.reservations = [
    aReservationWire({ status: ReservationStatus.CLAIMED }),
    aReservationWire({ reservationId: 8, userId: 'bob' }),
  ];
  client.start();
  await settle();
  t.deepEqual(
    manager.shown.map(({ reservationId }) => reservationId),
    [8],
  );
  manager.report(aReservationWire({ revision: 2 }));
  await settle();
  t.deepEqual(
    manager.shown.map(({ reservationId }) => reservationId),
    [8, 7],
  );
});

test('while a use is being reported, it is not reported a second time', async (t) => {
  const { manager, client, wake } = open(t);
  manager.refusals = ['MUT_CLAIM_EARLY'];
  client.noteUse(use7);
  client.noteUse(use7);
  await settle();
  t.is(manager.shown.length, 1);
  await wake();
  t.is(manager.shown.length, 2);
});

test('a stopped client reports no use again', async (t) => {
  const { manager, client, wake } = open(t);
  await client.admit(manager.claim(), 'ana');
  manager.refusals = ['MUT_CLAIM_EARLY', 'MUT_CLAIM_EARLY'];
  client.noteUse(use7);
  await settle();
  await client.stop();
  await wake();
  t.is(manager.shown.length, 1);
});

test('the claim of a reservation that has moved since is as good as the one that took its place', async (t) => {
  const { manager, client } = open(t);
  const [first, moved] = [
    manager.claim(),
    manager.claim(aReservationWire({ startUnixMs: 2000, endUnixMs: 9000, amount: 3, revision: 2 })),
  ];
  manager.verify = ({ claim }) =>
    claim === first
      ? { code: 'MUT_CLAIM_SUPERSEDED', message: 'it has moved', presentClaim: moved }
      : { code: 'MUT_CLAIM_EARLY' };
  t.deepEqual(await client.admit(first, 'ana'), {
    reservationId: 7,
    userId: 'ana',
    count: 3,
    startsAt: 2000,
    endsAt: 9000,
  });
  client.noteUse(use7);
  await settle();
  t.is(manager.shown[0]?.claim, moved);
});

test("a claim that took another's place is looked at as any other, and without one the refusal stands", async (t) => {
  const { manager, client } = open(t);
  const refused = { code: 'MUT_CLAIM_SUPERSEDED', message: 'it has moved' };
  manager.verify = () => refused;
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_CLAIM_SUPERSEDED' });
  manager.verify = ({ claim }) => ({ ...refused, presentClaim: claim });
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_CLAIM_SUPERSEDED' });
  manager.verify = () => ({
    ...refused,
    presentClaim: manager.claim(aReservationWire({ userId: 'bob', revision: 2 })),
  });
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_CLAIM_NOT_YOURS' });
  manager.verify = () => ({ ...refused, presentClaim: 'no claim' });
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_CLAIM_FORGED' });
});

test('a claim is refused for what it says before the manager is asked', async (t) => {
  const { manager, client } = open(t, { now: () => 4999 });
  manager.verify = () => {
    throw new Error('nobody asks');
  };
  const refusals: [Partial<ReturnType<typeof aReservationWire>>, string][] = [
    [{ resourceId: 'beta' }, 'MUT_CLAIM_ELSEWHERE'],
    [{ userId: 'bob' }, 'MUT_CLAIM_NOT_YOURS'],
  ];
  for (const [parts, code] of refusals)
    await t.throwsAsync(client.admit(manager.claim(aReservationWire(parts)), 'ana'), { code });
  await t.throwsAsync(client.admit(`${manager.claim()}x`, 'ana'), { code: 'MUT_CLAIM_FORGED' });
});

test('a claim whose dates are over is good where its reservation has moved since, and late where it has not, or where nobody answers', async (t) => {
  const { manager, client } = open(t, { now: () => 5000 });
  const [first, moved] = [
    manager.claim(aReservationWire({ endUnixMs: 4999 })),
    manager.claim(aReservationWire({ startUnixMs: 6000, endUnixMs: 9000, revision: 2 })),
  ];
  manager.verify = ({ claim }) =>
    claim === first
      ? { code: 'MUT_CLAIM_SUPERSEDED', message: 'it has moved', presentClaim: moved }
      : { code: 'MUT_CLAIM_EARLY' };
  t.like(await client.admit(first, 'ana'), { startsAt: 6000, endsAt: 9000 });
  manager.verify = () => ({ code: 'MUT_CLAIM_LATE', message: 'it ended' });
  await t.throwsAsync(client.admit(first, 'ana'), { code: 'MUT_CLAIM_LATE' });
  manager.isAway = true;
  await t.throwsAsync(client.admit(first, 'ana'), { code: 'MUT_CLAIM_LATE' });
});

test('a claim is good by its signature while the manager is away, if its keys are known', async (t) => {
  const { manager, client, warnings, folder } = open(t);
  manager.isAway = true;
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_UNREACHABLE' });
  manager.isAway = false;
  await client.admit(manager.claim(), 'ana');
  manager.isAway = true;
  t.deepEqual(await client.admit(manager.claim(), 'ana'), window7);
  t.deepEqual(warnings, ['the reservation manager does not answer; accepting the claim because of its signature']);
  // The keys are kept: a desk that begins again knows them.
  const later = open(t, {}, folder);
  later.manager.isAway = true;
  t.deepEqual(await later.client.admit(manager.claim(), 'ana'), window7);
});

test('a refusal of the manager is reported, and a claim that is only early is not refused', async (t) => {
  const { manager, client } = open(t);
  manager.verify = () => ({ code: 'MUT_RESERVATION_OVER', message: 'cancelled' });
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_RESERVATION_OVER' });
  manager.verify = () => ({ code: 'MUT_CLAIM_EARLY', message: 'begins in 1 s' });
  t.deepEqual(await client.admit(manager.claim(), 'ana'), window7);
});

test('the reservations of the resource are reported when they are known, and with each change', async (t) => {
  const { manager, client, reported } = open(t, { now: () => 500 });
  manager.reservations = [
    aReservationWire(),
    aReservationWire({ reservationId: 8, status: ReservationStatus.HELD }),
    aReservationWire({ reservationId: 9, startUnixMs: 100, endUnixMs: 500 }),
  ];
  client.start();
  await settle();
  t.deepEqual(
    reported.last?.map(({ reservationId }) => reservationId),
    [7, 8],
  );
  t.like(manager.registered[0], { resourceId: 'alpha', quantity: '16', resourceType: 'processors' });
  manager.report(aReservationWire({ startUnixMs: 2000 }));
  manager.report(aReservationWire({ reservationId: 8, status: ReservationStatus.EXPIRED }));
  manager.report(aReservationWire({ reservationId: 10, resourceId: 'beta' }));
  await settle();
  t.deepEqual(reported.last, [{ ...window7, startsAt: 2000 }]);
  t.is(reported.count, 3, "another resource's is nobody's news here");
});

test('a client that follows no holds receives a reservation when it is confirmed', async (t) => {
  const { manager, client, reported } = open(t, { reportsHolds: false });
  manager.reservations = [aReservationWire({ status: ReservationStatus.HELD })];
  client.start();
  await settle();
  t.deepEqual(reported.last, []);
  manager.report(aReservationWire());
  await settle();
  t.deepEqual(reported.last, [window7]);
});

test('the last report stands while the manager is away, and everything is read again when it is back', async (t) => {
  const { manager, client, reported, warnings, wake } = open(t);
  manager.reservations = [aReservationWire()];
  client.start();
  await settle();
  manager.leave();
  await settle();
  await wake();
  await wake();
  t.deepEqual(reported.last, [window7]);
  t.deepEqual(warnings, ['the reservation manager is unreachable; keeping its last known reservations']);
  manager.isAway = false;
  manager.reservations = [aReservationWire({ reservationId: 11 })];
  await wake();
  t.deepEqual(reported.last, [{ ...window7, reservationId: 11 }]);
});

test('a manager with other keys than it had is not followed', async (t) => {
  const { manager, client, reported, wake, warnings } = open(t);
  manager.reservations = [aReservationWire()];
  client.start();
  await settle();
  manager.leave();
  manager.signer = openClaimSigner(join(temporaryFolder(t), 'claim-key.pem'), 'local');
  manager.isAway = false;
  manager.reservations = [];
  await settle();
  await wake();
  t.deepEqual(reported.last, [window7]);
  t.is(warnings.length, 1);
  await t.throwsAsync(client.admit(manager.claim(), 'ana'), { code: 'MUT_CLAIM_FORGED' });
});

test('a manager whose pages lead back to each other, or that lists impossible reservations, leaves its earlier report in force', async (t) => {
  const { manager, client, reported, warnings, wake } = open(t, { now: () => 500 });
  manager.reservations = [aReservationWire()];
  client.start();
  await settle();
  t.is(reported.count, 1);
  for (const page of [
    { reservations: [], nextBeforeReservationId: 5 },
    { reservations: [aReservationWire({ amount: 2 ** 40 })], nextBeforeReservationId: 0 },
  ]) {
    manager.forged = new Map([['listReservations', page]]);
    manager.leave();
    await settle();
    manager.isAway = false;
    await wake();
    t.is(reported.count, 1);
    t.is(warnings.at(-1), 'the reservation manager is unreachable; keeping its last known reservations');
  }
  manager.forged = new Map();
  await wake();
  t.deepEqual(reported.last, [window7]);
});
