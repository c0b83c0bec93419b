import { isSameWindow, type ReservedWindow, type SiteReservation } from '../../messages/index.ts';
import { unreachable, type Decision, type Instant, type ProcessorCount } from '../../shared/index.ts';
import { findAmendment, atSite } from './amend.ts';
import { apply } from './apply.ts';
import type { ReservationSyncChange } from './changes.ts';
import type { ReservationSyncCommand } from './commands.ts';
import type { ReservationSyncInput } from './inputs.ts';
import type { ReservationSyncState, KeptReservation, KeptStatus } from './state.ts';

interface Turn {
  readonly state: ReservationSyncState;
  readonly now: Instant;
  readonly changes: ReservationSyncChange[];
  readonly commands: ReservationSyncCommand[];
}

/**
 * Keeps a reservation at the site's own manager for each of Mutirao's, and no others.
 *
 * It decides by levels only, the promises and the listing of the site, and commands the site only after a listing: so
 * lost commands, restarts and manual changes make no difference.
 */
export function step(
  state: ReservationSyncState,
  inputs: readonly ReservationSyncInput[],
  now: Instant,
): Decision<ReservationSyncChange, ReservationSyncCommand> {
  const turn: Turn = { state, now, changes: [], commands: [] };
  for (const input of inputs) handle(turn, input);
  dropEnded(turn);
  askToBeWoken(turn);
  return { changes: turn.changes, commands: turn.commands };
}

function handle(turn: Turn, input: ReservationSyncInput): void {
  switch (input.kind) {
    case 'ReservationsReported':
      return noteWindows(turn, input.windows);
    case 'SiteListed': {
      amendSite(turn, input);
      turn.commands.push({ kind: 'Reply', replyTo: input.replyTo, reply: { ok: true, value: undefined } });
      return;
    }
    case 'SiteRefused':
      return noteRefusal(turn, input);
    case 'ClockStepped':
      turn.state.wakeAt = 0;
      return; // The alarm was set by the clock as it was.
    case 'TimerFired':
      return; // After every input, ended reservations are handled.
    default:
      return unreachable(input);
  }
}

function commit(turn: Turn, change: ReservationSyncChange): void {
  apply(turn.state, change);
  turn.changes.push(change);
}

function noteWindows(turn: Turn, windows: readonly ReservedWindow[]): void {
  const { kept, isAnnounced } = turn.state;
  const reported = new Map(
    windows.filter(({ endsAt }) => endsAt > turn.now).map((window) => [window.reservationId, window]),
  );
  const removedIds = [...kept.keys()].filter((id) => !reported.has(id));
  const fresh = [...reported.values()].filter(
    (window) => !isSameWindow(kept.get(window.reservationId)?.window, window),
  );
  if (isAnnounced && removedIds.length + fresh.length === 0) return;
  commit(turn, { kind: 'WindowsChanged', removedIds, windows: fresh, at: turn.now });
  turn.commands.push({ kind: 'ReadSite' });
}

function isSameAtSite(asked: SiteReservation | undefined, wanted: SiteReservation): boolean {
  return (
    asked !== undefined && (['count', 'startsAt', 'endsAt'] as const).every((name) => asked[name] === wanted[name])
  );
}

/** Cost: O(ours + the site's). */
function amendSite(turn: Turn, { reservations, granularity }: ReservationSyncInput & { kind: 'SiteListed' }): void {
  const { state, commands } = turn;
  // Reservations from a former life of the reservation manager must stay until it has reported its present ones.
  if (!state.isAnnounced) return;
  const there = new Map(reservations.map((reservation) => [reservation.reservationId, reservation]));
  removeForeigners(turn, reservations);
  let isNew = false;
  for (const kept of state.kept.values()) {
    if (amendOne(turn, kept, { there: there.get(kept.window.reservationId), granularity })) isNew = true;
  }
  for (const id of state.asked.keys()) if (!state.kept.has(id)) state.asked.delete(id);
  // The answer of a command does not prove its effect: a first attempt is verified at once; a refusal, or a difference,
  // when the site is next read.
  if (isNew) commands.push({ kind: 'ReadSite' });
}

/** Removes reservations of the site that were never promised. */
function removeForeigners({ state, now, commands }: Turn, reservations: readonly SiteReservation[]): void {
  for (const { reservationId, endsAt } of reservations) {
    if (!state.kept.has(reservationId) && endsAt > now) commands.push({ kind: 'RemoveSiteReservation', reservationId });
  }
}

interface AtSite {
  readonly there: SiteReservation | undefined;
  readonly granularity: ProcessorCount;
}

/** Returns whether the site is asked for the reservation in its present form for the first time. */
function amendOne(turn: Turn, kept: KeptReservation, { there, granularity }: AtSite): boolean {
  const { state, now, commands } = turn;
  const reservation = atSite(kept.window);
  const isAsked = isSameAtSite(state.asked.get(reservation.reservationId), reservation);
  const amendment = findAmendment(reservation, there, {
    now,
    granularity,
    isRounded: isAsked || kept.status === 'guaranteed',
  });
  commands.push(...listCommands(amendment, reservation));
  if (amendment === 'none') {
    state.asked.delete(reservation.reservationId);
    setStatus(turn, kept, 'guaranteed');
  } else {
    state.asked.set(reservation.reservationId, reservation);
    if (kept.status === 'guaranteed') setStatus(turn, kept, 'planned');
  }
  return kept.status === 'planned' && !isAsked;
}

function listCommands(
  amendment: ReturnType<typeof findAmendment>,
  reservation: SiteReservation,
): ReservationSyncCommand[] {
  const { reservationId } = reservation;
  switch (amendment) {
    case 'none':
      return [];
    case 'made':
      return [{ kind: 'MakeSiteReservation', reservation }];
    case 'moved':
      return [{ kind: 'MoveSiteReservation', reservation }];
    case 'remade':
      return [
        { kind: 'RemoveSiteReservation', reservationId },
        { kind: 'MakeSiteReservation', reservation },
      ];
    default:
      return unreachable(amendment);
  }
}

function noteRefusal(turn: Turn, { reservationId, reason }: ReservationSyncInput & { kind: 'SiteRefused' }): void {
  const kept = turn.state.kept.get(reservationId);
  if (kept !== undefined) setStatus(turn, kept, 'refused', reason);
}

function setStatus(
  turn: Turn,
  { window: { reservationId }, status: before, reason: reported }: KeptReservation,
  status: KeptStatus,
  reason = '',
): void {
  if (before !== status || reported !== reason)
    commit(turn, { kind: 'StatusChanged', reservationId, status, reason, at: turn.now });
}

function dropEnded(turn: Turn): void {
  const ids = [...turn.state.kept.values()]
    .filter(({ window }) => window.endsAt <= turn.now)
    .map(({ window }) => window.reservationId);
  if (ids.length > 0) commit(turn, { kind: 'WindowsEnded', ids });
}

function askToBeWoken({ state, commands }: Turn): void {
  const at = Math.min(...[...state.kept.values()].map(({ window }) => window.endsAt));
  if (at === Infinity || at === state.wakeAt) return;
  state.wakeAt = at;
  commands.push({ kind: 'WakeAt', at });
}
