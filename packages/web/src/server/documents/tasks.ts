import {
  ReplicaDisposition,
  TaskStatus,
  type GetTaskOutputResponse,
  type ReplicaRecord,
  type TaskRecord,
} from '@mutirao/api/broker';
import { Outcome } from '@mutirao/api/machine';
import { findReasonDocument } from '@mutirao/api/reasons';

import type { Replica, Task, TaskOutput, TaskStatusName } from '../../schema/index.ts';
import { instantOrNull, getEnumName } from './names.ts';

/** The status of a task; one that a later broker may have is taken as running. */
export function taskStatusName(status: TaskStatus): TaskStatusName {
  const name = getEnumName(TaskStatus, status);
  return name === '' || name.startsWith('unknown') ? 'running' : (name as TaskStatusName);
}

/** The value of the wire for a status. */
export function getTaskStatus(name: TaskStatusName): TaskStatus {
  return TaskStatus[name.toUpperCase() as keyof typeof TaskStatus] ?? TaskStatus.UNSPECIFIED;
}

/** A task and its replicas. */
export function taskDocument(task: TaskRecord): Task {
  return {
    job_id: task.jobId,
    task_index: task.taskIndex,
    value: task.value,
    status: taskStatusName(task.status),
    failure_count: task.failureCount,
    waits_for: task.waitsFor,
    replicas: task.replicas.map(replicaDocument),
    reused_from:
      task.reusedFrom === undefined ? null : { job_id: task.reusedFrom.jobId, task_index: task.reusedFrom.taskIndex },
  };
}

function replicaDocument(replica: ReplicaRecord): Replica {
  return {
    replica_id: replica.replicaId,
    machine_id: replica.machineId,
    request_id: replica.requestId,
    dispatched_unix_ms: replica.dispatchedUnixMs,
    started_unix_ms: instantOrNull(replica.startedUnixMs),
    ended_unix_ms: instantOrNull(replica.endedUnixMs),
    outcome: getEnumName(Outcome, replica.outcome),
    exit_status: replica.exitStatus,
    accepted: replica.accepted,
    is_withdrawn: isWithdrawn(replica),
    reason: replica.reason,
    detail: findReasonDocument(replica.detail),
  };
}

/** Whether it was taken back before it began; an older broker calls it cancelled. */
function isWithdrawn({ disposition, outcome, startedUnixMs, endedUnixMs }: ReplicaRecord): boolean {
  if (endedUnixMs === 0 || startedUnixMs !== 0) return false;
  return disposition === ReplicaDisposition.WITHDRAWN || outcome === Outcome.CANCELLED;
}

/** The end of a task's output. @param tailBytes of each stream, at most. */
export function outputDocument(
  jobId: number,
  taskIndex: number,
  { output, tailBytes }: { readonly output: GetTaskOutputResponse; readonly tailBytes: number },
): TaskOutput {
  const [out, error] = [output.standardOutput, output.standardError];
  return {
    job_id: jobId,
    task_index: taskIndex,
    replica_id: output.replicaId,
    standard_output: getTail(out, tailBytes),
    standard_error: getTail(error, tailBytes),
    is_cut: output.truncated || out.length > tailBytes || error.length > tailBytes,
    files: output.files.map((file) => ({
      path: file.path,
      local_path: file.localPath,
      size_bytes: file.content?.sizeBytes ?? 0,
      sha256: Buffer.from(file.content?.sha256 ?? []).toString('hex'),
      gathered_in: file.gatheredIn === '' ? null : file.gatheredIn,
    })),
  };
}

/** The last bytes as text; a character that the cut went through is left out. */
export function getTail(bytes: Uint8Array, most: number): string {
  if (bytes.length <= most) return Buffer.from(bytes).toString('utf8');
  let from = bytes.length - most;
  while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return Buffer.from(bytes.subarray(from)).toString('utf8');
}
