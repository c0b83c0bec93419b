import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { BrokerId } from '@mutirao/core/machines/provider';
import type { Bytes, MachineId } from '@mutirao/core/shared';

/** Names a report: sequences count from 1 in each incarnation of a machine. */
export interface ReportKey {
  readonly machineId: MachineId;
  readonly incarnation: string;
  readonly sequence: number;
}

/** A report as its machine made it. */
export interface ReportBody {
  /** An AttachRequest. */
  readonly bytes: Uint8Array;
  /** Transfers under which its outputs were pushed. */
  readonly transferIds: readonly string[];
}

const schema = `
  CREATE TABLE IF NOT EXISTS spooled_leases (broker_id TEXT NOT NULL, sequence INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (broker_id, sequence)) STRICT;
  CREATE TABLE IF NOT EXISTS spooled_reports (
    machine_id TEXT NOT NULL, incarnation TEXT NOT NULL, sequence INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (machine_id, incarnation, sequence)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS spooled_report_outputs (
    transfer_id TEXT PRIMARY KEY, machine_id TEXT NOT NULL, incarnation TEXT NOT NULL, sequence INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS spooled_report_outputs_by_report ON spooled_report_outputs (machine_id, incarnation, sequence)`;

/**
 * What is too large for the provider's machine: the leases that brokers granted, and the reports that are kept for
 * them.
 *
 * They lie in the database of the journal. So a change that is synced there after a body was written has the body
 * synced, too.
 */
export class SpooledBodies {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec(schema);
  }

  /** Keeps a lease in place of one of the same number. */
  keepLease(brokerId: BrokerId, sequence: number, bytes: Uint8Array): void {
    this.#prepare('INSERT OR REPLACE INTO spooled_leases VALUES (?, ?, ?)').run(brokerId, sequence, bytes);
  }

  findLease(brokerId: BrokerId, sequence: number): Uint8Array | undefined {
    return this.#prepare('SELECT body FROM spooled_leases WHERE broker_id = ? AND sequence = ?').get(
      brokerId,
      sequence,
    )?.['body'] as Uint8Array | undefined;
  }

  /** Forgets the leases of a broker that came before one. */
  dropLeasesBefore(brokerId: BrokerId, sequence: number): void {
    this.#prepare('DELETE FROM spooled_leases WHERE broker_id = ? AND sequence < ?').run(brokerId, sequence);
  }

  /** Keeps a report; again is harmless. @throws when the disk is full, and then nothing of it is kept. */
  keepReport({ machineId, incarnation, sequence }: ReportKey, { bytes, transferIds }: ReportBody): void {
    this.#atOnce(() => {
      this.#prepare('INSERT OR REPLACE INTO spooled_reports VALUES (?, ?, ?, ?)').run(
        machineId,
        incarnation,
        sequence,
        bytes,
      );
      for (const transferId of transferIds)
        this.#prepare('INSERT OR REPLACE INTO spooled_report_outputs VALUES (?, ?, ?, ?)').run(
          transferId,
          machineId,
          incarnation,
          sequence,
        );
    });
  }

  findReport({ machineId, incarnation, sequence }: ReportKey): ReportBody | undefined {
    const row = this.#prepare(
      'SELECT body FROM spooled_reports WHERE machine_id = ? AND incarnation = ? AND sequence = ?',
    ).get(machineId, incarnation, sequence);
    if (row === undefined) return undefined;
    const outputs = this.#prepare(
      'SELECT transfer_id FROM spooled_report_outputs WHERE machine_id = ? AND incarnation = ? AND sequence = ?',
    ).all(machineId, incarnation, sequence);
    return { bytes: row['body'] as Uint8Array, transferIds: outputs.map((output) => String(output['transfer_id'])) };
  }

  /** Forgets a machine's reports up to a sequence, and returns the transfers that they named. */
  dropReports(machineId: MachineId, incarnation: string, upTo: number): string[] {
    const where = 'machine_id = ? AND incarnation = ? AND sequence <= ?';
    return this.#atOnce(() => {
      const outputs = this.#prepare(`DELETE FROM spooled_report_outputs WHERE ${where} RETURNING transfer_id`).all(
        machineId,
        incarnation,
        upTo,
      );
      this.#prepare(`DELETE FROM spooled_reports WHERE ${where}`).run(machineId, incarnation, upTo);
      return outputs.map((output) => String(output['transfer_id']));
    });
  }

  /** Whether a kept report names a transfer. */
  isNamed(transferId: string): boolean {
    return this.#prepare('SELECT 1 FROM spooled_report_outputs WHERE transfer_id = ?').get(transferId) !== undefined;
  }

  /** Bytes of all reports. */
  get reportBytes(): Bytes {
    return Number(
      this.#prepare('SELECT coalesce(sum(length(body)), 0) AS bytes FROM spooled_reports').get()?.['bytes'] ?? 0,
    );
  }

  /** Forgets what a killed process wrote and then did not promise. */
  prune(known: { isReport(key: ReportKey): boolean; isLease(brokerId: BrokerId, sequence: number): boolean }): void {
    for (const { machine_id: machineId, incarnation, sequence } of this.#prepare(
      'SELECT machine_id, incarnation, sequence FROM spooled_reports',
    ).all() as unknown as ReportRow[]) {
      if (!known.isReport({ machineId, incarnation, sequence })) this.#dropReport({ machineId, incarnation, sequence });
    }
    for (const { broker_id: brokerId, sequence } of this.#prepare(
      'SELECT broker_id, sequence FROM spooled_leases',
    ).all() as unknown as LeaseRow[]) {
      if (!known.isLease(brokerId, sequence))
        this.#prepare('DELETE FROM spooled_leases WHERE broker_id = ? AND sequence = ?').run(brokerId, sequence);
    }
  }

  #dropReport({ machineId, incarnation, sequence }: ReportKey): void {
    this.#atOnce(() => {
      for (const table of ['spooled_reports', 'spooled_report_outputs']) {
        this.#prepare(`DELETE FROM ${table} WHERE machine_id = ? AND incarnation = ? AND sequence = ?`).run(
          machineId,
          incarnation,
          sequence,
        );
      }
    });
  }

  #atOnce<T>(act: () => T): T {
    this.#prepare('BEGIN IMMEDIATE').run();
    try {
      const result = act();
      this.#prepare('COMMIT').run();
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

interface ReportRow {
  readonly machine_id: string;
  readonly incarnation: string;
  readonly sequence: number;
}

interface LeaseRow {
  readonly broker_id: string;
  readonly sequence: number;
}
