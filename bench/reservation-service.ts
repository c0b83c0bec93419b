// The reservation manager: requests a second of 32 clients with the journal, their 99th percentile, that nothing is over-committed, and how long a
// restart takes with many reservations. Options: --requests 100000, --reservations 1000000 (of the restart), --clients 32, --skip-load 1, --skip-restart 1,
// --requests 1000000 --skip-restart 1 is the proof over the wire, checked from what the clients were told, without any calendar.
// --proof N: N requests, releases and changes of all kinds through machine and journal, without the wire, checked from what the journal has kept.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Algorithm, Placement, ReservationServiceClient, Timing } from '@mutirao/api/reservation';
import { createReservationsState, isLiving, reservationsMachine, type ReservationsChange, type ReservationsInput } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { Prng } from '@mutirao/core/shared';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { openJournal } from '@mutirao/runtime/journal';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { openRules, Program, reservationsOptions } from '@mutirao/testkit';
import { reservationsChangeCodec } from '../packages/reservations/src/journal/change-codec.ts';
import { restoreState } from '../packages/reservations/src/journal/restore-state.ts';
import { atLeast, below, option, plain, report, residentMebibytes, type Figure } from './harness.ts';

const requests = option('requests', 100_000);
const reservations = option('reservations', 1_000_000);
const clients = option('clients', 32);
const hour = 3_600_000;
const year = 365 * 24 * hour;
const totals = { cluster: 64, network: 1_000_000 };
const options = { ...reservationsOptions, livingMax: 10_000_000, endedMax: 1_000_000 };

/** A window of about a day somewhere in the year, laxity 0 to 500 %, some 70 % of all in the end. */
function drawWish(random: Prng, now: number) {
  const duration = Math.floor((0.25 + random.fraction()) * hour);
  const start = now + hour + Math.floor(random.fraction() * (year - 48 * hour));
  return { amount: 1 + Math.floor(random.fraction() * 8), duration, start, end: start + Math.floor(duration * (1 + 5 * random.fraction())) };
}

/** Requests over the wire; what was answered is checked unit by unit afterwards. */
async function measureLoad(home: string): Promise<Figure[]> {
  const manager = new Program('reservations', ['--home', home, '--listen', '127.0.0.1:0', '--reservations-max', '10000000'], {});
  await manager.start();
  const connections = Array.from({ length: clients }, () => dial(ReservationServiceClient, manager.address, { token: readToken(tokenPath(home)) }));
  const [first] = connections as [ReservationServiceClient];
  const rules = { capPercent: undefined, algorithm: Algorithm.SUVS, placement: Placement.FIRST_FIT, durationMsMax: 0, reservationsPerUserMax: 0, amountPerUserMax: 0, movesMax: undefined, unclaimedMsMax: 0 };
  await callUnary(first, 'registerResource', { resourceId: 'cluster', resourceType: 'processors', quantity: String(totals.cluster), rules }, { deadlineMs: 30_000 });
  const times: number[] = [];
  const answered: Answered[] = [];
  let left = requests;
  let refused = 0;
  const root = new Prng('load');
  const busyBefore = processorSeconds(manager.pid);
  const start = performance.now();
  await Promise.all(connections.map(async (connection, index) => {
    const random = root.fork(`client ${index}`);
    while (left-- > 0) {
      const { amount, duration, start: from, end } = drawWish(random, Date.now());
      const wish = { resourceId: 'cluster', amount: { $case: 'quantity', value: String(amount) } as const, durationMs: duration, earliestStartUnixMs: from, latestEndUnixMs: end, timing: Timing.ADVANCE };
      const began = performance.now();
      const { outcome } = await callUnary(connection, 'requestReservation', { wish, clientRequestId: `${index}.${left}`, holdMs: 0, dryRun: false }, { deadlineMs: 60_000 });
      times.push(performance.now() - began);
      if (outcome?.$case === 'reservation') answered.push({ start: outcome.value.startUnixMs, end: outcome.value.endUnixMs, amount: outcome.value.amount, units: outcome.value.units });
      else refused += 1;
    }
  }));
  const seconds = (performance.now() - start) / 1000;
  const memory = residentMebibytes(manager.pid);
  const busy = processorSeconds(manager.pid) - busyBefore;
  for (const connection of connections) connection.close();
  await manager.kill('SIGKILL');
  const journal = openJournal<ReservationsChange>({ path: join(home, 'reservations', 'local', 'journal.sqlite'), codec: reservationsChangeCodec });
  const kept = [...restoreState(journal, options).reservations.values()];
  journal.close();
  const sorted = times.toSorted((one, other) => one - other);
  return [
    atLeast(`${requests} requests of ${clients} clients, journaled`, requests / seconds, 'requests/s', 2000),
    below('... 99th percentile', sorted[Math.floor(sorted.length * 0.99)] ?? NaN, 'ms', 50),
    plain('... median', sorted[Math.floor(sorted.length / 2)] ?? NaN, 'ms'),
    plain('... refused', refused, 'requests'),
    below('units reserved twice, of all that was answered', countDoubles(answered), 'units', 1),
    below('the most that was answered for one instant', findPeak(answered), 'units', totals.cluster + 1),
    below('units reserved twice, of all that was kept', countOverlaps(kept, totals.cluster), 'units', 1),
    below('requests that were answered with a place and are not kept', requests - refused - kept.length, 'requests', 1),
    plain('processor time of the manager for each request', (busy * 1000) / requests, 'ms'),
    plain('memory of the manager then', memory, 'MiB'),
  ];
}

