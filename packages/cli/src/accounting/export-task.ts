import type { ReplicaRecord, TaskRecord } from '@mutirao/api/broker';
import { parseCommand, readFields, renderCommand } from '@mutirao/core/bag';
import { printCsvRow } from '@mutirao/formats';
import { printJobLogEntry } from '@mutirao/formats/parallel';

import { reportingReplica } from '../commands/task/list.ts';
import type { JsonOf, shapes } from '../json/shapes.ts';
import { taskStatusText } from '../output/status-words.ts';
import { exitOfReplica } from '../parallel/exit-of-task.ts';
import type { GroupsOfJob } from './read-tasks.ts';

/** A task with what it used, as it is exported. */
export type ExportedTask = JsonOf<typeof shapes.exported_task>;

/** Describes a task: the replica that counts, and the failures before it. */
export function describeTask(task: TaskRecord, groups: GroupsOfJob): ExportedTask {
  return {
    job_id: task.jobId,
    task_index: task.taskIndex,
    value: task.value,
    parameters: readFields(task.value) ?? null,
    status: taskStatusText(task),
    ...describeReplica(reportingReplica(task)),
    processors: groups.processorsOf(task.taskIndex),
    failure_count: task.failureCount,
    replica_count: task.replicas.length,
  };
}

type ReplicaPart = Pick<
  ExportedTask,
  | 'machine_id'
  | 'request_id'
  | 'exit_status'
  | 'dispatched_unix_ms'
  | 'started_unix_ms'
  | 'ended_unix_ms'
  | 'wait_ms'
  | 'run_ms'
  | 'processor_time_ms'
  | 'memory_bytes_max'
  | 'reason'
>;

function describeReplica(replica: ReplicaRecord | undefined): ReplicaPart {
  if (replica === undefined) return noReplica;
  const { startedUnixMs: started, endedUnixMs: ended, dispatchedUnixMs: placed, usage } = replica;
  const hasRun = started !== 0 && ended !== 0;
  return {
    machine_id: replica.machineId,
    request_id: replica.requestId,
    exit_status: hasRun ? replica.exitStatus : null,
    dispatched_unix_ms: orNull(placed),
    started_unix_ms: orNull(started),
    ended_unix_ms: orNull(ended),
    wait_ms: started === 0 ? null : Math.max(0, started - placed),
    run_ms: hasRun ? Math.max(0, ended - started) : null,
    processor_time_ms: usage?.processorTimeMs ?? null,
    memory_bytes_max: usage?.memoryBytesMax ?? null,
    reason: replica.reason,
  };
}

const noReplica: ReplicaPart = {
  machine_id: '',
  request_id: '',
  exit_status: null,
  dispatched_unix_ms: null,
  started_unix_ms: null,
  ended_unix_ms: null,
  wait_ms: null,
  run_ms: null,
  processor_time_ms: null,
  memory_bytes_max: null,
  reason: '',
};

function orNull(unixMs: number): number | null {
  return unixMs === 0 ? null : unixMs;
}

const columns = [
  'job_id',
  'task_index',
  'value',
  'status',
  'machine_id',
  'request_id',
  'exit_status',
  'dispatched_unix_ms',
  'started_unix_ms',
  'ended_unix_ms',
  'wait_ms',
  'run_ms',
  'processors',
  'processor_time_ms',
  'memory_bytes_max',
  'failure_count',
  'replica_count',
  'reason',
] as const satisfies readonly (keyof ExportedTask)[];

/** The header of a CSV file. @param parameters their names, each a column behind the others. */
export function csvHeader(parameters: readonly string[]): string {
  return printCsvRow([...columns, ...parameters]);
}

/** A task as a line of CSV; what is not known is empty. */
export function csvLine(task: ExportedTask, parameters: readonly string[]): string {
  const fields = readFields(task.value as string) ?? {};
  return printCsvRow([
    ...columns.map((name) => (task[name] as string | number | null) ?? ''),
    ...parameters.map((name) => fields[name] ?? ''),
  ]);
}

/** A task that has run as a line of GNU parallel's joblog; undefined for any other. */
export function jobLogLine(task: TaskRecord, groups: GroupsOfJob): string | undefined {
  const replica = reportingReplica(task);
  if (replica === undefined || replica.startedUnixMs === 0 || replica.endedUnixMs === 0) return undefined;
  return printJobLogEntry({
    sequence: task.taskIndex + 1,
    host: replica.machineId,
    startedAt: replica.startedUnixMs,
    runTime: Math.max(0, replica.endedUnixMs - replica.startedUnixMs),
    sent: 0,
    received: 0,
    ...exitOfReplica(replica),
    command: renderCommand(parseCommand(groups.find(task.taskIndex)?.command ?? ''), task.value, task.taskIndex),
  });
}
