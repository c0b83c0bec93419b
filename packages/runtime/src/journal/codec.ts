import type { StatementSync } from 'node:sqlite';
import type { Instant } from '@mutirao/core/shared';

/** The journal's database as projections see it. Statements are prepared once per text and kept. */
export interface ProjectionDatabase {
  prepare(sql: string): StatementSync;
  /** What a projection knows by heart of its tables, by a name of its own; emptied when a transaction is undone. */
  readonly known: Map<string, number>;
}

/** How a kind of change is written and read. */
export interface ChangeCodec<Change> {
  /** Version of the bodies that `encode` writes, 1 or more; `decode` reads this one and all before it. */
  readonly version: number;
  encode(change: Change): string;
  /** @throws when the body makes no sense; the journal then says which line. */
  decode(version: number, body: string): Change;
  /** The job that a change belongs to; `read` can select by it. */
  deriveJob(change: Change): number | undefined;
  /**
   * Whether the change is a promise to someone outside: it is on the disk, not only in the system's cache, before
   * `record` returns.
   */
  isDurable(change: Change): boolean;
  /** Writes what is derived from a change into tables of its own, in the same transaction. */
  project?(database: ProjectionDatabase, sequence: number, change: Change, at: Instant): void;
  /** Statements that make those tables; run at each opening, so each begins with CREATE ... IF NOT EXISTS. */
  readonly schema?: readonly string[];
}
