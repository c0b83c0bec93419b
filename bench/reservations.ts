import {
  Calendar,
  resourceDefaults,
  type PlacedReservation,
  type ReservationRequest,
} from '@mutirao/core/reservations';
import { VariableSlots } from '@mutirao/testkit';
import { below, option, plain, report, type Figure } from './harness.ts';

/**
 * Measures admission on a calendar of a year that is 70 % full: shared and counted, from 1,000 reservations to
 * `--reservations`.
 *
 * Durations are 2 to 13 h, laxity is 0 to 500 %, so that a request's window is about a day. Each of `--probes` requests
 * is decided on, placed and taken
 * off again five times, and the fastest of the five is its time: what the machine did meanwhile for others is left out,
 * what the request costs is not.
 * The same requests are decided on by SUVS over the seed's linear list of Variable Slots. Prints a table and JSON.
 *
 * `node bench/reservations.ts [--reservations N] [--probes N]`
 */
const most = option('reservations', 1_000_000);
const probeCount = option('probes', 2000);
const hour = 3_600_000;
const year = 365 * 24 * hour;
const load = 0.7;
const meanDuration = 7.5 * hour;
type Kind = 'shared' | 'counted';
const amounts: Record<Kind, number> = { shared: 999, counted: 8 };

/** Whole numbers below `limit`, the same in every run. */
function makeDraw(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function drawRequest(draw: (limit: number) => number, kind: Kind, id: number, amountMax: number): ReservationRequest {
  const duration = 2 * hour + draw(11 * 3600) * 1000;
  const from = draw(365 * 24 * 3600) * 1000;
  return {
    id,
    userId: 'ana',
    extent: { kind: 'rigid', amount: Math.min(amountMax, 1 + draw(amounts[kind])), duration },
    timing: 'advance',
    earliestStart: from,
    latestEnd: from + Math.floor(duration * (1 + draw(501) / 100)),
  };
}

/** A calendar with `count` reservations, each placed by request. */
function fill(kind: Kind, count: number): Calendar {
  const capacity = Math.max(8, Math.ceil((count * meanDuration * (amounts[kind] + 1)) / 2 / load / year));
  const calendar = new Calendar({ ...resourceDefaults, kind, capacity }, 0);
  const draw = makeDraw(20_250_101);
  for (let id = 1; calendar.count < count; id += 1) calendar.request(drawRequest(draw, kind, id, capacity), 0);
  return calendar;
}

function listProbes(calendar: Calendar): ReservationRequest[] {
  const { kind, capacity } = calendar.resource;
  const draw = makeDraw(7);
  return Array.from({ length: probeCount }, (_, index) => drawRequest(draw, kind, 1e9 + index, capacity));
}

/** Microseconds of the fastest of five, ascending. */
function timeEach(requests: readonly ReservationRequest[], act: (request: ReservationRequest) => void): Float64Array {
  const times = new Float64Array(requests.length).fill(Infinity);
  for (let round = 0; round < 5; round += 1) {
    for (const [index, request] of requests.entries()) {
      const start = performance.now();
      act(request);
      times[index] = Math.min(times[index] as number, (performance.now() - start) * 1000);
    }
  }
  return times.sort();
}

const share = (times: Float64Array, part: number): number =>
  times[Math.min(times.length - 1, Math.floor(times.length * part))] as number;

function measureAdmission(calendar: Calendar, name: string, isLargest: boolean): Figure[] {
  const probes = listProbes(calendar);
  const placing = new Float64Array(probes.length).fill(Infinity);
  let refused = 0;
  let index = 0;
  const times = timeEach(probes, (request) => {
    const start = performance.now();
    const { kind } = calendar.request(request, 0);
    const at = index % probes.length;
    placing[at] = Math.min(placing[at] as number, (performance.now() - start) * 1000);
    if (kind === 'placed') calendar.cancel(request.id);
    else refused += 1;
    index += 1;
  });
  const p99 = share(times, 0.99);
  const label = `${name}: placed and taken off again, p99`;
  return [
    plain(`${name}: placed and taken off again, median`, share(times, 0.5), 'us'),
    isLargest ? below(label, p99, 'us', 100) : plain(label, p99, 'us'),
    plain(`${name}: ... placed alone, p99`, share(placing.sort(), 0.99), 'us'),
    plain(`${name}: ... slowest`, share(times, 1), 'us'),
    plain(`${name}: refused of the probes`, (100 * refused) / 5 / probes.length, '%'),
  ];
}

/**
 * Requests from the beginning on without a latest end, the worst of many: nearly all for a minute, and what is just not
 * free for as long as is asked for.
 */
function measureWorst(calendar: Calendar, name: string): Figure[] {
  const { capacity } = calendar.resource;
  const shapes = [0.02, 0.1, 0.2, 0.24, 0.26, 0.28, 0.3, 0.32, 0.35, 0.5, 0.9].flatMap((part) =>
    [1 / 60, 1, 4, 10, 20, 100].map((hours) => ({ part, hours })),
  );
  const requests = shapes.map(
    ({ part, hours }, index): ReservationRequest => ({
      id: 2e9 + index,
      userId: 'ana',
      extent: { kind: 'rigid', amount: Math.max(1, Math.floor(capacity * part)), duration: hours * hour },
      timing: 'advance',
      earliestStart: 0,
      latestEnd: undefined,
    }),
  );
  const nearlyAll = requests.slice(-6, -5);
  const slowest = (some: readonly ReservationRequest[]): number =>
    share(
      timeEach(some, (request) => {
        calendar.find(request, 0);
      }),
      1,
    ) / 1000;
  return [
    plain(`${name}: 90 % for a minute without a latest end`, slowest(nearlyAll), 'ms'),
    plain(
      `${name}: worst case of ${requests.length} such requests, 2 to 90 %, a minute to 100 h`,
      slowest(requests),
      'ms',
    ),
  ];
}

function measureLoading(calendar: Calendar, name: string, isLargest: boolean): Figure[] {
  const reservations: readonly PlacedReservation[] = calendar.reservations();
  let fastest = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    Calendar.load(calendar.resource, 0, [], reservations);
    fastest = Math.min(fastest, (performance.now() - start) / 1000);
  }
  const label = `${name}: loaded from sorted records, fastest of 3`;
  return [isLargest ? below(label, fastest, 's', 5) : plain(label, fastest, 's')];
}

