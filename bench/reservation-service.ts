// The reservation manager: requests a second of 32 clients with the journal, their 99th percentile, that nothing is
// over-committed, and how long a
// restart takes with many reservations. Options: --requests 100000, --reservations 1000000 (of the restart), --clients
// 32, --skip-load 1, --skip-restart 1,
// --requests 1000000 --skip-restart 1 is the proof over the wire, checked from the answers to the clients, without any
// calendar; --units 64 is what they share, 64 at most,
// and with few of them most is refused. --counted 1 has the restart with one resource of many units, of which each
// reservation names its own, in place of capacities.
// --proof N: N requests, releases and changes of all kinds through machine and journal, without the wire, checked from
// what the journal has kept.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Algorithm, Placement, ReservationServiceService, Timing } from '@mutirao/api/reservation';
import {
  createReservationsState,
  isLiving,
  reservationsMachine,
  type ReservationsChange,
  type ReservationsInput,
} from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { Prng } from '@mutirao/core/shared';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { openJournal } from '@mutirao/runtime/journal';
import { openRules, Program, reservationsOptions } from '@mutirao/testkit';
import { reservationsChangeCodec } from '../packages/reservations/src/journal/change-codec.ts';
import { restoreState } from '../packages/reservations/src/journal/restore-state.ts';
import { atLeast, below, option, plain, report, residentMebibytes, type Figure } from './harness.ts';
import { UnaryConnection } from './unary-connection.ts';

const { requestReservation, registerResource } = ReservationServiceService;
const requests = option('requests', 100_000);
const reservations = option('reservations', 1_000_000);
const clients = option('clients', 32);
const hour = 3_600_000;
const year = 365 * 24 * hour;
const unitCount = option('units', 64);
const isCounted = option('counted', 0) === 1;
/** Of the first requests most times are those of a process that has just started. */
const coldCount = 2000;
const options = { ...reservationsOptions, livingMax: 10_000_000, endedMax: 1_000_000 };

/** A window of about a day somewhere in the year, laxity 0 to 500 %, some 70 % of all in the end. */
function drawSpec(random: Prng, now: number) {
  const duration = Math.floor((0.25 + random.fraction()) * hour);
  const start = now + hour + Math.floor(random.fraction() * (year - 48 * hour));
  return {
    amount: 1 + Math.floor(random.fraction() * 8),
    duration,
    start,
    end: start + Math.floor(duration * (1 + 5 * random.fraction())),
  };
}

/** Reservations in the answers to clients, or in a journal, as columns: there may be millions. */
class Places {
  readonly ids: Uint32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  /** Of units 0 to 31, a bit each. */
  readonly low: Uint32Array;
  /** Of units 32 to 63. */
  readonly high: Uint32Array;
  count = 0;

  constructor(countMax: number) {
    [this.ids, this.low, this.high] = [new Uint32Array(countMax), new Uint32Array(countMax), new Uint32Array(countMax)];
    [this.starts, this.ends] = [new Float64Array(countMax), new Float64Array(countMax)];
  }

  add(id: number, start: number, end: number, units: Iterable<number>): void {
    const row = this.count;
    [this.ids[row], this.starts[row], this.ends[row]] = [id, start, end];
    for (const unit of units) {
      const column = unit < 32 ? this.low : this.high;
      column[row] = (column[row] as number) | (1 << (unit % 32));
    }
    this.count += 1;
  }

  has(row: number, unit: number): boolean {
    return (((unit < 32 ? this.low : this.high)[row] as number) & (1 << (unit % 32))) !== 0;
  }
}

/** The units of a wire message. */
function* listUnits(ranges: readonly { readonly first: number; readonly count: number }[]): Generator<number> {
  for (const { first, count } of ranges) for (let unit = first; unit < first + count; unit += 1) yield unit;
}

interface Load {
  readonly times: Float64Array;
  readonly answered: Places;
  readonly refused: number;
  readonly seconds: number;
}

