import { MutiraoError } from '@mutirao/api/errors';
import { factCount, listStoredFacts, StoredReservations } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import { UnitLists } from '@mutirao/core/reservations';
import { journalError, type Journal, type ProjectionDatabase } from '@mutirao/runtime/journal';
import { findReservation, type ReservationRow } from './reservation-row.ts';

/**
 * A start needs only a part of each reservation, which is stored apart from the whole. `facts` are `factCount` numbers
 * of 64 bits as base64 without padding, so that those of many reservations join into one text; `units` is a list in
 * JSON, 0 for none.
 */
export const factsSchema = [
  'CREATE TABLE IF NOT EXISTS reservation_facts (id INTEGER PRIMARY KEY, facts TEXT NOT NULL, units TEXT NOT NULL)',
  'CREATE TABLE IF NOT EXISTS names_now (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)',
];

type Database = Journal<unknown>['database'];

/** Names whose numbers are known by heart. */
const namesMax = 10_000;

/** Rows that are read and parsed as one text. */
const chunkLength = 5000;

/** Keeps the facts of a reservation, in place of those before. */
export function keepFacts(database: ProjectionDatabase, reservation: ReservationRecord): void {
  const {
    place: { id, userId, resources },
    resourceId,
  } = reservation;
  const facts = listStoredFacts(reservation, {
    resource: getNumber(database, resourceId),
    user: getNumber(database, userId),
  });
  database
    .prepare('INSERT OR REPLACE INTO reservation_facts (id, facts, units) VALUES (?, ?, ?)')
    .run(id, Buffer.from(facts.buffer).toString('base64'), resources.length === 0 ? '0' : JSON.stringify(resources));
}

/** Forgets the facts of a reservation. */
export function forgetFacts(database: ProjectionDatabase, id: number): void {
  database.prepare('DELETE FROM reservation_facts WHERE id = ?').run(id);
}

/**
 * What the journal's tables have of reservations; those of an older release get their facts first, once. Cost: O(n).
 *
 * @throws {MutiraoError} MUT_DISK_FULL when there is no room for the facts, MUT_JOURNAL_CORRUPT or MUT_JOURNAL_FAILED;
 * the last two also later, when one is read whole.
 */
export function readStored({ database }: Journal<unknown>): StoredReservations {
  addFacts(database);
  return guarded(database, 'reading', () => {
    const { facts, units } = readFacts(database);
    const names = new Map(
      database
        .prepare('SELECT number, name FROM names_now')
        .all()
        .map(({ number, name }) => [Number(number), String(name)]),
    );
    const whole = database.prepare('SELECT body FROM reservations_now WHERE id = ?');
    return new StoredReservations({
      facts,
      units,
      names,
      read: (id) =>
        parse(
          database,
          id,
          guarded(database, 'reading', () => whole.get(id)?.['body']),
        ),
    });
  });
}

/** Makes what SQLite throws an error that says what to do. */
function guarded<T>(database: Database, doing: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw journalError(error, getPath(database), doing);
  }
}

/** Reads a row's list. @param body undefined where there is no such row. */
function parse(database: Database, id: number, body: unknown): ReservationRecord {
  if (body === undefined)
    throw new MutiraoError(
      'MUT_JOURNAL_CORRUPT',
      `${getPath(database)}: reservation ${id} is not there, and what is known of it in brief is`,
    );
  const text = String(body);
  try {
    return findReservation(JSON.parse(text) as ReservationRow);
  } catch (error) {
    throw new MutiraoError(
      'MUT_JOURNAL_CORRUPT',
      `${getPath(database)}: reservation ${id} cannot be read: ${text.length > 80 ? `${text.slice(0, 80)}...` : text}`,
      { cause: error },
    );
  }
}

function getPath(database: Database): string {
  return database.location() ?? ':memory:';
}

/** A name's number, of its own for ever. */
function getNumber(database: ProjectionDatabase, name: string): number {
  const known = database.known.get(name);
  if (known !== undefined) return known;
  const row = database.prepare('SELECT number FROM names_now WHERE name = ?').get(name);
  const number = Number(
    row?.['number'] ?? database.prepare('INSERT INTO names_now (name) VALUES (?)').run(name).lastInsertRowid,
  );
  // Users may be many; those who come often are soon there again.
  if (database.known.size >= namesMax) database.known.clear();
  database.known.set(name, number);
  return number;
}

/**
 * What an older release wrote is whole alone. Nothing is missing once a release that keeps facts has read the journal:
 * older ones refuse it then.
 */
function addFacts(database: Database): void {
  if (
    guarded(database, 'reading', () => database.prepare('SELECT 1 FROM numbers_now WHERE name = ?').get('facts')) !==
    undefined
  )
    return;
  const statements = new Map<string, ReturnType<typeof database.prepare>>();
  const prepared: ProjectionDatabase = {
    known: new Map(),
    prepare: (sql) => {
      const statement = statements.get(sql) ?? database.prepare(sql);
      statements.set(sql, statement);
      return statement;
    },
  };
  try {
    database.exec('BEGIN IMMEDIATE');
    for (const { id, body } of database
      .prepare('SELECT id, body FROM reservations_now WHERE id NOT IN (SELECT id FROM reservation_facts)')
      .iterate()) {
      keepFacts(prepared, parse(database, Number(id), body));
    }
    database.exec("INSERT INTO numbers_now (name, value) VALUES ('facts', 1); COMMIT");
  } catch (error) {
    // SQLite may have done so by itself, as where there is no room.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw journalError(error, getPath(database), 'writing');
  }
}

interface Facts {
  readonly facts: Float64Array;
  readonly units: UnitLists | undefined;
}

/** A row at a time would cost more than its parsing: SQLite joins them. */
function readFacts(database: Database): Facts {
  const statement =
    database.prepare(`SELECT group_concat(facts, '') AS facts, group_concat(units) AS units, max(length(units)) AS longest, max(id) AS last
    FROM (SELECT id, facts, units FROM reservation_facts WHERE id > ? ORDER BY id LIMIT ?)`);
  const parts: Buffer[] = [];
  const units = new UnitLists();
  let [last, rowCount] = [0, 0];
  for (
    let row = statement.get(last, chunkLength);
    typeof row?.['facts'] === 'string';
    row = statement.get(last, chunkLength)
  ) {
    const part = Buffer.from(row['facts'], 'base64');
    parts.push(part);
    rowCount += part.length / (8 * factCount);
    last = Number(row['last']);
    // Where none has any they are not parsed.
    if (Number(row['longest']) > 1) {
      while (units.count < rowCount - part.length / (8 * factCount)) units.push([]);
      for (const one of JSON.parse(`[${String(row['units'])}]`) as (readonly number[] | 0)[])
        units.push(one === 0 ? [] : one);
    }
  }
  return {
    facts: new Float64Array(new Uint8Array(Buffer.concat(parts)).buffer),
    units: units.count === 0 ? undefined : units,
  };
}
