import { TaskStatus } from '@mutirao/api/broker';
import { isErrorCode, registry } from '@mutirao/api/errors';
import { Outcome } from '@mutirao/api/machine';

import type { FailureGroup, Failures } from '../../schema/index.ts';
import { nameOf } from '../documents/names.ts';
import type { JobRecords } from './job-records.ts';
import { isFailure, type ReplicaRow } from './replica-rows.ts';

const causesMax = 50;
const indexesShown = 20;
const machinesShown = 10;

/** What went wrong in a job by cause, the most frequent first; samples of output are added by who can ask for them. */
export function groupFailures(records: JobRecords): Failures {
  const failed = records.rows().filter(isFailure);
  const causes = [...Map.groupBy(failed, ({ outcome, exitStatus, reason }) => `${outcome} ${exitStatus} ${reason}`).values()].sort((one, other) => other.length - one.length);
  return {
    job_id: records.jobId, groups: causes.slice(0, causesMax).map((own) => groupOf(own, records)), replica_count: failed.length, causes_left_out: Math.max(0, causes.length - causesMax),
    read_task_count: records.readCount, task_count: records.taskCount,
  };
}

function groupOf(replicas: readonly ReplicaRow[], records: JobRecords): FailureGroup {
  const [first] = replicas;
  const tasks = [...new Set(replicas.map(({ taskIndex }) => taskIndex))].sort((one, other) => one - other);
  const machines = [...Map.groupBy(replicas, ({ machineId }) => machineId)].map(([machineId, own]) => ({ machine_id: machineId, count: own.length })).sort((one, other) => other.count - one.count);
  return {
    cause: first === undefined ? '' : causeOf(first), outcome: nameOf(Outcome, first?.outcome ?? 0), exit_status: first?.exitStatus ?? 0, reason: first?.reason ?? '', detail: first?.detail ?? '',
    replica_count: replicas.length, task_count: tasks.length, given_up_count: tasks.filter((task) => records.statusOf(task) === TaskStatus.FAILED).length,
    task_indexes: tasks.slice(0, indexesShown), machines: machines.slice(0, machinesShown), sample: null,
  };
}

/** Shells report the end by a signal as 128 and its number. */
function causeOf({ reason, exitStatus }: ReplicaRow): string {
  if (isErrorCode(reason) && reason !== 'MUT_COMMAND_FAILED') return `${reason}: ${registry[reason].advice}`;
  if (exitStatus > 128 && exitStatus < 193) return `exit status ${exitStatus}: ended by signal ${exitStatus - 128}`;
  return `exit status ${exitStatus}`;
}
