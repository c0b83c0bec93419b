import type { DatabaseSync } from 'node:sqlite';
import { MutiraoError } from '@mutirao/api/errors';

/** Version of the journal's own tables. */
export const schemaVersion = 1;

const tables = [
  'CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID',
  'CREATE TABLE IF NOT EXISTS changes (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, job INTEGER, version ' +
    'INTEGER NOT NULL, body TEXT NOT NULL)',
  'CREATE INDEX IF NOT EXISTS changes_by_job ON changes (job, seq) WHERE job IS NOT NULL',
  'CREATE TABLE IF NOT EXISTS snapshots (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)',
];

/**
 * Takes the database for this process alone and sets how it writes.
 *
 * The exclusive lock is held until the database is closed or the process ends, however it ends; it also spares the
 * shared memory file, so the journal may lie on a network file system.
 *
 * @param checkpointPages pages in the log from which on they are copied into the file, which holds up whoever writes
 * then.
 */
export function claim(database: DatabaseSync, checkpointPages: number): void {
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  // Before the first table: what is erased later can be given back to the disk.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = NORMAL');
  database.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  database.exec('PRAGMA cache_size = -16000');
  database.exec('BEGIN IMMEDIATE; COMMIT');
}

/**
 * Makes the tables where they are missing, and refuses those of a later release.
 */
export function migrate(
  database: DatabaseSync,
  path: string,
  codec: { readonly version: number; readonly schema?: readonly string[] },
): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const sql of tables) database.exec(sql);
    keepVersion(database, path, 'schema_version', schemaVersion);
    keepVersion(database, path, 'change_version', codec.version);
    for (const sql of codec.schema ?? []) database.exec(sql);
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Notes the version that this process writes. @throws {MutiraoError} MUT_JOURNAL_NEWER when a later one was noted. */
function keepVersion(database: DatabaseSync, path: string, name: string, version: number): void {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
  const found = Number(row?.['value'] ?? 0);
  if (found > version) {
    throw new MutiraoError(
      'MUT_JOURNAL_NEWER',
      `${path} has ${name} ${found}; this release knows ${version} and those before it`,
    );
  }
  database
    .prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
    .run(name, version);
}

/** What a journal was written by last: the host's run, and its own file. */
export interface Origin {
  /** Undefined where the system names none. */
  readonly bootId: number | undefined;
  /** Undefined if the journal is not a file. */
  readonly fileId: number | undefined;
}

/**
 * Whether changes may be gone since `keepOrigin`: the host has started again, or may have, or the journal is another
 * file, as one that was put back from a back-up is. A new journal has nothing to forget.
 */
export function isOriginNew(database: DatabaseSync, { bootId, fileId }: Origin): boolean {
  if (database.prepare('SELECT 1 FROM changes LIMIT 1').get() === undefined) return false;
  const notedFile = findNoted(database, 'file');
  return (
    bootId === undefined ||
    findNoted(database, 'boot') !== bootId ||
    (notedFile !== undefined && fileId !== undefined && notedFile !== fileId)
  );
}

/**
 * Whether the journal is another file than `keepOrigin` noted, or nothing was noted: a restore removes the notes. An
 * older release may have noted the host's run alone.
 */
export function isFileNew(database: DatabaseSync, { fileId }: Origin): boolean {
  const notedFile = findNoted(database, 'file');
  return notedFile === undefined ? findNoted(database, 'boot') === undefined : notedFile !== fileId;
}

function findNoted(database: DatabaseSync, name: 'boot' | 'file'): unknown {
  return database.prepare('SELECT value FROM meta WHERE name = ?').get(name)?.['value'];
}

/** Notes the host's present run, and the file. */
export function keepOrigin(database: DatabaseSync, { bootId, fileId }: Origin): void {
  for (const [name, value] of [
    ['boot', bootId],
    ['file', fileId],
  ] as const) {
    if (value === undefined) continue;
    database
      .prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value')
      .run(name, value);
  }
}
