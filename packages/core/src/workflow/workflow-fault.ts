import type { GetReason } from '../reasons/index.ts';
import type { ProcessorCount } from '../shared/index.ts';
import {
  listEdges,
  sortTasks,
  type EdgeDraft,
  type TaskDraft,
  type WorkflowDraft,
  type WorkflowEdge,
} from './workflow.ts';

/** A code of the error registry for what can be wrong with a workflow. */
export type WorkflowFaultCode =
  | 'MUT_WORKFLOW_EMPTY'
  | 'MUT_WORKFLOW_DUPLICATE_TASK'
  | 'MUT_WORKFLOW_COST'
  | 'MUT_WORKFLOW_WIDTH'
  | 'MUT_WORKFLOW_DANGLING_EDGE'
  | 'MUT_WORKFLOW_DUPLICATE_EDGE'
  | 'MUT_WORKFLOW_CYCLE';

/** What can be wrong with a workflow. */
type WorkflowReason = GetReason<
  | 'workflow-without-tasks'
  | 'workflow-task-twice'
  | 'workflow-work-invalid'
  | 'workflow-exchange-invalid'
  | 'workflow-width-invalid'
  | 'workflow-task-too-wide'
  | 'workflow-edge-task-unknown'
  | 'workflow-edge-cost-invalid'
  | 'workflow-edge-twice'
  | 'workflow-cycle'
>;

/** What is wrong with a workflow, and where. */
export interface WorkflowFault {
  readonly code: WorkflowFaultCode;
  /** Names the place. */
  readonly fault: WorkflowReason;
  /** The task of the draft that is at fault, by index. */
  readonly taskIndex?: number;
  /** The edge of the draft that is at fault, by index. */
  readonly edgeIndex?: number;
}

/**
 * Finds the first thing that is wrong with a workflow; undefined when nothing is. Cost: O((tasks + edges) log tasks).
 */
export function findWorkflowFault(draft: WorkflowDraft): WorkflowFault | undefined {
  if (draft.tasks.length === 0) return { code: 'MUT_WORKFLOW_EMPTY', fault: { code: 'workflow-without-tasks' } };
  const indexes = new Map<string, number>();
  for (const [index, task] of draft.tasks.entries()) {
    const fault: Found = indexes.has(task.id)
      ? { code: 'MUT_WORKFLOW_DUPLICATE_TASK', fault: { code: 'workflow-task-twice', taskId: task.id } }
      : findTaskFault(task);
    if (fault !== undefined) return { ...fault, taskIndex: index };
    indexes.set(task.id, index);
  }
  const seen = new Map<string, Set<string>>();
  for (const [index, edge] of draft.edges.entries()) {
    const fault = findEdgeFault(edge, indexes, seen);
    if (fault !== undefined) return { ...fault, edgeIndex: index };
  }
  return findCycle(draft, indexes);
}

/** Finds the first task that is wider than the machines at hand; undefined when there is none. */
export function findTooWide({ tasks }: WorkflowDraft, processorCount: ProcessorCount): WorkflowFault | undefined {
  const taskIndex = tasks.findIndex(({ widthMin = 1 }) => widthMin > processorCount);
  if (taskIndex < 0) return undefined;
  const { id, widthMin = 1 } = tasks[taskIndex] as TaskDraft;
  return {
    code: 'MUT_WORKFLOW_WIDTH',
    fault: {
      code: 'workflow-task-too-wide',
      taskId: id,
      processors: widthMin,
      knownProcessors: processorCount,
    },
    taskIndex,
  };
}

type Found = Pick<WorkflowFault, 'code' | 'fault'> | undefined;

const isCost = (value: number): boolean => Number.isFinite(value) && value >= 0;

function findTaskFault({ id, work, exchange = 0, widthMin = 1, widthMax = widthMin }: TaskDraft): Found {
  if (!isCost(work)) return { code: 'MUT_WORKFLOW_COST', fault: { code: 'workflow-work-invalid', taskId: id, work } };
  if (!isCost(exchange))
    return {
      code: 'MUT_WORKFLOW_COST',
      fault: { code: 'workflow-exchange-invalid', taskId: id, exchangeBytes: exchange },
    };
  const isWidth = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
  if (isWidth(widthMin) && isWidth(widthMax) && widthMin <= widthMax) return undefined;
  return {
    code: 'MUT_WORKFLOW_WIDTH',
    fault: { code: 'workflow-width-invalid', taskId: id, processorsMin: widthMin, processorsMax: widthMax },
  };
}

function findEdgeFault(
  { from, to, data = 0, share = 0 }: EdgeDraft,
  indexes: ReadonlyMap<string, number>,
  seen: Map<string, Set<string>>,
): Found {
  const nowhere = [from, to].find((id) => !indexes.has(id));
  if (nowhere !== undefined)
    return {
      code: 'MUT_WORKFLOW_DANGLING_EDGE',
      fault: { code: 'workflow-edge-task-unknown', fromId: from, toId: to, taskId: nowhere },
    };
  if (!isCost(data) || !isCost(share)) {
    return {
      code: 'MUT_WORKFLOW_COST',
      fault: {
        code: 'workflow-edge-cost-invalid',
        fromId: from,
        toId: to,
        cost: isCost(data) ? share : data,
      },
    };
  }
  const heads = seen.get(from) ?? new Set<string>();
  if (heads.has(to))
    return { code: 'MUT_WORKFLOW_DUPLICATE_EDGE', fault: { code: 'workflow-edge-twice', fromId: from, toId: to } };
  seen.set(from, heads.add(to));
  return undefined;
}

/**
 * Names one cycle with its whole path. Every task that no order reaches waits for another such task, so walking back
 * from any of them comes round.
 */
function findCycle({ tasks, edges }: WorkflowDraft, indexes: ReadonlyMap<string, number>): WorkflowFault | undefined {
  const ends = edges.map(({ from, to }) => ({ from: indexes.get(from) as number, to: indexes.get(to) as number }));
  const { incoming, outgoing } = listEdges(tasks.length, ends);
  const sorted = new Set(sortTasks({ edges: ends, incoming, outgoing }));
  const first = tasks.findIndex((_, index) => !sorted.has(index));
  if (first < 0) return undefined;
  const steps = new Map<number, number>();
  const path: number[] = [];
  let edgeIndex = -1;
  for (let task = first; !steps.has(task); ) {
    steps.set(task, path.length);
    path.push(task);
    edgeIndex = (incoming[task] as readonly number[]).find(
      (edge) => !sorted.has((ends[edge] as WorkflowEdge).from),
    ) as number;
    task = (ends[edgeIndex] as WorkflowEdge).from;
  }
  const closing = (ends[edgeIndex] as WorkflowEdge).from;
  const cycle = [...path.slice(steps.get(closing)), closing].reverse();
  const taskIds = cycle.map((task) => (tasks[task] as TaskDraft).id);
  return { code: 'MUT_WORKFLOW_CYCLE', fault: { code: 'workflow-cycle', taskIds }, edgeIndex };
}
