import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { MutiraoError } from '@mutirao/api/errors';
import { InvariantError, type Instant } from '@mutirao/core/shared';
import { ownDatabase } from '../files/own-database.ts';
import { readBootId } from './boot-id.ts';
import { readFileId } from './file-id.ts';
import type { ChangeCodec, ProjectionDatabase } from './codec.ts';
import { LastChange, readLastChange, requireWhole, type NotedChanges } from './last-change.ts';
import { claim, isFileNew, isOriginNew, keepOrigin, migrate, type Origin } from './schema.ts';
import { journalError } from './sqlite-errors.ts';

/** A line of the journal. */
export interface JournalEntry<Change> {
  /** Counts from 1; only lines that were erased are missing. */
  readonly sequence: number;
  readonly at: Instant;
  readonly change: Change;
}

/** A state as it was after a change, in a form that its owner chose. */
export interface Snapshot {
  readonly sequence: number;
  readonly body: string;
}

/** Which lines `read` returns. */
export interface JournalSelection {
  /** Only greater sequences. */
  readonly after: number;
  /** Only this job's. */
  readonly job?: number;
  /** Of that job's, only changes whose line begins with this kind; others are not decoded. */
  readonly kind?: string;
  readonly limit: number;
}

/**
 * What was promised, in order, and also the log of events: its owner alone erases lines, where a snapshot makes them
 * needless. One process at a time has it open.
 */
export interface Journal<Change> {
  /**
   * Writes changes in one transaction, with their projections, and returns the sequence of the first.
   *
   * When it returns, the changes outlive this process; they outlive the machine too if any of them is durable.
   * @throws {MutiraoError} MUT_DISK_FULL, when the same may be tried again later, or MUT_JOURNAL_FAILED; none of them
   * is written then.
   */
  record(changes: readonly Change[], at: Instant): number;
  /**
   * Visits all changes after a sequence, in order. @throws {MutiraoError} MUT_JOURNAL_CORRUPT for a line that makes no
   * sense.
   */
  replay(after: number, visit: (sequence: number, change: Change) => void): void;
  /** The first lines of a selection, in order. */
  read(selection: JournalSelection): JournalEntry<Change>[];
  /** 0 while it is empty. */
  lastSequence(): number;
  /** Keeps a snapshot, and the one before it. */
  writeSnapshot(sequence: number, body: string): void;
  latestSnapshot(): Snapshot | undefined;
  /**
   * Whether the host has started again, or may have, since `keepHost`, or the journal was put back from a back-up: the
   * last changes may be gone.
   */
  readonly isHostNew: boolean;
  /**
   * Whether it is another file than then, as one that is new or was put back from a back-up is. A crash of the host
   * leaves it the same file.
   */
  readonly isFileNew: boolean;
  /**
   * What followed from a new host is dealt with, and in the journal; that is on the disk, not only in the system's
   * cache, before this returns.
   */
  keepHost(): void;
  /** A number that `keepNumber` kept; undefined when none was. */
  findNumber(name: string): number | undefined;
  /**
   * Stores a named number with the changes, such as a reader's position, and replaces the previous value. It survives a
   * crash of this process, not of the machine.
   */
  keepNumber(name: string, value: number): void;
  /** For reading projections. Statements are for the caller to keep. */
  readonly database: DatabaseSync;
  close(): void;
}

/** Which journal to open. */
export interface JournalOptions<Change> {
  /** A file, made with its folder if absent; `:memory:` for tests. */
  readonly path: string;
  readonly codec: ChangeCodec<Change>;
  /** Names the host's present run; the system's own name for it when left out. */
  readonly bootId?: number | undefined;
  /**
   * Pages of 4 KiB in the log before they are copied into the file: fewer make shorter pauses, and more of them. 4000
   * when left out.
   */
  readonly checkpointPages?: number;
}

const checkpointPagesUsual = 4000;

/**
 * Opens a journal, for this process alone.
 *
 * @throws {MutiraoError} MUT_ALREADY_RUNNING when another process has it open, MUT_JOURNAL_NEWER when a later release
 * wrote it, MUT_JOURNAL_CORRUPT when it is damaged or lacks changes, MUT_DISK_FULL when there is no room to begin,
 * MUT_JOURNAL_FAILED when it cannot be read or made.
 */
