import type { ReservationFact, ReservationsChange, ReservationReported } from '@mutirao/core/machines/reservations';
import type { ChangeCodec, ProjectionDatabase } from '@mutirao/runtime/journal';
import { factsSchema, forgetFacts, keepFacts } from './reservation-facts.ts';
import { findReservation, toRow, type ReservationRow } from './reservation-row.ts';

type Written =
  | Exclude<ReservationsChange, { readonly reported: unknown }>
  | (Omit<Extract<ReservationsChange, { kind: 'OutagePut' }>, 'reported'> & {
      readonly reported: readonly WrittenReported[];
    })
  | { readonly kind: 'ReservationsPut'; readonly reported: readonly WrittenReported[] };
type WrittenReported = readonly [fact: ReservationFact, row: ReservationRow];

/**
 * The present state, stored in addition to the log of its changes: a restart reads these tables and replays nothing.
 */
const schema = [
  'CREATE TABLE IF NOT EXISTS reservations_now (id INTEGER PRIMARY KEY, body TEXT NOT NULL)',
  'CREATE TABLE IF NOT EXISTS resources_now (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, ' +
    'registered_at INTEGER NOT NULL, body TEXT NOT NULL)',
  'CREATE TABLE IF NOT EXISTS outages_now (resource TEXT NOT NULL, id INTEGER NOT NULL, body TEXT NOT NULL, ' +
    'PRIMARY KEY (resource, id)) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS numbers_now (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID',
  ...factsSchema,
];

/** How the reservation manager's changes lie in its journal. */
export const reservationsChangeCodec: ChangeCodec<ReservationsChange> = {
  version: 2,
  encode: (change) =>
    JSON.stringify('reported' in change ? { ...change, reported: change.reported.map(writeReported) } : change),
  decode: (_version, body) => {
    const written = JSON.parse(body) as Written;
    return 'reported' in written ? { ...written, reported: written.reported.map(readReported) } : written;
  },
  deriveJob: () => undefined,
  // What time does by itself it does again after a fall of the whole machine; all else was promised to somebody.
  isDurable: (change) =>
    change.kind !== 'ReservationsForgotten' &&
    !(change.kind === 'ReservationsPut' && change.reported.every(({ fact }) => fact === 'expired')),
  project,
  schema,
};

function writeReported({ fact, reservation }: ReservationReported): WrittenReported {
  return [fact, toRow(reservation)];
}

function readReported([fact, row]: WrittenReported): ReservationReported {
  return { fact, reservation: findReservation(row) };
}

function project(database: ProjectionDatabase, _sequence: number, change: ReservationsChange, at: number): void {
  switch (change.kind) {
    case 'ResourcePut':
      database
        .prepare(
          'INSERT INTO resources_now (id, registered_at, body) VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET ' +
            'body = excluded.body',
        )
        .run(change.resource.id, at, JSON.stringify(change.resource));
      return;
    case 'OutagePut':
      database
        .prepare('INSERT OR REPLACE INTO outages_now (resource, id, body) VALUES (?, ?, ?)')
        .run(change.resourceId, change.outage.id, JSON.stringify(change.outage));
      return keep(database, change.reported);
    case 'OutageRemoved':
      database.prepare('DELETE FROM outages_now WHERE resource = ? AND id = ?').run(change.resourceId, change.outageId);
      return;
    case 'ReservationsPut':
      return keep(database, change.reported);
    case 'ReservationsForgotten':
      forget(database, change.ids);
  }
}

function keep(database: ProjectionDatabase, reported: readonly ReservationReported[]): void {
  const statement = database.prepare('INSERT OR REPLACE INTO reservations_now (id, body) VALUES (?, ?)');
  for (const { reservation } of reported) {
    statement.run(reservation.place.id, JSON.stringify(toRow(reservation)));
    keepFacts(database, reservation);
  }
}

/** The greatest number that is forgotten is kept: numbers are not used again. */
function forget(database: ProjectionDatabase, ids: readonly number[]): void {
  const statement = database.prepare('DELETE FROM reservations_now WHERE id = ?');
  for (const id of ids) {
    statement.run(id);
    forgetFacts(database, id);
  }
  const greatest = ids.reduce((most, id) => Math.max(most, id), 0);
  database
    .prepare(
      'INSERT INTO numbers_now (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = max(value, ' +
        'excluded.value)',
    )
    .run('forgotten', greatest);
}
