import type { Duration } from '../shared/index.ts';
import type { Workflow, WorkflowEdge } from './workflow.ts';

/** What levels are computed with. */
export interface LevelCosts {
  /** Run time, by index of the task. */
  readonly times: readonly Duration[];
  /** Time of the transfer, by index of the edge. */
  readonly transfers: readonly Duration[];
  /** What comes after each task beyond the workflow, by index; left out, nothing. */
  readonly after?: readonly Duration[];
}

/**
 * The longest path from an entry task to each task, its own run time left out. Cost: O(tasks + edges).
 *
 * @source moreira2009, 2.2.1.3:  tl(i) = max over parents x of (tl(x) + w(x) + c(x, i)), 0 for an entry task
 * Symbols: w = `times`, c = `transfers`. Departs from the source: no.
 */
export function tLevels({ order, incoming, edges }: Workflow, { times, transfers }: LevelCosts): Duration[] {
  const levels = times.map(() => 0);
  for (const task of order) {
    let level = 0;
    for (const edge of incoming[task] as readonly number[]) {
      const { from } = edges[edge] as WorkflowEdge;
      level = Math.max(level, (levels[from] as number) + (times[from] as number) + (transfers[edge] as number));
    }
    levels[task] = level;
  }
  return levels;
}

/**
 * The longest path from each task to an exit task, its own run time included. Cost: O(tasks + edges).
 *
 * @source moreira2009, 2.2.1.3:  bl(i) = w(i) + max over children y of (c(i, y) + bl(y)), w(i) for an exit task
 * Symbols: w = `times`, c = `transfers`. Departs from the source: no.
 */
export function bLevels(workflow: Workflow, costs: LevelCosts): Duration[] {
  return tailLevels(workflow, costs).map((tail, task) => (costs.times[task] as number) + tail);
}

/**
 * What comes after the end of each task on the longest path to an exit task: its b-level without its own run time.
 * Cost: O(tasks + edges).
 */
export function tailLevels({ order, outgoing, edges }: Workflow, { times, transfers, after }: LevelCosts): Duration[] {
  const tails = times.map((_, task) => after?.[task] ?? 0);
  for (const task of order.toReversed()) {
    let tail = tails[task] as number;
    for (const edge of outgoing[task] as readonly number[]) {
      const { to } = edges[edge] as WorkflowEdge;
      tail = Math.max(tail, (transfers[edge] as number) + ((times[to] as number) + (tails[to] as number)));
    }
    tails[task] = tail;
  }
  return tails;
}

/** A longest path. */
export interface CriticalPath {
  /**
   * Indexes of its tasks, from an entry task to an exit task; of equally long paths the one whose first differing task
   * has the lowest index.
   */
  readonly tasks: readonly number[];
  readonly length: Duration;
}

/** Finds the critical path. Cost: O(tasks + edges). */
export function findCriticalPath(workflow: Workflow, costs: LevelCosts): CriticalPath {
  const levels = bLevels(workflow, costs);
  const best = (candidates: readonly number[], getLength: (candidate: number) => number): number | undefined => {
    let found: number | undefined;
    for (const candidate of candidates)
      if (found === undefined || getLength(candidate) > getLength(found)) found = candidate;
    return found;
  };
  const entries = workflow.incoming.flatMap(({ length }, task) => (length === 0 ? [task] : []));
  const tasks: number[] = [];
  const findHead = (edge: number): number => (workflow.edges[edge] as WorkflowEdge).to;
  for (let task = best(entries, (entry) => levels[entry] as number); task !== undefined; ) {
    tasks.push(task);
    const leaving = (workflow.outgoing[task] as readonly number[]).toSorted(
      (one, other) => findHead(one) - findHead(other),
    );
    const next = best(leaving, (edge) => (costs.transfers[edge] as number) + (levels[findHead(edge)] as number));
    task = next === undefined ? undefined : findHead(next);
  }
  return { tasks, length: tasks.length === 0 ? 0 : (levels[tasks[0] as number] as number) };
}
