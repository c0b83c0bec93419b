import type { Workflow, WorkflowEdge } from './workflow.ts';

/** How a workflow looks when each task stands one level below the lowest that it waits for. */
export interface WorkflowShape {
  /** Number of levels: tasks of the longest chain. */
  readonly levels: number;
  /** Most tasks of one level. */
  readonly widest: number;
}

/** Counts levels. Cost: O(tasks + edges). */
export function measureShape({ order, incoming, edges }: Workflow): WorkflowShape {
  const level = order.map(() => 0);
  const counts: number[] = [];
  for (const task of order) {
    let own = 0;
    for (const edge of incoming[task] as readonly number[])
      own = Math.max(own, 1 + (level[(edges[edge] as WorkflowEdge).from] as number));
    level[task] = own;
    counts[own] = (counts[own] ?? 0) + 1;
  }
  return { levels: counts.length, widest: counts.reduce((most, count) => Math.max(most, count), 0) };
}
