import { join } from 'node:path';
import {
  createReservationSyncState,
  reservationSync,
  restoreSnapshot,
  takeSnapshot,
  type ReservationSyncChange,
  type ReservationSyncCommand,
  type ReservationSyncInput,
  type ReservationSyncSnapshot,
  type ReservationSyncState,
} from '@mutirao/core/machines/reservation-sync';
import type { ClaimedReservation } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';
import { unreachable, type DriverCommand } from '@mutirao/core/shared';
import { MutiraoError } from '@mutirao/api/errors';
import type { SiteReservations } from '@mutirao/managers';
import { MachineDriver, systemClock, systemTimers, reportStalled, type Timers } from '@mutirao/runtime/driver';
import { openJournal, type Journal } from '@mutirao/runtime/journal';
import type { Logger } from '@mutirao/runtime/log';
import type { ReservationUse } from '@mutirao/runtime/reservations';
import { asMutiraoError } from '../resource/submitter.ts';
import { describeKept } from './describe-kept.ts';
import { reservationSyncChangeCodec } from './reservation-sync-codec.ts';
import { LazyReservationClient, type LazyReservationClientOptions } from './lazy-reservation-client.ts';

/** Whose reservations a provider has its site keep. */
export interface ReservationSyncOptions extends Omit<LazyReservationClientOptions, 'onReported'> {
  readonly site: SiteReservations;
  onFatal(error: unknown): void;
}

type SiteCommand = Exclude<ReservationSyncCommand, DriverCommand>;

const replayedMax = 1000;

/** Follows the reservations of a resource and has the site's own manager keep them: one call of that at a time. */
export class ReservationSync {
  readonly #options: ReservationSyncOptions;
  readonly #journal: Journal<ReservationSyncChange>;
  readonly #driver: MachineDriver<
    ReservationSyncState,
    ReservationSyncInput,
    ReservationSyncChange,
    ReservationSyncCommand
  >;
  readonly #timers: Timers;
  readonly #waiting: SiteCommand[] = [];
  readonly #resource: LazyReservationClient;
  #isStopped = false;
  #work: Promise<void> | undefined;
  #timer: unknown;
  #trouble = '';

