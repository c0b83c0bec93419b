import type { InputSource, JobSpec, TaskGroup } from '../../../messages/index.ts';
import type { GetReason, Refusal } from '../../../reasons/index.ts';
import { findWorkflowFault } from '../../../workflow/index.ts';
import { getDraft } from '../workflow/lay-out-dependencies.ts';
import { countTasks } from './task-groups.ts';

/** The most tasks of a job with dependencies. */
export const workflowTasksMax = 100_000;

type InputFault = GetReason<
  | 'workflow-input-without-edge'
  | 'workflow-input-not-written'
  | 'workflow-input-conditional'
  | 'workflow-input-archived'
>;
type TaskOutput = Extract<InputSource, { kind: 'output' }>;

/**
 * Finds a fault in a job's edges, or in what its tasks read of each other; undefined if there is none. Cost: O((tasks +
 * edges) log tasks).
 */
export function findEdgesFault(spec: JobSpec): Refusal | undefined {
  const taskCount = spec.groups.reduce((sum, group) => sum + countTasks(group), 0);
  if (spec.edges !== undefined && spec.edges.length > 0) {
    if (taskCount > workflowTasksMax)
      return {
        code: 'MUT_BAD_REQUEST',
        fault: { code: 'job-edges-tasks-too-many', tasks: taskCount, tasksMax: workflowTasksMax },
      };
    const found = findTimeFault(spec) ?? findWorkflowFault(getDraft(spec));
    if (found !== undefined) return { code: found.code, fault: found.fault };
  }
  return findReadersFault(spec);
}

/** Says which group it is, where the algorithms know tasks only. */
function findTimeFault({ groups }: JobSpec): Refusal | undefined {
  for (const [index, { expectedTime = 0 }] of groups.entries()) {
    if (!(Number.isFinite(expectedTime) && expectedTime >= 0))
      return {
        code: 'MUT_WORKFLOW_COST',
        fault: { code: 'workflow-expected-time-invalid', groupIndex: index, expectedMs: expectedTime },
      };
  }
  return undefined;
}

/** What a task reads of another one that one must write, always, and an edge must lead from there. */
function findReadersFault({ groups, edges = [], gatherFolder }: JobSpec): Refusal | undefined {
  if (!groups.some(({ inputs }) => inputs.some(({ source }) => source.kind === 'output'))) return undefined;
  const groupOf = groups.flatMap((group) => Array<TaskGroup>(countTasks(group)).fill(group));
  const leads = new Set(edges.map(({ from, to }) => `${from} ${to}`));
  for (const [index, group] of groupOf.entries()) {
    for (const { source } of group.inputs) {
      if (source.kind !== 'output') continue;
      const { path, taskIndex: producerIndex } = source;
      const code = leads.has(`${producerIndex} ${index}`)
        ? findWriterFault(source, groupOf[producerIndex], gatherFolder)
        : 'workflow-input-without-edge';
      if (code !== undefined)
        return { code: 'MUT_WORKFLOW_NO_PRODUCER', fault: { code, taskIndex: index, path, producerIndex } };
    }
  }
  return undefined;
}

function findWriterFault(
  { path }: TaskOutput,
  writer: TaskGroup | undefined,
  gatherFolder: string | undefined,
): InputFault['code'] | undefined {
  const output = writer?.outputs.find((one) => one.path === path);
  if (writer === undefined || output === undefined) return 'workflow-input-not-written';
  if (writer.outputs.some(({ condition }) => condition !== '')) return 'workflow-input-conditional';
  return gatherFolder !== undefined && output.localPath !== '' ? 'workflow-input-archived' : undefined;
}