/** Each client asks for the next as soon as it has its answer. */
async function askAll(connections: readonly UnaryConnection[]): Promise<Load> {
  const times = new Float64Array(requests);
  const answered = new Places(requests);
  let [left, made, refused] = [requests, 0, 0];
  const root = new Prng('load');
  const start = performance.now();
  await Promise.all(
    connections.map(async (connection, index) => {
      const random = root.fork(`client ${index}`);
      while (left-- > 0) {
        const { amount, duration, start: from, end } = drawSpec(random, Date.now());
        const spec = {
          resourceId: 'cluster',
          amount: { $case: 'quantity', value: String(Math.min(amount, unitCount)) } as const,
          durationMs: duration,
          earliestStartUnixMs: from,
          latestEndUnixMs: end,
          timing: Timing.ADVANCE,
        };
        const began = performance.now();
        const { outcome } = await connection.call(requestReservation, {
          spec,
          clientRequestId: `${index}.${left}`,
          holdMs: 0,
          dryRun: false,
        });
        times[made++] = performance.now() - began;
        if (outcome?.$case === 'reservation')
          answered.add(
            outcome.value.reservationId,
            outcome.value.startUnixMs,
            outcome.value.endUnixMs,
            listUnits(outcome.value.units),
          );
        else refused += 1;
      }
    }),
  );
  return { times, answered, refused, seconds: (performance.now() - start) / 1000 };
}

/** Requests over the wire; what was answered is checked unit by unit afterwards. */
async function measureLoad(home: string): Promise<Figure[]> {
  const manager = new Program('reservations', ['--home', home, '--reservations-max', '10000000'], {});
  await manager.start();
  const connections = Array.from(
    { length: clients },
    () => new UnaryConnection(manager.address, readToken(tokenPath(home))),
  );
  const [first] = connections as [UnaryConnection];
  const rules = {
    capPercent: undefined,
    algorithm: Algorithm.SUVS,
    placement: Placement.FIRST_FIT,
    durationMsMax: 0,
    reservationsPerUserMax: 0,
    amountPerUserMax: 0,
    movesMax: undefined,
    unclaimedMsMax: 0,
  };
  await first.call(registerResource, {
    resourceId: 'cluster',
    resourceType: 'processors',
    quantity: String(unitCount),
    rules,
  });
  const [busyBefore, ownBefore] = [processorSeconds(manager.pid), processorSeconds(process.pid)];
  const { times, answered, refused, seconds } = await askAll(connections);
  const [memory, busy, ownBusy] = [
    residentMebibytes(manager.pid),
    processorSeconds(manager.pid) - busyBefore,
    processorSeconds(process.pid) - ownBefore,
  ];
  for (const connection of connections) connection.close();
  await manager.kill('SIGKILL');
  const kept = readPlaces(join(home, 'reservations', 'local', 'journal.sqlite'));
  const warm = times.slice(Math.min(coldCount, requests / 2)).sort();
  times.sort();
  const share = (sorted: Float64Array, part: number): number => sorted[Math.floor(sorted.length * part)] ?? NaN;
  return [
    atLeast(`${requests} requests of ${clients} clients, journaled`, requests / seconds, 'requests/s', 2000),
    below('... 99th percentile', share(times, 0.99), 'ms', 50),
    plain(`... without the first ${coldCount}`, share(warm, 0.99), 'ms'),
    plain('... median', share(times, 0.5), 'ms'),
    plain('... refused', refused, 'requests'),
    below('units reserved twice, of all that was answered', countDoubles(answered), 'units', 1),
    below('the most that was answered for one instant', findPeak(answered), 'units', unitCount + 1),
    below('units reserved twice, of all that was kept', countDoubles(kept), 'units', 1),
    below('requests that were answered with a place and are not kept', countUnkept(answered, kept), 'requests', 1),
    plain('processor time of the manager for each request', (busy * 1000) / requests, 'ms'),
    plain('... of the benchmark', (ownBusy * 1000) / requests, 'ms'),
    plain('memory of the manager then', memory, 'MiB'),
    plain('memory of the benchmark', residentMebibytes(process.pid), 'MiB'),
  ];
}

