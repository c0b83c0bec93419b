// Keeps the reservations of a manager that stands in for a real one at a site that does, with the real machine and
// journal.
import { setImmediate as turn } from 'node:timers/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { sayReason } from '@mutirao/api/reasons';
import { ReservationStatus, type Reservation } from '@mutirao/api/reservation';
import type { ClaimedReservation, SiteReservation } from '@mutirao/core/messages';
import type { SiteReservations } from '@mutirao/managers';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { quietLogger } from '@mutirao/runtime/log';
import { aReservationWire, HandTimers, FakeReservations, temporaryFolder } from '@mutirao/testkit';
import { ReservationSync, type ReservationSyncOptions } from '../../../src/reservations/reservation-sync.ts';

/** Far away, for the keeper goes by the system's clock. */
const [startUnixMs, endUnixMs] = [4_000_000_000_000, 4_000_003_600_000];
const reserved = (parts: Partial<Reservation> = {}): Reservation =>
  aReservationWire({ startUnixMs, endUnixMs, ...parts });

class FakeSite implements SiteReservations {
  readonly made = new Map<number, SiteReservation>();
  readonly done: string[] = [];
  /** Why it makes none; empty while it does. */
  refusal = '';
  isDown = false;
  callCount = 0;
  callCountMax = 0;

  async list(): ReturnType<SiteReservations['list']> {
    return this.#call(() => {
      if (this.isDown) throw new MutiraoError('MUT_UNREACHABLE', 'no controller');
      return { reservations: [...this.made.values()], granularity: 1 };
    });
  }

  make(reservation: SiteReservation): Promise<void> {
    return this.#call(() => {
      this.done.push(`make ${reservation.reservationId} x${reservation.count}`);
      if (this.refusal !== '') throw new MutiraoError('MUT_NO_ROOM', this.refusal);
      this.made.set(reservation.reservationId, reservation);
    });
  }

  move(reservation: SiteReservation): Promise<void> {
    return this.#call(() => {
      this.done.push(`move ${reservation.reservationId}`);
      this.made.set(reservation.reservationId, reservation);
    });
  }

  remove(reservationId: number): Promise<void> {
    return this.#call(() => {
      this.done.push(`remove ${reservationId}`);
      this.made.delete(reservationId);
    });
  }

  async #call<T>(act: () => T): Promise<T> {
    this.callCount += 1;
    this.callCountMax = Math.max(this.callCountMax, this.callCount);
    await turn();
    this.callCount -= 1;
    return act();
  }
}

async function settle(): Promise<void> {
  for (let round = 0; round < 60; round += 1) await turn();
}

function open(
  t: ExecutionContext,
  folder = temporaryFolder(t),
  site = new FakeSite(),
  inUse: NonNullable<ReservationSyncOptions['inUse']> = () => [],
) {
  const manager = new FakeReservations(openClaimSigner(join(folder, 'claim-key.pem'), 'local'));
  const timers = new HandTimers();
  const reservationSync = new ReservationSync({
    address: 'h:1',
    resourceId: 'alpha',
    token: () => 'secret',
    directory: folder,
    site,
    interval: 10_000,
    log: quietLogger,
    timers,
    processors: () => Promise.resolve(8),
    connect: () => manager.connect(),
    inUse,
    sleep: (_delay, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => {
          resolve();
        });
      }),
    onFatal: (error) => {
      t.fail(String(error));
    },
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await reservationSync.stop();
    isStopped = true;
  };
  t.teardown(stop);
  const shown = (reservation = reserved()): ClaimedReservation => ({
    claim: manager.claim(reservation),
    reservationId: reservation.reservationId,
    revision: 1,
    resourceId: 'alpha',
    userId: 'ana',
    startsAt: startUnixMs,
    endsAt: endUnixMs,
    amount: 2,
    units: [],
  });
  return { manager, site, reservationSync, timers, folder, shown, stop };
}

