import type { BrokerChange, ReplicaEnding } from '@mutirao/core/machines/broker';
import type { JobId } from '@mutirao/core/shared';
import type { ProjectionDatabase } from '@mutirao/runtime/journal';

/** Batches that span this many tasks are stored apart. */
export const wideSpan = 4096;

/**
 * Where the records of replicas are found again.
 *
 * `replica_batches` says which change holds the ends of which tasks; the change itself is the record, so that the end
 * of a replica costs no row of its own. `replica_outputs` keeps standard output and error where there was any.
 */
export const projectionSchema: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS replica_batches (
     job INTEGER NOT NULL, wide INTEGER NOT NULL, task_first INTEGER NOT NULL, task_last INTEGER NOT NULL, sequence INTEGER NOT NULL,
     PRIMARY KEY (job, wide, task_first, sequence)) WITHOUT ROWID`,
  `CREATE TABLE IF NOT EXISTS replica_outputs (
     job INTEGER NOT NULL, task INTEGER NOT NULL, replica INTEGER NOT NULL, standard_output BLOB NOT NULL, standard_error BLOB NOT NULL,
     PRIMARY KEY (job, task, replica)) WITHOUT ROWID`,
];

const insertBatch = 'INSERT INTO replica_batches (job, wide, task_first, task_last, sequence) VALUES (?, ?, ?, ?, ?)';
const insertOutput =
  'INSERT OR REPLACE INTO replica_outputs (job, task, replica, standard_output, standard_error) VALUES (?, ?, ?, ?, ?)';

/** Writes the records of change `sequence`, inside the transaction that writes the change. */
export function projectChange(database: ProjectionDatabase, sequence: number, change: BrokerChange): void {
  if (change.kind === 'ReplicaVerifying') writeOutput(database, change.jobId, change.ending);
  if (change.kind !== 'ReplicasEnded' || change.endings.length === 0) return;
  let first = Number.MAX_SAFE_INTEGER;
  let last = 0;
  for (const ending of change.endings) {
    if (ending.taskIndex < first) first = ending.taskIndex;
    if (ending.taskIndex > last) last = ending.taskIndex;
    writeOutput(database, change.jobId, ending);
  }
  database.prepare(insertBatch).run(change.jobId, last - first >= wideSpan ? 1 : 0, first, last, sequence);
}

function writeOutput(database: ProjectionDatabase, jobId: JobId, ending: ReplicaEnding): void {
  const { standardOutput, standardError } = ending;
  if (standardOutput.length === 0 && standardError.length === 0) return;
  database.prepare(insertOutput).run(jobId, ending.taskIndex, ending.replicaId, standardOutput, standardError);
}
