// Advance reservations of a real Grid Engine: made, moved and deleted, and requests inside them.
import { userInfo } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { GridEngineManager, type SiteReservations } from '@mutirao/managers';
import { aReservation, GridEngineServer, siteReservationCases, until } from '@mutirao/testkit';

let server: GridEngineServer;
const user = userInfo().username;
const minute = 60_000;

test.before(async () => {
  server = await GridEngineServer.start();
});
test.after.always(async () => {
  await server.stop();
});
test.afterEach.always(async () => {
  const numbers = [...(await server.command('qrstat', '-u', '*', '-xml')).matchAll(/<id>(\d+)</g)].map(
    ([, number]) => number ?? '',
  );
  if (numbers.length > 0) await server.command('qrdel', ...numbers).catch(() => undefined);
  await server.cancelAll();
});

function open(t: ExecutionContext): GridEngineManager & { readonly siteReservations: SiteReservations } {
  const manager = new GridEngineManager({
    user,
    queue: 'main.q',
    parallelEnvironment: '',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    jobFolder: join(server.folder, 'jobs'),
    deadlineMs: 60_000,
    environment: { ...process.env, ...server.environment },
    now: () => Date.now(),
    reservations: { prefix: 'mutirao_site_', resourceId: 'site' },
  });
  t.teardown(() => {
    manager.close();
  });
  if (manager.siteReservations === undefined) throw new Error('it makes none');
  return manager as GridEngineManager & { readonly siteReservations: SiteReservations };
}

/** A full minute in an hour, so that nothing begins during the test. */
const later = (): number => Math.ceil(Date.now() / minute) * minute + 60 * minute;

for (const { title, check } of siteReservationCases) {
  test.serial(`${title} (Grid Engine)`, async (t) => {
    await check(t, { manager: open(t), reopen: () => open(t), userId: user, processors: 8 });
  });
}

test.serial('a reservation is made, listed, moved and removed', async (t) => {
  const { siteReservations: site } = open(t);
  t.deepEqual(await site.list(), { reservations: [], granularity: 1 });
  const one = { reservationId: 7, count: 5, startsAt: later(), endsAt: later() + 30 * minute };
  await site.make(one);
  await site.make({ ...one, reservationId: 8, count: 3 });
  t.deepEqual((await site.list()).reservations, [one, { ...one, reservationId: 8, count: 3 }]);
  await t.throwsAsync(site.make({ ...one, reservationId: 9, count: 1 }), {
    code: 'MUT_BAD_REQUEST',
    message: 'qrsub: advance_reservation: no suitable queues',
  });
  const moved = { ...one, startsAt: one.startsAt + 10 * minute, endsAt: one.endsAt + 10 * minute };
  await site.move(moved);
  t.deepEqual(
    (await open(t).siteReservations.list()).reservations,
    [{ ...one, reservationId: 8, count: 3 }, moved],
    'there was no room for both',
  );
  const freely = { ...one, startsAt: later() + 120 * minute, endsAt: later() + 150 * minute };
  await site.move(freely);
  t.deepEqual((await site.list()).reservations, [{ ...one, reservationId: 8, count: 3 }, freely]);
  await t.throwsAsync(site.move({ ...freely, count: 9 }), { code: 'MUT_BAD_REQUEST', message: /no suitable queues/ });
  t.deepEqual(
    (await site.list()).reservations,
    [{ ...one, reservationId: 8, count: 3 }, freely],
    'a refused reservation leaves the others',
  );
  await site.remove(7);
  await site.remove(7);
  await site.remove(99);
  t.deepEqual(
    (await site.list()).reservations.map(({ reservationId }) => reservationId),
    [8],
  );
});

test.serial('one that was made twice, as by a provider that ended in the middle of a move, counts once', async (t) => {
  const one = { reservationId: 7, count: 2, startsAt: later(), endsAt: later() + 30 * minute };
  await open(t).siteReservations.make(one);
  const other = { ...one, count: 3, endsAt: one.endsAt + minute };
  await open(t).siteReservations.make(other);
  const { siteReservations: site } = open(t);
  t.deepEqual((await site.list()).reservations, [other]);
  await until(
    async () => (await server.command('qrstat', '-xml')).match(/<id>/g)?.length === 1,
    'the earlier one is deleted',
  );
});

test.serial('a request inside a reservation runs in it while others cannot, and ends with it', async (t) => {
  const manager = open(t);
  const startsAt = Math.ceil(Date.now() / 1000) * 1000 + 10_000;
  const endsAt = startsAt + 10 * minute;
  await manager.siteReservations.make({ reservationId: 7, count: 8, startsAt, endsAt });
  const order = {
    userId: user,
    width: 4,
    walltime: 10 * minute,
    command: ['/bin/sleep', '600'],
    environment: {},
    workingDirectory: '',
    clientRequestId: 'x.q1',
  };
  await t.throwsAsync(manager.allocate({ ...order, reservation: aReservation('99:1000-5000x2') }), {
    code: 'MUT_NO_ROOM',
    message: /no reservation "mutirao_site_99"/,
  });
  await t.throwsAsync(
    manager.allocate({
      ...order,
      width: 9,
      reservation: aReservation(`7:${startsAt}-${endsAt}x8`),
      clientRequestId: 'x.q2',
    }),
    { code: 'MUT_NO_ROOM' },
  );
  // Another manager, as after a restart, finds the reservation by its name.
  const id = await open(t).allocate({
    ...order,
    reservation: aReservation(`7:${startsAt}-${endsAt}x8`),
    clientRequestId: 'x.q3',
  });
  const outside = await manager.allocate({ ...order, clientRequestId: 'x.q4' });
  const getState = async (number: string): Promise<string> =>
    (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === number)?.status ?? 'gone';
  t.is(await getState(id), 'queued', 'it waits for the reservation to begin');
  await until(async () => (await getState(id)) === 'running', 'it runs inside', 60_000);
  t.true(Date.now() >= startsAt);
  t.is(await getState(outside), 'queued', 'nothing else runs during a reservation of everything');
  t.is((await manager.queue(0)).processorsFree, 0);
  await t.throwsAsync(
    manager.siteReservations.move({ reservationId: 7, count: 8, startsAt, endsAt: endsAt + minute }),
    { code: 'MUT_BAD_REQUEST', message: /does not change a reservation that has begun/ },
  );
  await manager.siteReservations.remove(7);
  await until(async () => !['running', 'queued'].includes(await getState(id)), 'what runs inside ends with it', 60_000);
  await until(async () => (await getState(outside)) === 'running', 'the processors are there again', 60_000);
});

test.serial('whether this account may make reservations is known', async (t) => {
  t.true(await open(t).mayReserve());
  const nobody = new GridEngineManager({
    user: 'nobody',
    queue: 'main.q',
    parallelEnvironment: '',
    flags: [],
    requestsMax: 4,
    walltimeMax: 0,
    jobFolder: join(server.folder, 'jobs'),
    deadlineMs: 60_000,
    environment: { ...process.env, ...server.environment },
    now: () => Date.now(),
  });
  t.teardown(() => {
    nobody.close();
  });
  t.false(await nobody.mayReserve());
  await server.command('qconf', '-au', 'nobody', 'arusers');
  t.true(await nobody.mayReserve());
});
