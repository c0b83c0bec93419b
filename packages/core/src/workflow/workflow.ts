import { Heap, invariant, type Bytes, type ProcessorCount } from '../shared/index.ts';

/** A task as a user describes it. */
export interface TaskDraft {
  readonly id: string;
  /** Mflop, finite, 0 or more. */
  readonly work: number;
  /**
   * Bytes that its processors send in each step of a broadcast along a row or column of their grid; 0, the default, for
   * one that shares nothing.
   */
  readonly exchange?: Bytes;
  /** The fewest processors that it runs on; 1 by default. */
  readonly widthMin?: ProcessorCount;
  /**
   * The most processors that it runs on; `widthMin` by default. A task whose two widths differ is moldable, another one
   * is rigid.
   */
  readonly widthMax?: ProcessorCount;
}

/** That a task begins after another one, and what it gets from it. */
export interface EdgeDraft {
  /** Id of the task that comes first. */
  readonly from: string;
  readonly to: string;
  /** What is sent, finite, 0 or more; 0 by default. */
  readonly data?: Bytes;
  /**
   * Time of the transfer as a share of its sender's run time, finite, 0 or more; 0 by default. moreira2009's ratio of
   * communication to computation.
   */
  readonly share?: number;
}

/** A workflow as a user describes it; it may be wrong in every way that {@link findWorkflowFault} knows. */
export interface WorkflowDraft {
  readonly tasks: readonly TaskDraft[];
  readonly edges: readonly EdgeDraft[];
}

/** A task of a checked workflow; see {@link TaskDraft} for what its fields mean. */
export type WorkflowTask = Required<TaskDraft>;

/** An edge of a checked workflow. */
export interface WorkflowEdge {
  /** Index of a task. */
  readonly from: number;
  /** Index of a task. */
  readonly to: number;
  readonly data: Bytes;
  readonly share: number;
}

/** Tasks and what they wait for: a directed graph without cycles. Tasks and edges are known by their index. */
export interface Workflow {
  readonly tasks: readonly WorkflowTask[];
  readonly edges: readonly WorkflowEdge[];
  /** Edges that lead to a task, by index of the task; ascending. */
  readonly incoming: readonly (readonly number[])[];
  /** Edges that leave a task, by index of the task; ascending. */
  readonly outgoing: readonly (readonly number[])[];
  /**
   * All tasks, each after those that it waits for; of those that could come next the one with the lowest index does.
   */
  readonly order: readonly number[];
}

/**
 * Makes a workflow of a draft in which nothing is wrong. Cost: O((tasks + edges) log tasks).
 *
 * @throws {InvariantError} when the draft has a fault; ask {@link findWorkflowFault} first.
 */
export function makeWorkflow(draft: WorkflowDraft): Workflow {
  const indexes = new Map(draft.tasks.map(({ id }, index) => [id, index]));
  const indexOf = (id: string): number => {
    const index = indexes.get(id);
    invariant(index !== undefined, `edge of the task ${id}, which does not exist`);
    return index;
  };
  const tasks = draft.tasks.map(({ id, work, exchange = 0, widthMin = 1, widthMax = widthMin }) => ({
    id,
    work,
    exchange,
    widthMin,
    widthMax,
  }));
  const edges = draft.edges.map(({ from, to, data = 0, share = 0 }) => ({
    from: indexOf(from),
    to: indexOf(to),
    data,
    share,
  }));
  const { incoming, outgoing } = listEdges(tasks.length, edges);
  const order = sortTasks({ edges, incoming, outgoing });
  invariant(order.length === tasks.length, 'a workflow with a cycle');
  return { tasks, edges, incoming, outgoing, order };
}

/** The edges at each task. */
export function listEdges(
  taskCount: number,
  edges: readonly Pick<WorkflowEdge, 'from' | 'to'>[],
): Pick<Workflow, 'incoming' | 'outgoing'> {
  const incoming: number[][] = Array.from({ length: taskCount }, () => []);
  const outgoing: number[][] = Array.from({ length: taskCount }, () => []);
  edges.forEach(({ from, to }, edge) => {
    outgoing[from]?.push(edge);
    incoming[to]?.push(edge);
  });
  return { incoming, outgoing };
}

/**
 * The tasks in an order that respects the edges, the lowest index first; those on cycles and behind them are missing.
 * Cost: O((tasks + edges) log tasks).
 */
export function sortTasks({
  edges,
  incoming,
  outgoing,
}: Pick<Workflow, 'incoming' | 'outgoing'> & {
  readonly edges: readonly Pick<WorkflowEdge, 'from' | 'to'>[];
}): number[] {
  const waitsFor = incoming.map(({ length }) => length);
  const ready = new Heap<number>((one, other) => one < other);
  waitsFor.forEach((count, task) => {
    if (count === 0) ready.push(task);
  });
  const order: number[] = [];
  for (let task = ready.pop(); task !== undefined; task = ready.pop()) {
    order.push(task);
    for (const edge of outgoing[task] as readonly number[]) {
      const { to } = edges[edge] as WorkflowEdge;
      waitsFor[to] = (waitsFor[to] as number) - 1;
      if (waitsFor[to] === 0) ready.push(to);
    }
  }
  return order;
}
