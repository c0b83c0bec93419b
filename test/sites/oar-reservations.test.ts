// Advance reservations of a real OAR: made, moved and deleted, and requests inside them.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { OarManager, type AllocationOrder, type OarOptions, type SiteReservations } from '@mutirao/managers';
import { aReservation, OarServer, siteReservationCases, until } from '@mutirao/testkit';

let server: OarServer;
const user = userInfo().username;
const minute = 60_000;

test.before(async () => {
  server = await OarServer.start();
});
test.after.always(async () => {
  await server.stop();
});
test.afterEach.always(async () => {
  await server.cancelAll();
});

type Reserving = OarManager & { readonly siteReservations: SiteReservations };

function open(t: ExecutionContext, more: Partial<OarOptions> = {}): Reserving {
  const manager = new OarManager({
    user,
    flags: ['-q', 'default', '--notify=exec:/bin/true'],
    requestsMax: 4,
    walltimeMax: 0,
    jobFolder: join(server.folder, 'jobs'),
    deadlineMs: 60_000,
    environment: { ...process.env, ...server.environment },
    now: () => Date.now(),
    reservations: { prefix: 'mutirao_site_', resourceId: 'site' },
    ...more,
  });
  t.teardown(() => {
    manager.close();
  });
  if (manager.siteReservations === undefined) throw new Error('it makes none');
  return manager as Reserving;
}

const order: AllocationOrder = {
  userId: user,
  width: 4,
  walltime: 10 * minute,
  command: ['/bin/sleep', '600'],
  environment: {},
  workingDirectory: '',
  clientRequestId: 'x.q1',
};

/** A full minute in an hour, so that nothing begins during the test. */
const later = (): number => Math.ceil(Date.now() / minute) * minute + 60 * minute;

for (const { title, check } of siteReservationCases) {
  test.serial(`${title} (OAR)`, async (t) => {
    await check(t, { manager: open(t), reopen: () => open(t), userId: user, processors: 8 });
  });
}

test.serial('a reservation is made, listed, moved and removed, whatever the time zone of the provider', async (t) => {
  const environment = { ...process.env, ...server.environment, TZ: 'Asia/Tokyo' };
  const { siteReservations: site } = open(t, { environment });
  t.deepEqual(await site.list(), { reservations: [], granularity: 1 });
  const one = { reservationId: 7, count: 5, startsAt: later(), endsAt: later() + 30 * minute };
  const other = { ...one, reservationId: 8, count: 3 };
  await site.make(one);
  await t.throwsAsync(site.make({ ...one, reservationId: 9, count: 4 }), {
    code: 'MUT_BAD_REQUEST',
    message: /^oarsub: Reservation not valid/,
  });
  await site.make(other);
  t.deepEqual((await site.list()).reservations, [one, other]);
  await t.throwsAsync(site.make({ ...one, reservationId: 9, startsAt: later(), endsAt: later() + minute, count: 1 }), {
    code: 'MUT_BAD_REQUEST',
    message: /cannot have more than 2 waiting advance reservations/,
  });
  const moved = { ...one, startsAt: one.startsAt + 10 * minute, endsAt: one.endsAt + 10 * minute };
  await site.move(moved);
  t.deepEqual((await open(t).siteReservations.list()).reservations, [other, moved], 'there was room for only two');
  const freely = { ...one, startsAt: later() + 120 * minute, endsAt: later() + 150 * minute };
  await site.move(freely);
  t.deepEqual((await site.list()).reservations, [other, freely]);
  await t.throwsAsync(site.move({ ...freely, count: 9 }), { code: 'MUT_BAD_REQUEST', message: /not enough resources/ });
  t.deepEqual((await site.list()).reservations, [other, freely], 'a refused reservation leaves the others');
  await site.remove(7);
  await site.remove(7);
  await site.remove(99);
  t.deepEqual((await site.list()).reservations, [other]);
});

test.serial('one that was made twice, as by a provider that ended in the middle of a move, counts once', async (t) => {
  const one = { reservationId: 7, count: 2, startsAt: later(), endsAt: later() + 30 * minute };
  await open(t).siteReservations.make(one);
  const other = { ...one, count: 3, endsAt: one.endsAt + minute };
  await open(t).siteReservations.make(other);
  const { siteReservations: site } = open(t);
  t.deepEqual((await site.list()).reservations, [other]);
  await until(async () => (await server.jobs()).length === 1, 'the earlier one is deleted', 60_000);
});

test.serial('a request inside a reservation runs in it while others cannot, and ends with it', async (t) => {
  const manager = open(t);
  const startsAt = Math.ceil(Date.now() / 1000) * 1000 + 10_000;
  const endsAt = startsAt + 10 * minute;
  await manager.siteReservations.make({ reservationId: 7, count: 8, startsAt, endsAt });
  const reservation = aReservation(`7:${startsAt}-${endsAt}x8`);
  await t.throwsAsync(manager.allocate({ ...order, reservation: aReservation('99:1000-5000x2') }), {
    code: 'MUT_NO_ROOM',
    message: /no reservation "mutirao_site_99"/,
  });
  await t.throwsAsync(manager.allocate({ ...order, width: 9, reservation }), {
    code: 'MUT_NO_ROOM',
    message: /has 8 processors; 9 do not fit/,
  });
  // Another manager, as after a restart, finds the reservation by its name.
  const id = await open(t).allocate({ ...order, reservation, clientRequestId: 'x.q3' });
  const outside = await manager.allocate({ ...order, clientRequestId: 'x.q4' });
  const getState = async (number: string): Promise<string> =>
    (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === number)?.status ?? 'gone';
  t.is(await getState(id), 'queued', 'it waits for the reservation to begin');
  await until(async () => (await getState(id)) === 'running', 'it runs inside', 3 * minute);
  t.true(Date.now() >= startsAt);
  t.is(await getState(outside), 'queued', 'nothing else runs during a reservation of everything');
  const { processorsFree, requests } = await manager.queue(0);
  t.is(processorsFree, 0);
  t.is(
    requests.reduce((sum, { status, width }) => sum + (status === 'running' ? width : 0), 0),
    8,
    'no processor counts twice',
  );
  const [listed] = (await manager.siteReservations.list()).reservations;
  t.is(listed?.endsAt, endsAt, 'one that begins late ends when it was to');
  await t.throwsAsync(
    manager.siteReservations.move({ reservationId: 7, count: 8, startsAt, endsAt: endsAt + minute }),
    { code: 'MUT_BAD_REQUEST', message: /does not change a reservation that has begun/ },
  );
  await manager.siteReservations.remove(7);
  await until(
    async () => !['running', 'queued'].includes(await getState(id)),
    'what runs inside ends with it',
    2 * minute,
  );
  await until(async () => (await getState(outside)) === 'running', 'the processors are there again', 2 * minute);
});

test.serial('a reservation that should have begun already is made for the rest of its time', async (t) => {
  const { siteReservations: site } = open(t);
  const startsAt = Math.floor(Date.now() / 1000) * 1000 - minute;
  const one = { reservationId: 7, count: 3, startsAt, endsAt: startsAt + 10 * minute };
  await site.make(one);
  const [listed] = (await site.list()).reservations;
  t.like(listed, { reservationId: 7, count: 3, endsAt: one.endsAt });
  t.true((listed?.startsAt ?? Infinity) <= Date.now(), 'it counts as begun');
});