/** A reservation as its client was told of it. */
interface Answered extends Held {
  readonly units: readonly { readonly first: number; readonly count: number }[];
}

/** Units that two clients were told to have at the same time, by what they were told alone. */
function countDoubles(answered: readonly Answered[]): number {
  const ends = new Float64Array(totals.cluster);
  let doubles = 0;
  for (const { start, end, units } of answered.toSorted((one, other) => one.start - other.start)) {
    for (const { first, count } of units) {
      for (let unit = first; unit < first + count; unit += 1) {
        if ((ends[unit] ?? Infinity) > start) doubles += 1;
        ends[unit] = Math.max(ends[unit] ?? 0, end);
      }
    }
  }
  return doubles;
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
  const { amount, duration, start, end } = drawWish(random, now);
  const [fate, isCounted] = [random.fraction(), random.fraction() < 0.5];
  const asked = { replyTo: 0, userId: `user${count % 50}` };
  const wish = {
    resourceId: isCounted ? 'cluster' : 'network', amount: { kind: 'text', text: isCounted ? String(amount) : `${amount * 10}KB/s` } as const, duration, earliestStart: start,
    latestEnd: random.fraction() < 0.8 ? end : undefined, timing: 'advance' as const,
  };
  const reservationId = 1 + Math.floor(random.fraction() * count);
  if (fate < 0.85) return { kind: 'ReservationRequested', ...asked, clientRequestId: `request-${count}`, hold: fate < 0.1 ? 600_000 : 0, isDryRun: false, wish };
  if (fate < 0.9) return { kind: 'RenegotiationRequested', ...asked, userId: `user${reservationId % 50}`, reservationId, wish };
  if (fate < 0.95) return { kind: 'ConfirmationRequested', ...asked, userId: `user${reservationId % 50}`, reservationId };
  return { kind: 'CancellationRequested', ...asked, userId: 'owner', reservationId, reason: 'proof' };
}

/** An amount that is had for a time. */
interface Held {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
}

/** The most that is reserved of a resource at once. Knows the reservations alone. */
function findPeak(kept: readonly Held[]): number {
  const changes = kept.flatMap(({ start, end, amount }) => [{ at: start, amount }, { at: end, amount: -amount }]).sort((one, other) => one.at - other.at || one.amount - other.amount);
  let [used, peak] = [0, 0];
  for (const { amount } of changes) peak = Math.max(peak, used += amount);
  return peak;
}

