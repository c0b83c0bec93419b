import { join } from 'node:path';
import { encodeReservationEvents } from '@mutirao/api/events';
import { ReservationServiceService } from '@mutirao/api/reservation';
import {
  listEvents,
  reservationsMachine,
  type ReservationsChange,
  type ReservationsCommand,
  type ReservationsInput,
  type ReservationsOptions,
  type ReservationsState,
} from '@mutirao/core/machines/reservations';
import type { Audit } from '@mutirao/runtime/audit';
import { openClaimSigner } from '@mutirao/runtime/claims';
import { ChangeSignal, MachineDriver, systemClock, systemTimers, reportStalled } from '@mutirao/runtime/driver';
import { createPublisher, type ConnectEvents } from '@mutirao/runtime/events';
import { Room } from '@mutirao/runtime/files';
import { openJournal, readJournalInstance, type Journal } from '@mutirao/runtime/journal';
import type { Logger } from '@mutirao/runtime/log';
import type { Metrics } from '@mutirao/runtime/metrics';
import { bind, serve, type DialOptions, type RunningServer, type TokenCheck } from '@mutirao/runtime/rpc';
import { reservationsChangeCodec } from './journal/change-codec.ts';
import { restoreState } from './journal/restore-state.ts';
import { auditedMethods } from './routes/audited-methods.ts';
import { reservationRoutes } from './routes/reservation-service.ts';
import type { ReservationsHost } from './routes/reservations-host.ts';
import { measureReservations } from './measure-reservations.ts';
import { askDecision } from './together/ask-decision.ts';
import { GroupCommitFollower } from './together/group-commit-follower.ts';

/** What a reservation manager is started with. */
export interface ReservationsSetup {
  readonly options: ReservationsOptions;
  /** Its name, which its claims carry. */
  readonly id: string;
  /** Holds the journal and the key of claims. */
  readonly directory: string;
  /** `host:port` to listen on. */
  readonly listen: string;
  readonly tokens: TokenCheck;
  /** Folder of the identity that serving other hosts wants. */
  readonly identity: string;
  /** How other managers are spoken to. */
  readonly dialing: DialOptions;
  /** Where events are published; left out for nowhere. */
  readonly connectEvents?: ConnectEvents | undefined;
  /** Where it is written down who did what; nowhere when left out. */
  readonly audit?: Audit;
  readonly log: Logger;
  readonly metrics?: Metrics;
  /** Receives the error after which the process should start again. */
  onFatal(error: unknown): void;
}

/** A manager that takes requests. */
export interface RunningReservations {
  readonly address: string;
  /** What is wrong; undefined while all is well. */
  trouble(): string | undefined;
  /** Takes no more calls; everything is in the journal. */
  stop(): Promise<void>;
}

type ReservationsDriver = MachineDriver<ReservationsState, ReservationsInput, ReservationsChange, ReservationsCommand>;

/** A quarter of what other journals have: calls wait while the pages are copied. */
const checkpointPages = 1000;
/** Time that calls get to end when the process stops. */
const drainMs = 1000;
/** Time that events get to be published when the process stops. */
const publishGrace = 1000;
/** With less room than this nothing new is taken. */
const freeMin = 2 * 1024 ** 2;

