import {
  createReservationSyncState,
  reservationSync,
  restoreSnapshot,
  takeSnapshot,
  type ReservationSyncChange,
  type ReservationSyncCommand,
  type ReservationSyncInput,
  type ReservationSyncState,
} from '@mutirao/core/machines/reservation-sync';
import type { SiteReservation } from '@mutirao/core/messages';
import { invariant } from '@mutirao/core/shared';

const second = 1000;

/**
 * Speaks with a real keeper of reservations in lines of text, and plays its site; after each its invariants are
 * checked.
 *
 * Times are seconds. `told 1=4@100..200 ...` is the reservation manager's level, `read` has the keeper read the site,
 * `site ...` sets what the site has by
 * somebody's hand, `full` and `open` have the site refuse all and take all, `whole 8` has it take whole nodes of eight,
 * `shifted 1` has it end all a second late, `at 50` goes on to a time, `list` shows all, `restart` begins a life again.
 */
export class ReservationSyncHarness {
  readonly changes: ReservationSyncChange[] = [];
  state: ReservationSyncState = createReservationSyncState();
  now = 0;
  #site = new Map<number, SiteReservation>();
  #refuses = '';
  /** Processors that the site reserves together. */
  #granularity = 1;
  #isRead = false;
  /** The site takes whole nodes of this size, although it reports a smaller one. */
  #takes = 1;
  /** What the site makes ends later than requested by this time. */
  #shift = 0;

  /** Performs one line and answers the lines that follow from it. */
  perform(line: string): string[] {
    const [word = '', ...rest] = line.split(' ');
    switch (word) {
      case 'reported':
        return this.receive([
          { kind: 'ReservationsReported', windows: rest.map((text) => ({ userId: 'ana', ...readWindow(text) })) },
        ]);
      case 'read':
        return this.#read();
      case 'site':
        return this.#set(rest);
      case 'full':
        this.#refuses = rest.join(' ');
        return [];
      case 'open':
        this.#refuses = '';
        return [];
      case 'pairs':
        this.#granularity = 2;
        return [];
      case 'whole':
        this.#takes = Number(rest[0]);
        return [];
      case 'shifted':
        this.#shift = Number(rest[0]) * second;
        return [];
      case 'at':
        this.now = Number(rest[0]) * second;
        return this.receive([{ kind: 'TimerFired' }]);
      case 'list':
        return [...this.state.kept.values()].map(
          ({ window, status, since, reason }) =>
            `${showWindow(window)} ${status} since ${since / second}${reason === '' ? '' : `: ${reason}`}`,
        );
      case 'restart':
        this.checkReplay();
        this.state = restoreSnapshot(takeSnapshot(this.state));
        return [];
      default:
        throw new Error(`unknown line "${line}"`);
    }
  }

  /** One step of the machine and all that follows from it, in words. */
  receive(inputs: readonly ReservationSyncInput[]): string[] {
    const { changes, commands } = reservationSync.step(this.state, inputs, this.now);
    this.changes.push(...changes);
    reservationSync.checkInvariants(this.state);
    const reported = [...changes.flatMap(showChange)];
    const answers: ReservationSyncInput[] = [];
    for (const command of commands) reported.push(...this.#obey(command, answers));
    if (answers.length > 0) reported.push(...this.receive(answers));
    if (this.#isRead) reported.push(...this.#read());
    return reported;
  }

  /**
   * Makes the state again from all changes, and from a snapshot: all three are the same. @throws {InvariantError} when
   * they differ.
   */
  checkReplay(): void {
    const replayed = createReservationSyncState();
    for (const change of this.changes) reservationSync.apply(replayed, change);
    const reported = JSON.stringify(takeSnapshot(this.state));
    for (const other of [replayed, restoreSnapshot(takeSnapshot(this.state))])
      invariant(
        reported === JSON.stringify(takeSnapshot(other)),
        `${JSON.stringify(takeSnapshot(other))} in place of ${reported}`,
      );
  }

  #rounded(count: number): number {
    const together = Math.max(this.#granularity, this.#takes);
    return Math.ceil(count / together) * together;
  }

  #read(): string[] {
    this.#isRead = false;
    return this.receive([
      { kind: 'SiteListed', replyTo: 1, reservations: [...this.#site.values()], granularity: this.#granularity },
    ]);
  }

  #set(texts: readonly string[]): string[] {
    this.#site = new Map(texts.map((text) => [readWindow(text).reservationId, readWindow(text)]));
    return [];
  }

  #obey(command: ReservationSyncCommand, answers: ReservationSyncInput[]): string[] {
    switch (command.kind) {
      case 'ReadSite':
        this.#isRead = true;
        return [];
      case 'WakeAt':
        return [`wake at ${command.at / second}`];
      case 'RemoveSiteReservation':
        this.#site.delete(command.reservationId);
        return [`remove ${command.reservationId}`];
      case 'MakeSiteReservation':
      case 'MoveSiteReservation': {
        const { reservation } = command;
        if (this.#refuses !== '')
          answers.push({ kind: 'SiteRefused', reservationId: reservation.reservationId, reason: this.#refuses });
        else
          this.#site.set(reservation.reservationId, {
            ...reservation,
            count: this.#rounded(reservation.count),
            endsAt: reservation.endsAt + this.#shift,
            startsAt: Math.max(reservation.startsAt, this.now),
          });
        return [`${command.kind === 'MakeSiteReservation' ? 'make' : 'move'} ${showWindow(reservation)}`];
      }
      case 'Reply':
        return [];
    }
  }
}

/** Reads `7=4@100..200.5`: four processors from second 100 on. */
function readWindow(text: string): SiteReservation {
  const [, id, count, start, end] = /^(\d+)=(\d+)@([\d.]+)\.\.([\d.]+)$/.exec(text) ?? [];
  if (id === undefined) throw new Error(`"${text}" is not a reservation; expected 7=4@100..200`);
  return {
    reservationId: Number(id),
    count: Number(count),
    startsAt: Number(start) * second,
    endsAt: Number(end) * second,
  };
}

function showWindow({ reservationId, count, startsAt, endsAt }: SiteReservation): string {
  return `${reservationId}=${count}@${startsAt / second}..${endsAt / second}`;
}

function showChange(change: ReservationSyncChange): string[] {
  if (change.kind === 'StatusChanged')
    return [`${change.reservationId} is ${change.status}${change.reason === '' ? '' : `: ${change.reason}`}`];
  return change.kind === 'WindowsEnded' ? [`${change.ids.join(',')} ended`] : [];
}
