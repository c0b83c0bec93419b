import { TaskStatus, type JobSpec } from '@mutirao/api/broker';

import type { JobGraph } from '../../schema/index.ts';
import { taskStatusName } from '../documents/tasks.ts';
import type { JobRecords } from './job-records.ts';

const edgesMax = 200_000;
const statuses = ['waiting', 'ready', 'running', 'verifying', 'finished', 'failed', 'cancelled'] as const;

/** What of a job's spec its graph is drawn by. */
export type JobShape = Pick<JobGraph, 'edges' | 'edges_left_out'> & { readonly values: readonly string[] };

/** Reads the graph of a job; a bag has no edges. */
export function getShape({ edges, groups }: JobSpec): JobShape {
  const shown = edges.slice(0, edgesMax);
  const values = groups.flatMap(({ values: given }) => {
    if (given?.$case === 'list') return given.value.values;
    const { first = 0, count = 0, step = 1 } = given?.value ?? {};
    return Array.from({ length: count }, (_, index) => String(first + index * step));
  });
  return {
    edges: { from: shown.map(({ from }) => from), to: shown.map(({ to }) => to) },
    edges_left_out: edges.length - shown.length,
    values,
  };
}

/** The graph of a job with how each task is. Cost: O(tasks + replicas + edges). */
export function drawGraph(shape: JobShape, records: JobRecords): JobGraph {
  const { taskCount } = records;
  const machines = new Array<string>(taskCount).fill('');
  const [started, ended] = [new Array<number>(taskCount).fill(0), new Array<number>(taskCount).fill(0)];
  for (const { taskIndex, kind, machineId, startedAt, endedAt } of records.rows()) {
    if (taskIndex >= taskCount || (kind !== 'accepted' && kind !== 'running')) continue;
    [machines[taskIndex], started[taskIndex], ended[taskIndex]] = [machineId, startedAt, endedAt];
  }
  const open = openPredecessors(shape.edges, records);
  const statusOf = (task: number): number => {
    const name = taskStatusName(records.statusOf(task));
    // Tasks that have not begun are not read again and again; whether they wait follows from the tasks before them.
    return statuses.indexOf(name === 'ready' || name === 'waiting' ? (open[task] ? 'waiting' : 'ready') : name);
  };
  return {
    job_id: records.jobId,
    task_count: taskCount,
    statuses: [...statuses],
    edges: shape.edges,
    edges_left_out: shape.edges_left_out,
    read_task_count: records.readCount,
    tasks: {
      value: [...shape.values],
      status: Array.from({ length: taskCount }, (_, task) => statusOf(task)),
      machine_id: machines,
      started_unix_ms: started,
      ended_unix_ms: ended,
    },
  };
}

/** By index of the task: how many that it waits for have not finished. */
function openPredecessors({ from, to }: JobGraph['edges'], records: JobRecords): Uint32Array {
  const open = new Uint32Array(records.taskCount);
  for (const [edge, task] of to.entries()) {
    if (records.statusOf(from[edge] ?? 0) !== TaskStatus.FINISHED) open[task] = (open[task] ?? 0) + 1;
  }
  return open;
}
