import { sayReason } from '@mutirao/api/sentences';
import {
  bLevels,
  findCriticalPath,
  findWorkflowFault,
  makeWorkflow,
  measureShape,
  platformCosts,
} from '@mutirao/core/workflow';
import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';

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

/** What is said of a workflow without tasks, and of one of which nothing is known yet. */
export const emptyAnalysis: WorkflowAnalysis = {
  fault: undefined,
  bLevels: new Map(),
  criticalPath: [],
  criticalSeconds: 0,
  levelCount: 0,
  widestLevel: 0,
  workSeconds: 0,
};

/**
 * The parts of a workflow that its analysis depends on, as columns by the order of tasks and edges, which reach a
 * worker faster than objects.
 */
export interface AnalysisSpec {
  readonly ids: readonly string[];
  readonly work: Float64Array;
  readonly exchange: Float64Array;
  readonly widthMin: Float64Array;
  readonly widthMax: Float64Array;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly data: Float64Array;
  readonly share: Float64Array;
}

/** An analysis with tasks by their index. */
export interface AnalysisReply extends Omit<WorkflowAnalysis, 'bLevels' | 'criticalPath'> {
  /** Seconds; empty where there is a fault. */
  readonly bLevels: Float64Array;
  readonly criticalPath: readonly number[];
}

const reference = { processors: [{ name: 'reference', speed: 1000 }], startUp: 0.1, bandwidth: 125_000_000 };

/** Looks at a workflow. Cost: O((tasks + edges) log tasks). */
export function analyseWorkflow(workflow: Workflow): WorkflowAnalysis {
  return namedAnalysis(workflow, analyse(analysisSpec(workflow)));
}

/**
 * Whether two workflows have the same analysis because they differ in nothing that it depends on: where tasks are
 * drawn, say. Cost: O(tasks) where they are alike.
 */
export function isAnalysedAlike(one: Workflow, other: Workflow): boolean {
  return (
    one.edges === other.edges &&
    one.tasks.length === other.tasks.length &&
    one.tasks.every((task, index) => {
      const beside = other.tasks[index] as WorkflowTask;
      return (
        task === beside ||
        (task.id === beside.id &&
          task.work === beside.work &&
          task.exchange === beside.exchange &&
          task.processors_min === beside.processors_min &&
          task.processors_max === beside.processors_max &&
          task.inputs === beside.inputs &&
          task.outputs === beside.outputs)
      );
    })
  );
}

/**
 * The columns of a workflow. What an edge carries is what is said of it and the files that one writes and the other
 * reads.
 */
export function analysisSpec({ tasks, edges }: Workflow): AnalysisSpec {
  const column = <T>(parts: readonly T[], value: (part: T) => number): Float64Array => Float64Array.from(parts, value);
  const written = new Map(
    tasks.flatMap(({ id, outputs }) =>
      outputs.length === 0 ? [] : [[id, new Map(outputs.map(({ name, bytes }) => [name, bytes]))] as const],
    ),
  );
  const read = new Map(tasks.flatMap(({ id, inputs }) => (inputs.length === 0 ? [] : [[id, inputs] as const])));
  const passed = (from: string, to: string): number => {
    const files = written.get(from);
    return files === undefined ? 0 : (read.get(to) ?? []).reduce((sum, { name }) => sum + (files.get(name) ?? 0), 0);
  };
  return {
    ids: tasks.map(({ id }) => id),
    work: column(tasks, ({ work }) => work),
    exchange: column(tasks, ({ exchange }) => exchange),
    widthMin: column(tasks, ({ processors_min: least }) => least),
    widthMax: column(tasks, ({ processors_max: most }) => most),
    from: edges.map(({ from }) => from),
    to: edges.map(({ to }) => to),
    data: column(edges, ({ from, to, data_bytes: stated }) => stated + passed(from, to)),
    share: column(edges, ({ share }) => share),
  };
}

/** Computes an analysis; the part that takes its time. */
export function analyse({
  ids,
  work,
  exchange,
  widthMin,
  widthMax,
  from,
  to,
  data,
  share,
}: AnalysisSpec): AnalysisReply {
  const empty = { ...emptyAnalysis, bLevels: new Float64Array(0), criticalPath: [] };
  if (ids.length === 0) return empty;
  const draft = {
    tasks: ids.map((id, index) => ({
      id,
      work: work[index] ?? 0,
      exchange: exchange[index] ?? 0,
      widthMin: widthMin[index] ?? 1,
      widthMax: widthMax[index] ?? 1,
    })),
    edges: from.map((id, index) => ({
      from: id,
      to: to[index] ?? '',
      data: data[index] ?? 0,
      share: share[index] ?? 0,
    })),
  };
  const fault = findWorkflowFault(draft);
  if (fault !== undefined) return { ...empty, fault: sayReason(fault.fault) };
  const made = makeWorkflow(draft);
  const model = platformCosts(made, reference);
  const times = made.tasks.map((_, task) => model.meanTime(task));
  const costs = {
    times,
    transfers: made.edges.map((edge, index) => model.meanTransfer(index, times[edge.from] as number)),
  };
  const path = findCriticalPath(made, costs);
  const shape = measureShape(made);
  return {
    fault: undefined,
    bLevels: Float64Array.from(bLevels(made, costs), (level) => level / 1000),
    criticalPath: path.tasks,
    criticalSeconds: path.length / 1000,
    levelCount: shape.levels,
    widestLevel: shape.widest,
    workSeconds: made.tasks.reduce((sum, task) => sum + task.work / 1000, 0),
  };
}

/** An analysis with its tasks by their ids. */
export function namedAnalysis({ tasks }: Pick<Workflow, 'tasks'>, reply: AnalysisReply): WorkflowAnalysis {
  return {
    ...reply,
    bLevels: new Map(Array.from(reply.bLevels, (level, index) => [tasks[index]?.id ?? '', level])),
    criticalPath: reply.criticalPath.map((task) => tasks[task]?.id ?? ''),
  };
}