export function openJournal<Change>(options: JournalOptions<Change>): Journal<Change> {
  const { path, codec } = options;
  let database: DatabaseSync | undefined;
  try {
    const noted = path === ':memory:' ? undefined : prepareFile(path);
    database = new DatabaseSync(path, { timeout: 0 });
    claim(database, options.checkpointPages ?? checkpointPagesUsual);
    migrate(database, path, codec);
    return new SqliteJournal({
      path,
      database,
      codec,
      noted,
      bootId: 'bootId' in options ? options.bootId : readBootId(),
    });
  } catch (error) {
    if (database?.isOpen === true) database.close();
    if (error instanceof Error && 'syscall' in error) {
      throw new MutiraoError('MUT_JOURNAL_FAILED', `${path} cannot be made: ${error.message}`, { cause: error });
    }
    throw journalError(error, path, 'opening');
  }
}

/**
 * Creates the folder and makes the file this account's alone. Returns the note of its last change if the file exists: a
 * user who removes the whole file wants to start empty.
 */
function prepareFile(path: string): NotedChanges | undefined {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const noted = existsSync(path) ? readLastChange(path) : undefined;
  ownDatabase(path);
  return noted;
}

/** Looks at every page of a journal that was put back or copied. @throws {MutiraoError} MUT_JOURNAL_CORRUPT */
export function requireSound(database: DatabaseSync, path: string): void {
  const found = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
  if (found !== 'ok') throw new MutiraoError('MUT_JOURNAL_CORRUPT', `${path} is damaged: ${String(found)}`);
}

/**
 * Whether host and file are others than they were. @param isUnknown without a note nobody knows what is missing, or the
 * note was removed since something is.
 */
function judgeOrigin(
  database: DatabaseSync,
  origin: Origin,
  { isUnknown }: { readonly isUnknown: boolean },
): { readonly isHostNew: boolean; readonly isFileNew: boolean } {
  if (isUnknown) return { isHostNew: true, isFileNew: true };
  return { isHostNew: isOriginNew(database, origin), isFileNew: isFileNew(database, origin) };
}

class SqliteJournal<Change> implements Journal<Change>, ProjectionDatabase {
  readonly database: DatabaseSync;
  readonly known = new Map<string, number>();
  readonly isHostNew: boolean;
  readonly isFileNew: boolean;
  readonly #origin: Origin;
  readonly #path: string;
  readonly #codec: ChangeCodec<Change>;
  readonly #statements = new Map<string, StatementSync>();
  readonly #insert: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  /** Undefined for a journal in memory. */
  readonly #lastChange: LastChange | undefined;
  #sequence: number;
  #isFull = false;