test('what is confirmed the site keeps, and what is only held it does not', async (t) => {
  const { manager, site, reservationSync, shown } = open(t);
  manager.reservations = [reserved(), reserved({ reservationId: 8, status: ReservationStatus.HELD })];
  reservationSync.start();
  await settle();
  t.deepEqual(site.done, ['make 7 x2']);
  t.deepEqual(reservationSync.describe(), [
    { code: 'reservations-guaranteed', guaranteedReservations: 1, reservations: 1 },
  ]);
  t.like(manager.registered[0], { resourceId: 'alpha', quantity: '8' });
  await reservationSync.admit(shown());
  reservationSync.noteUse({ reservationId: 7, userId: 'ana' });
  await settle();
  t.like(manager.shown[0], { clientRequestId: 'provider alpha', resourceId: 'alpha' });
  manager.report(reserved({ endUnixMs: endUnixMs + 60_000, revision: 2 }));
  await settle();
  manager.report(reserved({ status: ReservationStatus.CANCELLED }));
  await settle();
  t.deepEqual(site.done, ['make 7 x2', 'move 7', 'remove 7']);
  t.is(site.callCountMax, 1, 'the site is asked one thing at a time');
});

test("a claim is admitted only if the site has what it promises, and its refusal carries the site's words", async (t) => {
  const { manager, site, reservationSync, shown, timers } = open(t);
  await t.throwsAsync(reservationSync.admit(shown()), { code: 'MUT_NO_ROOM', message: /not known yet/ });
  manager.reservations = [reserved()];
  site.refusal = 'Requested nodes are busy';
  reservationSync.start();
  await settle();
  await t.throwsAsync(reservationSync.admit(shown()), {
    code: 'MUT_NO_ROOM',
    message: /not guaranteed by the site: .*Requested nodes are busy/,
  });
  t.regex(
    reservationSync
      .describe()
      .map((reason) => sayReason(reason))
      .join(' '),
    /guarantees 0 of 1 reservation\. Reservation 7 is not guaranteed: .*Requested nodes are busy/,
  );
  site.refusal = '';
  // At one reading it is asked for again, and at the next it is seen there.
  for (let reading = 0; reading < 2; reading += 1) {
    timers.ring();
    await settle();
  }
  await t.notThrowsAsync(reservationSync.admit(shown()));
});

test('a site that cannot be read is reported, and changes nothing', async (t) => {
  const { manager, site, reservationSync, timers } = open(t);
  manager.reservations = [reserved()];
  reservationSync.start();
  await settle();
  site.isDown = true;
  timers.ring();
  await settle();
  t.deepEqual(site.done, ['make 7 x2']);
  t.deepEqual(reservationSync.describe(), [
    { code: 'reservations-guaranteed', guaranteedReservations: 1, reservations: 1 },
    { code: 'reservations-unreadable', trouble: 'no controller' },
  ]);
});

test("what somebody's hand removed at the site is made again, and after a restart what was promised is still known", async (t) => {
  const first = open(t);
  first.manager.reservations = [reserved()];
  first.reservationSync.start();
  await settle();
  first.site.made.clear();
  first.timers.ring();
  await settle();
  t.deepEqual(first.site.done, ['make 7 x2', 'make 7 x2']);
  await first.stop();
  const second = open(t, first.folder, first.site);
  second.manager.isAway = true;
  first.site.made.clear();
  second.reservationSync.start();
  await settle();
  t.is(first.site.done.length, 3, 'made again though the manager is away');
});

test('before the manager has spoken for the first time nothing at the site is touched', async (t) => {
  const { manager, site, reservationSync } = open(t);
  site.made.set(5, { reservationId: 5, count: 1, startsAt: startUnixMs, endsAt: endUnixMs });
  manager.isAway = true;
  reservationSync.start();
  await settle();
  t.deepEqual(site.done, []);
  t.deepEqual(reservationSync.describe(), []);
});

test('the use of an allocation is reported by number in a later life of the provider, even without a claim shown in it', async (t) => {
  const { manager, reservationSync } = open(t, undefined, undefined, () => [{ reservationId: 7, userId: 'ana' }]);
  manager.reservations = [reserved()];
  reservationSync.start();
  await settle();
  t.deepEqual(manager.shown, [
    { claim: '', resourceId: 'alpha', userId: 'ana', clientRequestId: 'provider alpha', reservationId: 7 },
  ]);
});