  /** @throws {MutiraoError} when its journal cannot be had. */
  constructor(options: ReservationSyncOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
    const { site: _site, onFatal: _onFatal, ...followed } = options;
    const { directory, log } = options;
    this.#journal = openJournal({ path: join(directory, 'keeping.sqlite'), codec: reservationSyncChangeCodec });
    this.#driver = new MachineDriver<
      ReservationSyncState,
      ReservationSyncInput,
      ReservationSyncChange,
      ReservationSyncCommand
    >({
      machine: reservationSync,
      state: recover(this.#journal),
      journal: this.#journal,
      clock: systemClock,
      checkEvery: 100,
      perform: (command) => {
        this.#perform(command);
      },
      onCommitted: (entries) => {
        for (const { change } of entries) logChange(log, change);
      },
      onFatal: (error) => {
        options.onFatal(error);
      },
      onStalled: (error) => {
        reportStalled(log, error);
      },
    });
    this.#resource = new LazyReservationClient({
      ...followed,
      onReported: (windows) => {
        this.#driver.deliver({ kind: 'ReservationsReported', windows });
      },
    });
  }

  /** Begins to follow and to read the site. */
  start(): void {
    this.#read();
    this.#resource.start();
  }

  /** How the reservations stand. */
  describe(): Reason[] {
    return describeKept(this.#driver.state, this.#trouble);
  }

  /**
   * Resolves where a claim is good and the site has what it promises.
   *
   * @throws {MutiraoError} MUT_NO_ROOM where the site does not have it (yet); else as `ReservationClient.admit`.
   */
  async admit({ claim, userId, reservationId }: ClaimedReservation): Promise<void> {
    const { client } = this.#resource;
    if (client === undefined)
      throw new MutiraoError('MUT_NO_ROOM', 'the reservations of the resource are not known yet');
    await client.admit(claim, userId);
    const kept = this.#driver.state.kept.get(reservationId);
    if (kept?.status === 'guaranteed') return;
    throw new MutiraoError(
      'MUT_NO_ROOM',
      `reservation ${reservationId} is not guaranteed by the site: ` +
        `${kept?.reason === undefined || kept.reason === '' ? 'it is being asked for' : kept.reason}`,
    );
  }

  /** Reports to the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#resource.noteUse(use);
  }

  /** Ends; what the site has stays. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timers.cancel(this.#timer);
    await this.#resource.stop();
    await this.#work;
    await this.#driver.stop();
    this.#journal.close();
  }

  #perform(command: SiteCommand): void {
    this.#waiting.push(command);
    this.#work ??= this.#workOff().finally(() => {
      this.#work = undefined;
    });
  }

  #read(): void {
    this.#perform({ kind: 'ReadSite' });
    this.#timer = this.#timers.start(this.#options.interval, () => {
      this.#read();
    });
  }

  async #workOff(): Promise<void> {
    for (
      let command = this.#waiting.shift();
      command !== undefined && !this.#isStopped;
      command = this.#waiting.shift()
    ) {
      // Later commands may change what would be read now, and they are followed by a reading of their own.
      if (command.kind === 'ReadSite' && this.#waiting.length > 0) continue;
      await this.#obey(command);
    }
  }

  async #obey(command: SiteCommand): Promise<void> {
    const { site } = this.#options;
    switch (command.kind) {
      case 'ReadSite':
        return this.#list();
      case 'MakeSiteReservation':
        return this.#ask(command.reservation.reservationId, () => site.make(command.reservation));
      case 'MoveSiteReservation':
        return this.#ask(command.reservation.reservationId, () => site.move(command.reservation));
      case 'RemoveSiteReservation':
        return this.#ask(command.reservationId, () => site.remove(command.reservationId));
      default:
        return unreachable(command);
    }
  }

  async #ask(reservationId: number, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#driver.deliver({ kind: 'SiteRefused', reservationId, reason: asMutiraoError(error).message });
    }
  }

  async #list(): Promise<void> {
    try {
      const { reservations, granularity } = await this.#options.site.list();
      this.#trouble = '';
      // Nothing more is read before what this leads to is in line: the same would be done twice.
      if (!this.#isStopped)
        await this.#driver.ask((replyTo) => ({ kind: 'SiteListed', replyTo, reservations, granularity }));
    } catch (error) {
      const { message } = asMutiraoError(error);
      if (this.#trouble === '' && !this.#isStopped)
        this.#options.log.warn({ reason: message }, 'cannot read the reservations of the resource manager');
      this.#trouble = message;
    }
  }
}

/** Reads snapshot and journal; where there was much to replay, the next start finds a newer snapshot. */
function recover(journal: Journal<ReservationSyncChange>): ReservationSyncState {
  const snapshot = journal.latestSnapshot();
  const state =
    snapshot === undefined
      ? createReservationSyncState()
      : restoreSnapshot(JSON.parse(snapshot.body) as ReservationSyncSnapshot);
  let replayed = 0;
  journal.replay(snapshot?.sequence ?? 0, (_sequence, change) => {
    reservationSync.apply(state, change);
    replayed += 1;
  });
  if (replayed >= replayedMax) journal.writeSnapshot(journal.lastSequence(), JSON.stringify(takeSnapshot(state)));
  return state;
}

function logChange(log: Logger, change: ReservationSyncChange): void {
  if (change.kind !== 'StatusChanged') return log.debug(change, 'change');
  const { reservationId: reservation, status, reason } = change;
  if (status === 'guaranteed') log.info({ reservation }, 'the resource manager guarantees the reservation');
  else log.warn({ reservation, ...(reason === '' ? {} : { reason }) }, 'the reservation is not guaranteed');
}