/** Compares decisions of the seed's list with those of the calendar. @throws {Error} when one answer differs. */
function compareWithList(calendar: Calendar, name: string): Figure[] {
  const list = new VariableSlots(calendar.resource.capacity);
  for (const { start, end, used } of calendar.slots(0, Infinity))
    if (used > 0) list.slots.push({ start, end, used, low: 0 });
  const probes = listProbes(calendar).slice(0, 100);
  const start = (request: ReservationRequest): number | undefined => {
    const { extent, earliestStart = 0, latestEnd = Infinity } = request;
    return extent.kind === 'rigid'
      ? list.findStart({ id: 0, amount: extent.amount, duration: extent.duration, from: earliestStart, latestEnd })
      : undefined;
  };
  for (const request of probes) {
    const answer = calendar.find(request, 0);
    if ((answer.kind === 'placed' ? answer.reservation.start : undefined) !== start(request))
      throw new Error(`${name}: another place than the list's`);
  }
  const ours = timeEach(probes, (request) => {
    calendar.find(request, 0);
  });
  const theirs = timeEach(probes, start);
  const mean = (times: Float64Array): number => times.reduce((sum, time) => sum + time, 0) / times.length;
  return [
    plain(`${name}: deciding, the seed's list, mean of ${probes.length}, same places`, mean(theirs), 'us'),
    plain(`${name}: ... the calendar`, mean(ours), 'us'),
    plain(`${name}: ... time of the list, relative to the calendar`, mean(theirs) / mean(ours), 'x'),
  ];
}

const figures: Figure[] = [];
for (let count = 1000; count <= most; count *= 10) {
  for (const kind of ['shared', 'counted'] as const) {
    const calendar = fill(kind, count);
    const name = `${kind}, ${count}`;
    const isLargest = count * 10 > most;
    figures.push(
      ...measureAdmission(calendar, name, isLargest),
      ...measureWorst(calendar, name),
      ...measureLoading(calendar, name, isLargest),
    );
    if (kind === 'shared') figures.push(...compareWithList(calendar, name));
    figures.push(plain(`${name}: resident memory of the benchmark`, process.memoryUsage.rss() / 2 ** 20, 'MiB'));
    console.error(`${name}: ${calendar.resource.capacity} of capacity`);
  }
}
report('reservations', figures);
