import { TaskStatus } from '@mutirao/api/broker';
import { isErrorCode, registry } from '@mutirao/api/errors';
import { findHappening } from '@mutirao/api/fault-texts';
import { Outcome } from '@mutirao/api/machine';
import { findReasonDocument } from '@mutirao/api/reasons';
import { invariant } from '@mutirao/core/shared';

import type { FailureGroup, Failures } from '../../schema/index.ts';
import { getEnumName } from '../documents/names.ts';
import { getTail } from '../documents/tasks.ts';
import type { BrokerCalls } from '../grid-calls.ts';
import type { JobRecords } from './job-records.ts';
import { isFailure, isLoss, type ReplicaRow } from './replica-rows.ts';

const causesMax = 50;
const indexesShown = 20;
const machinesShown = 10;
const sampleBytes = 4096;
/** Groups that get a sample, and tasks of each that are asked for one. */
const samplesMax = 10;
const sampleTriesMax = 3;

/** Where samples of output come from. */
type OutputSource = Pick<BrokerCalls, 'getTaskOutput' | 'listTasks'>;

/** The failures of a job by cause, the most frequent first; a caller with a broker adds samples of output. */
export function groupFailures(records: JobRecords): Failures {
  const rows = records.rows();
  const [failed, lost] = [rows.filter(isFailure), rows.filter(isLoss)];
  const causes = [...byCause(failed), ...byCause(lost)];
  return {
    job_id: records.jobId,
    groups: causes.slice(0, causesMax).map((own) => groupOf(own, records)),
    replica_count: failed.length,
    lost_count: lost.length,
    causes_left_out: Math.max(0, causes.length - causesMax),
    read_task_count: records.readCount,
    task_count: records.taskCount,
  };
}

/** A run that failed or was lost. */
export type FailedRun = Readonly<
  Record<'task_index' | 'replica_id' | 'exit_status' | 'started_unix_ms' | 'ended_unix_ms', number> &
    Record<'machine_id' | 'cause' | 'reason' | 'detail', string> & { is_loss: boolean }
>;

/** Every run that failed or was lost, as it happened. */
export function listFailedRuns(records: JobRecords): FailedRun[] {
  return records
    .rows()
    .filter((row) => isFailure(row) || isLoss(row))
    .sort((one, other) => one.endedAt - other.endedAt)
    .map((row) => ({
      task_index: row.taskIndex,
      replica_id: row.replicaId,
      machine_id: row.machineId,
      cause: getCause(row),
      exit_status: row.exitStatus,
      reason: row.reason,
      detail: row.detail?.text ?? '',
      is_loss: isLoss(row),
      started_unix_ms: row.startedAt,
      ended_unix_ms: row.endedAt,
    }));
}

function byCause(rows: readonly ReplicaRow[]): ReplicaRow[][] {
  return [
    ...Map.groupBy(rows, ({ outcome, exitStatus, reason }) => `${outcome} ${exitStatus} ${reason}`).values(),
  ].sort((one, other) => other.length - one.length);
}

function groupOf(replicas: readonly ReplicaRow[], records: JobRecords): FailureGroup {
  const tasks = [...new Set(replicas.map(({ taskIndex }) => taskIndex))].sort((one, other) => one - other);
  const machines = [...Map.groupBy(replicas, ({ machineId }) => machineId)]
    .map(([machineId, own]) => ({ machine_id: machineId, count: own.length }))
    .sort((one, other) => other.count - one.count);
  return {
    ...getShared(replicas),
    replica_count: replicas.length,
    task_count: tasks.length,
    given_up_count: tasks.filter((task) => records.statusOf(task) === TaskStatus.FAILED).length,
    task_indexes: tasks.slice(0, indexesShown),
    task_values: [],
    machines: machines.slice(0, machinesShown),
    sample: null,
  };
}

/** What all of a group have in common, and the detail of the first; a group has one at least. */
function getShared([first]: readonly ReplicaRow[]): Pick<
  FailureGroup,
  'cause' | 'advice' | 'outcome' | 'exit_status' | 'reason' | 'detail' | 'is_loss'
> {
  invariant(first, 'a cause without a replica');
  return {
    cause: getCause(first),
    advice: getAdvice(first),
    outcome: getEnumName(Outcome, first.outcome),
    exit_status: first.exitStatus,
    reason: first.reason,
    detail: findReasonDocument(first.detail),
    is_loss: isLoss(first),
  };
}

/**
 * What happened. A status above 128 alone need not be a signal; the detail says so where one is known. Of a loss the
 * detail names the allocation, and not what happened to it.
 */
function getCause(row: ReplicaRow): string {
  const { reason, exitStatus, outcome, detail } = row;
  if (isErrorCode(reason) && reason !== 'MUT_COMMAND_FAILED') {
    const happened = isLoss(row) ? undefined : findReasonDocument(detail)?.text || findHappening(reason);
    return happened ?? registry[reason].advice;
  }
  if (detail?.code === 'ended-by-signal') return `exit status ${exitStatus}: ${detail.text}`;
  return outcome === Outcome.UNSPECIFIED ? 'its end is unknown' : `exit status ${exitStatus}`;
}

/** The advice of the code, where the cause does not say it already. */
function getAdvice(row: ReplicaRow): string {
  const { reason } = row;
  if (!isErrorCode(reason) || reason === 'MUT_COMMAND_FAILED') return '';
  const { advice } = registry[reason];
  return advice === getCause(row) ? '' : advice;
}

/** Adds what one of each of the first groups printed, and what the tasks that are named are called. */
export async function withSamples(broker: OutputSource, failures: Failures): Promise<Failures> {
  const values = await findValues(broker, failures);
  const groups = await Promise.all(
    failures.groups.map(async (group, index) => ({
      ...group,
      task_values: group.task_indexes.map((taskIndex) => values.get(taskIndex) ?? ''),
      sample: index < samplesMax ? await findSample(broker, failures.job_id, group) : null,
    })),
  );
  return { ...failures, groups };
}

/** What the tasks that are named are called, by their indexes; as with samples, what cannot be had is left out. */
async function findValues(
  broker: OutputSource,
  { job_id: jobId, groups }: Failures,
): Promise<ReadonlyMap<number, string>> {
  const taskIndexes = [...new Set(groups.flatMap((group) => group.task_indexes))];
  if (taskIndexes.length === 0) return new Map();
  try {
    const request = { jobId, taskIndexes, status: TaskStatus.UNSPECIFIED, pageSize: 1000, fromTaskIndex: 0 };
    const { tasks } = await broker.listTasks(request);
    return new Map(tasks.map(({ taskIndex, value }) => [taskIndex, value]));
  } catch {
    return new Map();
  }
}

/**
 * The output of the first task that has one. Unavailable outputs are left out, for the groups are worth more than their
 * samples.
 */
async function findSample(broker: OutputSource, jobId: number, group: FailureGroup): Promise<FailureGroup['sample']> {
  for (const taskIndex of group.task_indexes.slice(0, sampleTriesMax)) {
    try {
      const output = await broker.getTaskOutput({ jobId, taskIndex });
      return {
        task_index: taskIndex,
        replica_id: output.replicaId,
        standard_output: getTail(output.standardOutput, sampleBytes),
        standard_error: getTail(output.standardError, sampleBytes),
      };
    } catch {
      continue;
    }
  }
  return null;
}
