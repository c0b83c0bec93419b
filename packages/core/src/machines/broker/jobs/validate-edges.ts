import type { InputSource, JobSpec, TaskGroup } from '../../../messages/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';
import { findWorkflowFault } from '../../../workflow/index.ts';
import { getDraft } from '../workflow/lay-out-dependencies.ts';
import type { SpecFault } from './spec-fault.ts';
import { countTasks } from './task-groups.ts';

/** Tasks that a job may have where some of them wait for others. */
export const workflowTasksMax = 100_000;

type TaskOutput = Extract<InputSource, { kind: 'output' }>;

/**
 * Finds what is wrong with what the tasks of a job wait for, and with what they read of each other; undefined when
 * nothing is. Cost: O((tasks + edges) log tasks).
 */
export function findEdgesFault(spec: JobSpec): SpecFault | undefined {
  const taskCount = spec.groups.reduce((sum, group) => sum + countTasks(group), 0);
  if (spec.edges !== undefined && spec.edges.length > 0) {
    if (taskCount > workflowTasksMax)
      return {
        code: 'MUT_BAD_REQUEST',
        message: `the job has ${taskCount} tasks; expected ${workflowTasksMax} at most where tasks wait for each other`,
      };
    const fault = findTimeFault(spec) ?? findWorkflowFault(getDraft(spec));
    if (fault !== undefined) return { code: fault.code, message: fault.message };
  }
  return findReadersFault(spec);
}

/** Says which group it is, where the algorithms know tasks only. */
function findTimeFault({ groups }: JobSpec): SpecFault | undefined {
  for (const [index, { expectedTime = 0 }] of groups.entries()) {
    if (!(Number.isFinite(expectedTime) && expectedTime >= 0))
      return {
        code: 'MUT_WORKFLOW_COST',
        message: `expected_time_ms of task group ${index} is ${expectedTime}; expected a number of 0 or more`,
      };
  }
  return undefined;
}

/** What a task reads of another one that one must write, always, and an edge must lead from there. */
function findReadersFault({ groups, edges = [], gatherFolder }: JobSpec): SpecFault | undefined {
  if (!groups.some(({ inputs }) => inputs.some(({ source }) => source.kind === 'output'))) return undefined;
  const groupOf = groups.flatMap((group) => Array<TaskGroup>(countTasks(group)).fill(group));
  const leads = new Set(edges.map(({ from, to }) => `${from} ${to}`));
  for (const [index, group] of groupOf.entries()) {
    for (const { source } of group.inputs) {
      if (source.kind !== 'output') continue;
      const fault = leads.has(`${source.taskIndex} ${index}`)
        ? findWriterFault(source, groupOf[source.taskIndex], gatherFolder)
        : 'and no edge leads from there';
      if (fault !== undefined)
        return {
          code: 'MUT_WORKFLOW_NO_PRODUCER',
          message: `task ${index} reads ${source.path} of task ${source.taskIndex as TaskIndex}, ${fault}`,
        };
    }
  }
  return undefined;
}

function findWriterFault(
  { path }: TaskOutput,
  writer: TaskGroup | undefined,
  gatherFolder: string | undefined,
): string | undefined {
  const output = writer?.outputs.find((one) => one.path === path);
  if (writer === undefined || output === undefined) return 'which has no such output';
  if (writer.outputs.some(({ condition }) => condition !== ''))
    return 'whose outputs depend on the machine that it runs on; expected outputs without conditions';
  return gatherFolder !== undefined && output.localPath !== ''
    ? 'which is gathered in an archive; expected an output without a place at home'
    : undefined;
}
