import type { DatabaseSync, StatementSync } from 'node:sqlite';

import type { BrokerChange, ReplicaEnding } from '@mutirao/core/machines/broker';
import type { Instant, JobId, MachineId, ReplicaId, TaskIndex } from '@mutirao/core/shared';
import type { Journal } from '@mutirao/runtime/journal';

import { wideSpan } from './projection.ts';

/** The end of one replica as it is on record; its standard output and error are asked for apart. */
export interface ReplicaRecord extends ReplicaEnding {
  readonly machineId: MachineId;
  /** When the broker took its end, by its own clock. */
  readonly takenAt: Instant;
}

/** Standard output and error of one replica. */
export interface ReplicaOutput {
  readonly replicaId: ReplicaId;
  readonly standardOutput: Uint8Array;
  readonly standardError: Uint8Array;
}

/** What ended, read from the journal. */
export interface Records {
  /**
   * The ended replicas of tasks `first` to `last` (both included), in the order in which they ended. Cost: the batches
   * that hold them.
   */
  endingsOf(jobId: JobId, first: TaskIndex, last: TaskIndex): Map<TaskIndex, ReplicaRecord[]>;
  /** What a replica wrote; undefined when it wrote nothing. */
  getOutput(jobId: JobId, taskIndex: TaskIndex, replicaId: ReplicaId): ReplicaOutput | undefined;
}

/** Reads records from an open journal whose codec wrote them. */
export class JournalRecords implements Records {
  readonly #journal: Journal<BrokerChange>;
  readonly #batches: StatementSync;
  readonly #output: StatementSync;

  constructor(journal: Journal<BrokerChange>) {
    this.#journal = journal;
    const database: DatabaseSync = journal.database;
    this.#batches = database.prepare(
      `SELECT sequence FROM replica_batches WHERE job = ?1 AND wide = 0 AND task_first BETWEEN ?2 - ${wideSpan} AND ?3 AND task_last >= ?2
       UNION ALL SELECT sequence FROM replica_batches WHERE job = ?1 AND wide = 1 AND task_first <= ?3 AND task_last >= ?2
       ORDER BY sequence`,
    );
    this.#output = database.prepare(
      'SELECT standard_output, standard_error FROM replica_outputs WHERE job = ? AND task = ? AND replica = ?',
    );
  }

  endingsOf(jobId: JobId, first: TaskIndex, last: TaskIndex): Map<TaskIndex, ReplicaRecord[]> {
    const records = new Map<TaskIndex, ReplicaRecord[]>();
    for (const row of this.#batches.all(jobId, first, last)) {
      const [entry] = this.#journal.read({ after: Number(row['sequence']) - 1, limit: 1 });
      if (entry?.change.kind !== 'ReplicasEnded') continue;
      for (const ending of entry.change.endings) {
        if (ending.taskIndex < first || ending.taskIndex > last) continue;
        const list = records.get(ending.taskIndex);
        const record = { ...ending, machineId: entry.change.machineId, takenAt: entry.change.at };
        if (list === undefined) records.set(ending.taskIndex, [record]);
        else list.push(record);
      }
    }
    return records;
  }

  getOutput(jobId: JobId, taskIndex: TaskIndex, replicaId: ReplicaId): ReplicaOutput | undefined {
    const row = this.#output.get(jobId, taskIndex, replicaId);
    if (row === undefined) return undefined;
    return {
      replicaId,
      standardOutput: row['standard_output'] as Uint8Array,
      standardError: row['standard_error'] as Uint8Array,
    };
  }
}
