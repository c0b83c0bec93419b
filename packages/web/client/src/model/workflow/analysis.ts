import { bLevels, findCriticalPath, findWorkflowFault, makeWorkflow, measureShape, platformCosts, type WorkflowDraft } from '@mutirao/core/workflow';
import type { Workflow } from '../../../../src/schema/index.ts';

/** What a workflow is like, by run times on one processor of 1,000 Mflop/s and without waiting for a network. */
export interface WorkflowAnalysis {
  /** What is wrong with it; the rest is empty then. */
  readonly fault: string | undefined;
  /** Seconds, by the id of the task. */
  readonly bLevels: ReadonlyMap<string, number>;
  /** Ids, from the first task to the last. */
  readonly criticalPath: readonly string[];
  readonly criticalSeconds: number;
  readonly levelCount: number;
  readonly widestLevel: number;
  /** Seconds of work of all tasks. */
  readonly workSeconds: number;
}

const empty = { bLevels: new Map<string, number>(), criticalPath: [], criticalSeconds: 0, levelCount: 0, widestLevel: 0, workSeconds: 0 };
const reference = { processors: [{ name: 'reference', speed: 1000 }], startUp: 0.1, bandwidth: 125_000_000 };

/** Looks at a workflow. Cost: O((tasks + edges) log tasks). */
export function analyseWorkflow(workflow: Workflow): WorkflowAnalysis {
  if (workflow.tasks.length === 0) return { fault: undefined, ...empty };
  const draft = draftOf(workflow);
  const fault = findWorkflowFault(draft);
  if (fault !== undefined) return { fault: fault.message, ...empty };
  const made = makeWorkflow(draft);
  const model = platformCosts(made, reference);
  const times = made.tasks.map((_, task) => model.meanTime(task));
  const costs = { times, transfers: made.edges.map((edge, index) => model.meanTransfer(index, times[edge.from] as number)) };
  const path = findCriticalPath(made, costs);
  const shape = measureShape(made);
  return {
    fault: undefined, bLevels: new Map(bLevels(made, costs).map((level, task) => [made.tasks[task]?.id ?? '', level / 1000])), criticalPath: path.tasks.map((task) => made.tasks[task]?.id ?? ''), criticalSeconds: path.length / 1000,
    levelCount: shape.levels, widestLevel: shape.widest, workSeconds: made.tasks.reduce((sum, { work }) => sum + work / 1000, 0),
  };
}

/** What an edge carries is what is said of it and the files that one writes and the other reads. */
function draftOf({ tasks, edges }: Workflow): WorkflowDraft {
  const written = new Map(tasks.map(({ id, outputs }) => [id, new Map(outputs.map(({ name, bytes }) => [name, bytes]))]));
  const read = new Map(tasks.map(({ id, inputs }) => [id, inputs]));
  return {
    tasks: tasks.map(({ id, work, exchange, processors_min: widthMin, processors_max: widthMax }) => ({ id, work, exchange, widthMin, widthMax })),
    edges: edges.map(({ from, to, data_bytes: stated, share }) => ({ from, to, share, data: stated + (read.get(to) ?? []).reduce((sum, { name }) => sum + (written.get(from)?.get(name) ?? 0), 0) })),
  };
}
