import { DatabaseSync } from 'node:sqlite';
import { readBootId } from './boot-id.ts';
import { requireSound } from './journal.ts';
import { LastChange, readLastChange, requireWhole } from './last-change.ts';
import { claim } from './schema.ts';
import { journalError } from './sqlite-errors.ts';

const checkpointPages = 4000;

/**
 * Checks a journal that no process has open page by page, and copies it with its log into one file. Notes the last
 * change next to the copy and returns its sequence.
 *
 * @throws {MutiraoError} MUT_ALREADY_RUNNING when a process has it open, MUT_JOURNAL_CORRUPT when it is damaged or
 * lacks changes, MUT_DISK_FULL.
 */
export function copyJournal(path: string, to: string): number {
  return withDatabase(path, (database) => {
    claim(database, checkpointPages);
    const held = getLast(database);
    requireWhole(path, held, { noted: readLastChange(path), bootId: readBootId() });
    requireSound(database, path);
    database.prepare('VACUUM INTO ?').run(to);
    // Without a run of a host, so that a process that opens the copy requires all of it.
    new LastChange(to, { bootId: undefined, last: held, synced: held }).close();
    return held;
  });
}

/** Looks whether a copy is whole. @throws {MutiraoError} MUT_JOURNAL_CORRUPT */
export function checkJournal(path: string, last: number): void {
  withDatabase(path, (database) => {
    requireWhole(path, getLast(database), { noted: { bootId: undefined, last, synced: last }, bootId: undefined });
    requireSound(database, path);
  });
}

/** Has the owner of a journal that is put back from a copy notice that, on any file system. */
export function markPutBack(path: string): void {
  withDatabase(path, (database) => {
    database.exec("DELETE FROM meta WHERE name IN ('boot', 'file')");
  });
}

/** Makes sure that no process has a journal open. @throws {MutiraoError} MUT_ALREADY_RUNNING */
export function requireUnused(path: string): void {
  withDatabase(path, (database) => {
    claim(database, checkpointPages);
  });
}

function getLast(database: DatabaseSync): number {
  return Number(database.prepare('SELECT max(seq) AS last FROM changes').get()?.['last'] ?? 0);
}

function withDatabase<T>(path: string, act: (database: DatabaseSync) => T): T {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    return act(database);
  } catch (error) {
    throw journalError(error, path, 'copying');
  } finally {
    if (database?.isOpen === true) database.close();
  }
}