/** Requests of all kinds in turns of as many as there are clients; what the journal has kept is checked, by itself, without any calendar. */
async function measureProof(home: string, count: number): Promise<Figure[]> {
  const path = join(home, 'journal.sqlite');
  const journal = openJournal<ReservationsChange>({ path, codec: reservationsChangeCodec });
  const state = createReservationsState(options);
  const offers = { cluster: '192', network: '1900KB/s' };
  const began = Date.now();
  const step = (inputs: readonly ReservationsInput[], now: number): number => {
    const { changes, commands } = reservationsMachine.step(state, inputs, now);
    journal.record(changes, now);
    return commands.filter((command) => command.kind === 'Reply' && command.reply.ok && (command.reply.value as { kind?: string }).kind === 'placed').length;
  };
  step(Object.entries(offers).map(([id, quantity]) => ({ kind: 'ResourceOffered', replyTo: 0, userId: 'owner', resource: { id, type: 'thing', quantity, rules: { ...openRules, algorithm: 'suvs-p' } } })), began);
  const random = new Prng('proof');
  let placed = 0;
  const start = performance.now();
  // A second passes with each turn, so that holds lapse and reservations begin and end.
  for (let made = 0, turn = 1; made < count; made += clients, turn += 1) {
    const now = began + turn * 1000;
    placed += step(Array.from({ length: clients }, (_none, index) => drawInput(random, now, made + index + 1)), now);
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
    plain('... placed or placed anew', placed, 'reservations'),
    plain('... living in the end', living.length, 'reservations'),
    below('... that memory has and the journal has not, or the other way', Math.abs(living.length - state.livingCount), 'reservations', 1),
    below('... units of the cluster reserved twice', countOverlaps(of('cluster'), 192), 'units', 1),
    below('... the most of the network that is reserved at once', findPeak(of('network').map(({ place }) => place)) / 1000, 'KB/s', 1901),
  ];
}

/** Fills a journal through the machine, on 64 capacities, then starts a process on it. */
async function measureRestart(home: string): Promise<Figure[]> {
  const now = Date.now();
  const journal = openJournal<ReservationsChange>({ path: join(home, 'reservations', 'local', 'journal.sqlite'), codec: reservationsChangeCodec });
  const state = createReservationsState(options);
  const step = (inputs: readonly ReservationsInput[]): void => {
    const { changes } = reservationsMachine.step(state, inputs, now);
    journal.record(changes, now);
  };
  const names = Array.from({ length: 64 }, (_none, index) => `network${index}`);
  step(names.map((id) => ({ kind: 'ResourceOffered', replyTo: 0, userId: 'owner', resource: { id, type: 'network', quantity: '1MB/s', rules: openRules } })));
  const random = new Prng('restart');
  const began = performance.now();
  for (let made = 0; state.livingCount < reservations; made += 1000) {
    step(Array.from({ length: 1000 }, (_none, index): ReservationsInput => {
      const { duration, start } = drawWish(random, now);
      return {
        kind: 'ReservationRequested', replyTo: 0, userId: `user${index % 50}`, clientRequestId: `request-${made + index}`, hold: 0, isDryRun: false,
        wish: { resourceId: names[index % names.length] ?? '', amount: { kind: 'text', text: `${1 + Math.floor(random.fraction() * 80)}KB/s` }, duration, earliestStart: start, latestEnd: undefined, timing: 'advance' },
      };
    }));
  }
  const filling = (performance.now() - began) / 1000;
  journal.close();
  const manager = new Program('reservations', ['--home', home, '--listen', '127.0.0.1:0', '--reservations-max', '10000000'], {});
  const start = performance.now();
  await manager.start();
  const seconds = (performance.now() - start) / 1000;
  const [memory, busy] = [residentMebibytes(manager.pid), processorSeconds(manager.pid)];
  await manager.kill('SIGKILL');
  return [
    below(`start of a manager with ${state.livingCount} reservations, until it listens`, seconds, 's', 5),
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
