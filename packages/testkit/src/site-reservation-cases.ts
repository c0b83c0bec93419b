import { MutiraoError } from '@mutirao/api/errors';
import type { SiteReservation } from '@mutirao/core/messages';
import type { AllocationOrder, ResourceManager, SiteReservations } from '@mutirao/managers';
import { aReservation } from './claimed-reservation.ts';
import type { ManagerAssertions, ManagerUnderTest } from './resource-manager-cases.ts';
import { until } from './until.ts';

/** A resource manager that makes reservations of its own for us. */
export type ReservingManager = ResourceManager & { readonly siteReservations: SiteReservations };

/** A resource that nobody else uses, and that has no reservations. */
export interface ReservationsUnderTest extends Pick<ManagerUnderTest, 'userId' | 'processors'> {
  readonly manager: ReservingManager;
  /** Opens the resource once more, as a provider does that has been restarted. */
  readonly reopen: () => ReservingManager;
}

/** One thing that every resource manager with reservations must do. */
export interface SiteReservationCase {
  /** A sentence. */
  readonly title: string;
  check(t: ManagerAssertions, under: ReservationsUnderTest): Promise<void>;
}

/** What the port promises of reservations; several cases at a time on one resource are not fine. */
export const siteReservationCases: readonly SiteReservationCase[] = [
  {
    title: 'a reservation is made, listed, moved and removed, and what is unknown is removed without a word',
    check: makesAndMoves,
  },
  { title: 'a reservation whose start has passed is made for what is left of it', check: startsLate },
  {
    title: 'a request inside a reservation runs in it while others cannot, and ends with it',
    check: runsInside,
  },
];

const minute = 60_000;

/** A full minute in an hour, so that nothing begins during the test. */
const later = (): number => Math.ceil(Date.now() / minute) * minute + 60 * minute;

async function makesAndMoves(t: ManagerAssertions, under: ReservationsUnderTest): Promise<void> {
  const { siteReservations: site } = under.manager;
  const { granularity, reservations } = await site.list();
  t.deepEqual(reservations, []);
  t.true(granularity >= 1 && under.processors % granularity === 0, `granularity ${granularity}`);
  const half = under.processors / 2;
  const one = { reservationId: 7, count: half, startsAt: later(), endsAt: later() + 30 * minute };
  const other = { ...one, reservationId: 8 };
  await site.make(one);
  await site.make(other);
  t.deepEqual(await listSorted(site), [one, other]);
  await t.throwsAsync(site.make({ ...one, reservationId: 9 }), { code: 'MUT_BAD_REQUEST' });
  const moved = { ...one, startsAt: one.startsAt + 120 * minute, endsAt: one.endsAt + 120 * minute };
  await site.move(moved);
  t.deepEqual(await listSorted(under.reopen().siteReservations), [moved, other]);
  await site.remove(7);
  await site.remove(7);
  await site.remove(99);
  t.deepEqual(await listSorted(site), [other]);
  await under.reopen().siteReservations.remove(8);
  // A manager may end one after it has answered, which only the process that asked for it knows at once.
  await until(async () => (await listSorted(site)).length === 0, 'the other one is gone');
}

async function startsLate(t: ManagerAssertions, under: ReservationsUnderTest): Promise<void> {
  const { siteReservations: site } = under.manager;
  const startsAt = Math.floor(Date.now() / 1000) * 1000 - minute;
  const late = { reservationId: 7, count: under.processors / 2, startsAt, endsAt: startsAt + 10 * minute };
  await site.make(late);
  const [listed] = await listSorted(site);
  t.deepEqual(listed, { ...late, startsAt: listed?.startsAt ?? 0 });
  t.true((listed?.startsAt ?? Infinity) <= Date.now() + 1_000, 'it counts as begun');
  await removeAll(site, [7]);
}

async function runsInside(t: ManagerAssertions, under: ReservationsUnderTest): Promise<void> {
  const { manager, processors } = under;
  const startsAt = Math.ceil(Date.now() / 1000) * 1000 + 10_000;
  const endsAt = startsAt + 10 * minute;
  await manager.siteReservations.make({ reservationId: 7, count: processors, startsAt, endsAt });
  const absent = { ...orderOf(under, 'absent'), reservation: aReservation('99:1000-5000x2') };
  await t.throwsAsync(manager.allocate(absent), { code: 'MUT_NO_ROOM' });
  const reservation = aReservation(`7:${startsAt}-${endsAt}x${processors}`);
  const inside = await under.reopen().allocate({ ...orderOf(under, 'inside'), reservation });
  const outside = await manager.allocate(orderOf(under, 'outside'));
  const getStatus = async (number: string): Promise<string> =>
    (await manager.queue(9)).requests.find(({ managerRequestId }) => managerRequestId === number)?.status ?? 'gone';
  t.is(await getStatus(inside), 'queued', 'it waits for the reservation to begin');
  await until(async () => (await getStatus(inside)) === 'running', 'it runs inside');
  t.true(Date.now() >= startsAt);
  t.is(await getStatus(outside), 'queued', 'nothing runs outside a reservation of all processors');
  await removeAll(manager.siteReservations, [7]);
  await until(async () => !['running', 'queued'].includes(await getStatus(inside)), 'what runs inside ends with it');
  await until(async () => (await getStatus(outside)) === 'running', 'the processors are there again');
  await manager.release(outside);
  await until(async () => !['running', 'queued'].includes(await getStatus(outside)), 'the other one ends');
}

function orderOf({ userId, processors }: ReservationsUnderTest, clientRequestId: string): AllocationOrder {
  return {
    userId,
    width: processors / 2,
    walltime: 5 * minute,
    command: ['/bin/sleep', '300'],
    environment: {},
    workingDirectory: '',
    clientRequestId,
  };
}

async function listSorted(site: SiteReservations): Promise<SiteReservation[]> {
  return [...(await site.list()).reservations].sort((one, other) => one.reservationId - other.reservationId);
}

/** One that is in use is refused until what runs inside has ended, as a provider finds too. */
async function removeAll(site: SiteReservations, reservationIds: readonly number[]): Promise<void> {
  for (const reservationId of reservationIds)
    await until(async () => {
      try {
        await site.remove(reservationId);
        return true;
      } catch (error) {
        if (error instanceof MutiraoError && error.code === 'MUT_RESERVATION_OVER') return false;
        throw error;
      }
    }, `reservation ${reservationId} is removed`);
}