/** Reads the journal and serves. @throws {MutiraoError} when the journal, the key or the address cannot be had. */
export async function startReservations(setup: ReservationsSetup): Promise<RunningReservations> {
  const { directory, log, metrics } = setup;
  const journal = openJournal({
    path: join(directory, 'journal.sqlite'),
    codec: reservationsChangeCodec,
    checkpointPages,
  });
  const signer = openClaimSigner(join(directory, 'claim-key.pem'), setup.id);
  const { name: journalInstance } = readJournalInstance(journal);
  const state = readState(setup, journal);
  const changes = new ChangeSignal();
  const publisher = openPublisher(setup, journal);
  const driver = makeDriver(setup, {
    journal,
    state,
    onChange: () => {
      changes.notify();
      publisher?.notify();
    },
  });
  // Overdue changes are made before any call is answered, except those that a report of use may still prevent.
  driver.deliver({ kind: 'ManagerStarted' });
  driver.settle();
  const room = new Room({
    folder: directory,
    freeMin,
    pause: 500,
    timers: systemTimers,
    journalTrouble: () => driver.stalledBy?.message,
  });
  publisher?.start();
  const prepares = new GroupCommitFollower({
    state,
    timers: systemTimers,
    log,
    deliver: (input) => {
      driver.deliver(input);
    },
    ask: (asked, signal) => askDecision(asked, setup.dialing, signal),
  });
  prepares.start();
  if (metrics !== undefined) measureReservations(metrics, { state, journal });
  const server: RunningServer = await serveReservations(setup, {
    ask: (make) => driver.ask(make),
    requireDiskSpace: () => {
      room.demand();
    },
    state,
    signer,
    journal,
    journalInstance,
    changes,
    clock: systemClock,
    usesOf: (userId) => server.usesOf(userId),
  });
  return {
    address: server.address,
    trouble: () => room.trouble(),
    stop: async () => {
      await server.drain(drainMs);
      await prepares.stop();
      await driver.stop();
      await publisher?.stop(publishGrace);
      journal.close();
    },
  };
}

function readState({ options, log }: ReservationsSetup, journal: Journal<ReservationsChange>): ReservationsState {
  const began = systemClock.now();
  const state = restoreState(journal, options);
  log.info(
    { resources: state.resources.size, reservations: state.reservations.size, took_ms: systemClock.now() - began },
    'read the journal',
  );
  return state;
}

function openPublisher(
  { connectEvents, id, log, metrics }: ReservationsSetup,
  journal: Journal<ReservationsChange>,
): ReturnType<typeof createPublisher> {
  return createPublisher(
    {
      connectEvents,
      source: `/mutirao/reservations/${id}`,
      series: 'mutirao_reservations_events',
      log,
      metrics,
      encode: (source, { sequence, at, change }) =>
        encodeReservationEvents(source, { sequence, at, events: listEvents(change) }),
    },
    journal,
  );
}

function serveReservations(
  { listen, tokens, identity, log, options: { quotas }, audit, metrics }: ReservationsSetup,
  host: ReservationsHost,
): Promise<RunningServer> {
  return serve({
    address: listen,
    tokens,
    identity,
    log,
    services: [bind(ReservationServiceService, reservationRoutes(host), { audited: auditedMethods })],
    ...(quotas === undefined ? {} : { quotas }),
    ...(audit === undefined ? {} : { audit }),
    ...(metrics === undefined ? {} : { metrics }),
  });
}

interface DriverParts {
  readonly journal: Journal<ReservationsChange>;
  readonly state: ReservationsState;
  /** Called after each turn that changed something. */
  onChange(): void;
}

function makeDriver(
  { log, onFatal }: ReservationsSetup,
  { journal, state, onChange }: DriverParts,
): ReservationsDriver {
  return new MachineDriver<ReservationsState, ReservationsInput, ReservationsChange, ReservationsCommand>({
    machine: reservationsMachine,
    state,
    journal,
    clock: systemClock,
    perform: () => undefined,
    onCommitted: (entries) => {
      for (const { change } of entries) logChange(log, change);
      onChange();
    },
    onFatal,
    onStalled: (error) => {
      reportStalled(log, error);
    },
  });
}

function logChange(log: Logger, change: ReservationsChange): void {
  for (const { type, resourceId, reservation, reason } of listEvents(change)) {
    if (reservation === undefined) log.info({ resource: resourceId, reason }, type);
    else
      log.debug(
        { reservation: reservation.place.id, user: reservation.place.userId, resource: resourceId, reason },
        type,
      );
  }
}