/** The reservations that a journal has of the cluster and that are not over. */
function readPlaces(path: string): Places {
  const journal = openJournal<ReservationsChange>({ path, codec: reservationsChangeCodec });
  const found = restoreState(journal, options).resources.get('cluster')?.calendar.reservations() ?? [];
  journal.close();
  const kept = new Places(found.length);
  for (const { id, start, end, resources } of found) kept.add(id, start, end, resources);
  return kept;
}

/** Units that are reserved for two at the same time. Knows the reservations alone. */
function countDoubles(places: Places): number {
  const ends = new Float64Array(unitCount);
  let doubles = 0;
  for (const row of getInOrder(places.starts.subarray(0, places.count))) {
    for (let unit = 0; unit < unitCount; unit += 1) {
      if (!places.has(row, unit)) continue;
      if ((ends[unit] as number) > (places.starts[row] as number)) doubles += 1;
      ends[unit] = Math.max(ends[unit] as number, places.ends[row] as number);
    }
  }
  return doubles;
}

/** The most units that are reserved at once, counted without their numbers. */
function findPeak(places: Places): number {
  const amounts = Int32Array.from(
    { length: places.count },
    (_none, row) => countBits(places.low[row] as number) + countBits(places.high[row] as number),
  );
  const byEnd = getInOrder(places.ends.subarray(0, places.count));
  let [used, peak, ended] = [0, 0, 0];
  for (const row of getInOrder(places.starts.subarray(0, places.count))) {
    for (; (places.ends[byEnd[ended] as number] as number) <= (places.starts[row] as number); ended += 1)
      used -= amounts[byEnd[ended] as number] as number;
    peak = Math.max(peak, (used += amounts[row] as number));
  }
  return peak;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Row numbers in the order of their instants. */
function getInOrder(instants: Float64Array): Uint32Array {
  return Uint32Array.from(instants.keys()).sort(
    (one, other) => (instants[one] as number) - (instants[other] as number),
  );
}

/** Answers that the journal has not, or has otherwise. */
function countUnkept(answered: Places, kept: Places): number {
  const rowOf = new Map<number, number>();
  for (let row = 0; row < kept.count; row += 1) rowOf.set(kept.ids[row] as number, row);
  let unkept = 0;
  for (let row = 0; row < answered.count; row += 1) {
    const found = rowOf.get(answered.ids[row] as number) ?? -1;
    const isKept =
      kept.starts[found] === answered.starts[row] &&
      kept.ends[found] === answered.ends[row] &&
      kept.low[found] === answered.low[row] &&
      kept.high[found] === answered.high[row];
    if (!isKept) unkept += 1;
  }
  return unkept;
}

/** Processor time of a process so far, of all its threads; Linux counts hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function countOverlaps(kept: readonly ReservationRecord[], total: number): number {
  const ends = new Float64Array(total);
  let overlaps = 0;
  for (const { place } of kept.filter(isLiving).sort((one, other) => one.place.start - other.place.start)) {
    for (const unit of place.resources) {
      if ((ends[unit] ?? Infinity) > place.start) overlaps += 1;
      ends[unit] = Math.max(ends[unit] ?? 0, place.end);
    }
  }
  return overlaps;
}

/** What happens in a proof: mostly requests, of units and of a capacity, and what users do with what they have. */
function drawInput(random: Prng, now: number, count: number): ReservationsInput {
  const { amount, duration, start, end } = drawSpec(random, now);
  const [disposition, isOfUnits] = [random.fraction(), random.fraction() < 0.5];
  const asked = { replyTo: 0, userId: `user${count % 50}` };
  const spec = {
    resourceId: isOfUnits ? 'cluster' : 'network',
    amount: { kind: 'text', text: isOfUnits ? String(amount) : `${amount * 10}KB/s` } as const,
    duration,
    earliestStart: start,
    latestEnd: random.fraction() < 0.8 ? end : undefined,
    timing: 'advance' as const,
  };
  const reservationId = 1 + Math.floor(random.fraction() * count);
  if (disposition < 0.85)
    return {
      kind: 'ReservationRequested',
      ...asked,
      clientRequestId: `request-${count}`,
      hold: disposition < 0.1 ? 600_000 : 0,
      isDryRun: false,
      spec,
    };
  if (disposition < 0.9)
    return { kind: 'RenegotiationRequested', ...asked, userId: `user${reservationId % 50}`, reservationId, spec };
  if (disposition < 0.95)
    return { kind: 'ConfirmationRequested', ...asked, userId: `user${reservationId % 50}`, reservationId };
  return { kind: 'CancellationRequested', ...asked, userId: 'owner', reservationId, reason: 'proof' };
}

/** An amount that is had for a time. */
interface Held {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
}

/** The most that is reserved of a capacity at once. Knows the reservations alone. */
function findPeakAmount(kept: readonly Held[]): number {
  const changes = kept
    .flatMap(({ start, end, amount }) => [
      { at: start, amount },
      { at: end, amount: -amount },
    ])
    .sort((one, other) => one.at - other.at || one.amount - other.amount);
  let [used, peak] = [0, 0];
  for (const { amount } of changes) peak = Math.max(peak, (used += amount));
  return peak;
}

/**
 * Requests of all kinds in turns of as many as there are clients; what the journal has kept is checked, by itself,
 * without any calendar.
 */
async function measureProof(home: string, count: number): Promise<Figure[]> {
  const path = join(home, 'journal.sqlite');
  const journal = openJournal<ReservationsChange>({ path, codec: reservationsChangeCodec });
  const state = createReservationsState(options);
  const offers = { cluster: '192', network: '1900KB/s' };
  const began = Date.now();
  const step = (inputs: readonly ReservationsInput[], now: number): number => {
    const { changes, commands } = reservationsMachine.step(state, inputs, now);
    journal.record(changes, now);
    return commands.filter(
      (command) =>
        command.kind === 'Reply' && command.reply.ok && (command.reply.value as { kind?: string }).kind === 'placed',
    ).length;
  };
  step(
    Object.entries(offers).map(([id, quantity]) => ({
      kind: 'ResourceOffered',
      replyTo: 0,
      userId: 'owner',
      resource: { id, type: 'thing', quantity, rules: { ...openRules, algorithm: 'suvs-p' } },
    })),
    began,
  );
  const random = new Prng('proof');
  let placed = 0;
  const start = performance.now();
  // A second passes with each turn, so that holds lapse and reservations begin and end.
  for (let made = 0, turn = 1; made < count; made += clients, turn += 1) {
    const now = began + turn * 1000;
    placed += step(
      Array.from({ length: clients }, (_none, index) => drawInput(random, now, made + index + 1)),
      now,
    );
  }
  const seconds = (performance.now() - start) / 1000;
  journal.close();
  const again = openJournal<ReservationsChange>({ path, codec: reservationsChangeCodec });
  // Whole ones are read from the journal, so that it is closed afterwards.
  const living = [...restoreState(again, options).reservations.values()].filter(isLiving);
  again.close();
  const of = (id: string): ReservationRecord[] => living.filter(({ resourceId }) => resourceId === id);
  return [
    plain(`${count} requests and changes, in turns of ${clients}, without the wire`, count / seconds, '/s'),
    plain('... placed or placed again', placed, 'reservations'),
    plain('... living in the end', living.length, 'reservations'),
    below(
      '... that memory has and the journal has not, or the other way',
      Math.abs(living.length - state.livingCount),
      'reservations',
      1,
    ),
    below('... units of the cluster reserved twice', countOverlaps(of('cluster'), 192), 'units', 1),
    below(
      '... the most of the network that is reserved at once',
      findPeakAmount(of('network').map(({ place }) => place)) / 1000,
      'KB/s',
      1901,
    ),
  ];
}

/** What a restart is measured with: 64 capacities, or units enough for a load of 70 % of all reservations. */
function listOffers(): { readonly id: string; readonly quantity: string }[] {
  if (!isCounted) return Array.from({ length: 64 }, (_none, index) => ({ id: `network${index}`, quantity: '1MB/s' }));
  const [meanAmount, meanDuration] = [4.5, 0.75 * hour];
  return [
    {
      id: 'cluster',
      quantity: String(Math.max(8, Math.ceil((reservations * meanAmount * meanDuration) / year / 0.7))),
    },
  ];
}

/** Fills a journal through the machine, then starts a process on it. */
async function measureRestart(home: string): Promise<Figure[]> {
  const now = Date.now();
  const journal = openJournal<ReservationsChange>({
    path: join(home, 'reservations', 'local', 'journal.sqlite'),
    codec: reservationsChangeCodec,
  });
  const state = createReservationsState(options);
  const step = (inputs: readonly ReservationsInput[]): void => {
    const { changes } = reservationsMachine.step(state, inputs, now);
    journal.record(changes, now);
  };
  const offers = listOffers();
  step(
    offers.map(({ id, quantity }) => ({
      kind: 'ResourceOffered',
      replyTo: 0,
      userId: 'owner',
      resource: { id, type: 'thing', quantity, rules: openRules },
    })),
  );
  const random = new Prng('restart');
  const began = performance.now();
  for (let made = 0; state.livingCount < reservations; made += 1000) {
    step(
      Array.from({ length: 1000 }, (_none, index): ReservationsInput => {
        const { amount, duration, start } = drawSpec(random, now);
        const text = isCounted ? String(amount) : `${1 + Math.floor(random.fraction() * 80)}KB/s`;
        return {
          kind: 'ReservationRequested',
          replyTo: 0,
          userId: `user${index % 50}`,
          clientRequestId: `request-${made + index}`,
          hold: 0,
          isDryRun: false,
          spec: {
            resourceId: offers[index % offers.length]?.id ?? '',
            amount: { kind: 'text', text },
            duration,
            earliestStart: start,
            latestEnd: undefined,
            timing: 'advance',
          },
        };
      }),
    );
  }
  const filling = (performance.now() - began) / 1000;
  journal.close();
  const manager = new Program('reservations', ['--home', home, '--reservations-max', '10000000'], {});
  const start = performance.now();
  await manager.start();
  const seconds = (performance.now() - start) / 1000;
  const [memory, busy] = [residentMebibytes(manager.pid), processorSeconds(manager.pid)];
  await manager.kill('SIGKILL');
  return [
    below(
      `start of a manager with ${state.livingCount} reservations${isCounted ? ' of units' : ''}, until it listens`,
      seconds,
      's',
      5,
    ),
    plain('... its processor time', busy, 's'),
    plain('... its memory', memory, 'MiB'),
    plain('placing and journaling them, in one process', state.livingCount / filling, 'reservations/s'),
  ];
}

async function inFolder(work: (home: string) => Promise<Figure[]>): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'mutirao-reservation-bench-'));
  try {
    return await work(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const proof = option('proof', 0);
const figures = [
  ...(proof === 0 ? [] : await inFolder((home) => measureProof(home, proof))),
  ...(option('skip-load', 0) === 1 ? [] : await inFolder(measureLoad)),
  ...(option('skip-restart', 0) === 1 ? [] : await inFolder(measureRestart)),
];
report('reservation-service', figures);