  constructor({
    path,
    database,
    codec,
    noted,
    bootId,
  }: JournalOptions<Change> & { readonly database: DatabaseSync; readonly noted: NotedChanges | undefined }) {
    this.#origin = { bootId, fileId: readFileId(path) };
    this.#sequence = Number(database.prepare('SELECT max(seq) AS last FROM changes').get()?.['last'] ?? 0);
    requireWhole(path, this.#sequence, { noted, bootId });
    ({ isHostNew: this.isHostNew, isFileNew: this.isFileNew } = judgeOrigin(database, this.#origin, {
      isUnknown: path !== ':memory:' && noted === undefined && this.#sequence > 0,
    }));
    if (this.isFileNew && this.#sequence > 0) requireSound(database, path);
    this.#lastChange =
      path === ':memory:'
        ? undefined
        : new LastChange(path, { bootId, last: this.#sequence, synced: Math.min(this.#sequence, noted?.synced ?? 0) });
    this.#path = path;
    this.database = database;
    this.#codec = codec;
    this.#insert = database.prepare('INSERT INTO changes (seq, at, job, version, body) VALUES (?, ?, ?, ?, ?)');
    this.#begin = database.prepare('BEGIN IMMEDIATE');
    this.#commit = database.prepare('COMMIT');
  }

  prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  record(changes: readonly Change[], at: Instant): number {
    const first = this.#sequence + 1;
    if (changes.length === 0) return first;
    try {
      this.#setDurability(changes.some((change) => this.#codec.isDurable(change)));
      this.#begin.run();
      let sequence = this.#sequence;
      for (const change of changes) this.#write(++sequence, change, at);
      this.#commit.run();
      this.#sequence = sequence;
      this.#lastChange?.note(sequence, this.#isFull);
      return first;
    } catch (error) {
      this.known.clear();
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw journalError(error, this.#path, 'writing');
    }
  }

  #write(sequence: number, change: Change, at: Instant): void {
    const codec = this.#codec;
    this.#insert.run(sequence, at, codec.deriveJob(change) ?? null, codec.version, codec.encode(change));
    codec.project?.(this, sequence, change, at);
  }

  /**
   * SQLite takes the setting only between transactions; it costs little, but not nothing, so it is changed only when it
   * must be.
   */
  #setDurability(isFull: boolean): void {
    if (isFull === this.#isFull) return;
    this.database.exec(isFull ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL');
    this.#isFull = isFull;
  }

  replay(after: number, visit: (sequence: number, change: Change) => void): void {
    const statement = this.database.prepare('SELECT seq, version, body FROM changes WHERE seq > ? ORDER BY seq');
    const rows = this.#guarded('reading', () => statement.iterate(after));
    for (;;) {
      const row = this.#guarded('reading', () => rows.next());
      if (row.done === true) return;
      const { seq, version, body } = row.value as unknown as ChangeRow;
      visit(seq, this.#decode(seq, version, body));
    }
  }

  read({ after, job, kind, limit }: JournalSelection): JournalEntry<Change>[] {
    const rows = this.#guarded('reading', () =>
      job === undefined
        ? this.prepare('SELECT seq, at, version, body FROM changes WHERE seq > ? ORDER BY seq LIMIT ?').all(
            after,
            limit,
          )
        : this.prepare(
            'SELECT seq, at, version, body FROM changes WHERE job = ?1 AND seq > ?2 AND substr(body, 1, length(?4)) = ?4 ' +
              'ORDER BY seq LIMIT ?3',
          ).all(job, after, limit, kind === undefined ? '' : `{"kind":${JSON.stringify(kind)},`),
    );
    return (rows as unknown as ChangeRow[]).map(({ seq, at, version, body }) => ({
      sequence: seq,
      at,
      change: this.#decode(seq, version, body),
    }));
  }

  lastSequence(): number {
    return this.#sequence;
  }

  writeSnapshot(sequence: number, body: string): void {
    this.#guarded('writing a snapshot', () => {
      this.prepare('INSERT OR REPLACE INTO snapshots (seq, body) VALUES (?, ?)').run(sequence, body);
      this.prepare(
        'DELETE FROM snapshots WHERE seq NOT IN (SELECT seq FROM snapshots ORDER BY seq DESC LIMIT 2)',
      ).run();
    });
  }

  latestSnapshot(): Snapshot | undefined {
    const row = this.#guarded('reading a snapshot', () =>
      this.prepare('SELECT seq, body FROM snapshots ORDER BY seq DESC LIMIT 1').get(),
    );
    return row === undefined ? undefined : { sequence: Number(row['seq']), body: String(row['body']) };
  }

  keepHost(): void {
    this.#guarded('writing', () => {
      // On the disk, with all that was written before: after the next fall it must not be forgotten that there was this
      // one.
      this.#setDurability(true);
      keepOrigin(this.database, this.#origin);
    });
  }

  findNumber(name: string): number | undefined {
    const row = this.#guarded('reading', () =>
      this.prepare('SELECT value FROM meta WHERE name = ?').get(`kept:${name}`),
    );
    return row === undefined ? undefined : Number(row['value']);
  }

  keepNumber(name: string, value: number): void {
    this.#guarded('writing', () => {
      this.#setDurability(false);
      this.prepare(
        'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
      ).run(`kept:${name}`, value);
    });
  }

  close(): void {
    if (!this.database.isOpen) return;
    this.database.close();
    this.#lastChange?.close();
  }

  #decode(sequence: number, version: number, body: string): Change {
    try {
      return this.#codec.decode(version, body);
    } catch (error) {
      if (error instanceof InvariantError) throw error;
      const start = body.length > 80 ? `${body.slice(0, 80)}...` : body;
      throw new MutiraoError(
        'MUT_JOURNAL_CORRUPT',
        `${this.#path}: change ${sequence} (version ${version}) cannot be read: ${start}`,
        { cause: error },
      );
    }
  }

  #guarded<T>(doing: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      throw journalError(error, this.#path, doing);
    }
  }
}

interface ChangeRow {
  readonly seq: number;
  readonly at: number;
  readonly version: number;
  readonly body: string;
}
