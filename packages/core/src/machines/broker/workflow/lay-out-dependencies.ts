import type { JobSpec } from '../../../messages/index.ts';
import { type Duration, IndexSet } from '../../../shared/index.ts';
import { bLevels, makeWorkflow, type WorkflowDraft } from '../../../workflow/index.ts';
import type { Dependencies } from './dependencies.ts';
import { outputsRead } from './outputs-read.ts';
import { countTasks } from '../jobs/task-groups.ts';

/** A job's edges in the form of the algorithms: a task's id is its index. Cost: O(tasks + edges). */
export function getDraft({ groups, edges = [] }: Pick<JobSpec, 'groups' | 'edges'>): WorkflowDraft {
  const times = groups.flatMap((group) => Array<Duration | undefined>(countTasks(group)).fill(group.expectedTime));
  const known = times.filter((time) => time !== undefined);
  const mean = known.length === 0 ? 1 : known.reduce((sum, time) => sum + time, 0) / known.length;
  return {
    tasks: times.map((time, index) => ({ id: String(index), work: time ?? mean })),
    edges: edges.map(({ from, to, data = 0 }) => ({ from: String(from), to: String(to), data })),
  };
}

/**
 * Lays out what tasks wait for where nothing has finished and nothing waits yet; undefined for a bag, which pays
 * nothing for it.
 */
export function layOutDependencies(spec: JobSpec): Dependencies | undefined {
  if (spec.edges === undefined || spec.edges.length === 0) return undefined;
  const workflow = makeWorkflow(getDraft(spec));
  return {
    workflow,
    levels: bLevels(workflow, {
      times: workflow.tasks.map(({ work }) => work),
      transfers: workflow.edges.map(() => 0),
    }),
    read: outputsRead(spec),
    isTimed: spec.groups.some(({ expectedTime }) => expectedTime !== undefined),
    unmet: workflow.incoming.map(({ length }) => length),
    waiting: new IndexSet(),
  };
}
