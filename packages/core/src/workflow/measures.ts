import type { Duration } from '../shared/index.ts';
import type { CostModel } from './cost-model.ts';
import { findCriticalPath } from './levels.ts';
import { getMakespan, type Schedule } from './schedule.ts';
import type { Workflow, WorkflowTask } from './workflow.ts';

/** What a schedule is worth. */
export interface ScheduleMeasures {
  readonly makespan: Duration;
  /** The time of all tasks one after another on the one processor that is fastest for them, over the makespan. */
  readonly speedup: number;
  /** Speedup over the number of processors. */
  readonly efficiency: number;
  /**
   * No schedule is shorter: the critical path, every task on the processors that are fastest for it, without transfers.
   */
  readonly bound: Duration;
}

/**
 * Measures a schedule of one workflow. Cost: O(tasks x processors^2). @source Topcuoglu, Hariri and Wu 2002, section
 * 5.1: speedup, efficiency, and the denominator of the SLR.
 */
export function measureSchedule(
  workflow: Workflow,
  costs: CostModel,
  processorCount: number,
  schedule: Schedule,
): ScheduleMeasures {
  const makespan = getMakespan(schedule);
  const speedup = makespan === 0 ? 1 : leastSequential(workflow, costs, processorCount) / makespan;
  return { makespan, speedup, efficiency: speedup / processorCount, bound: findBound(workflow, costs, processorCount) };
}

/**
 * The length of the critical path when every task runs on the processors that are fastest for it and nothing is sent.
 * Cost: O(tasks x processors^2).
 */
export function findBound(workflow: Workflow, costs: CostModel, processorCount: number): Duration {
  const fastest = sortByCapacity(costs, processorCount);
  const times = workflow.tasks.map((_, task) => leastTime(workflow, costs, task, fastest));
  return findCriticalPath(workflow, { times, transfers: workflow.edges.map(() => 0) }).length;
}

/** Processors, those with the most capacity first. */
export function sortByCapacity(costs: CostModel, processorCount: number): number[] {
  return Array.from({ length: processorCount }, (_, processor) => processor).sort(
    (one, other) => costs.capacity(other) - costs.capacity(one) || one - other,
  );
}

function leastTime(workflow: Workflow, costs: CostModel, task: number, fastest: readonly number[]): Duration {
  const { widthMin, widthMax } = workflow.tasks[task] as WorkflowTask;
  let least = Infinity;
  if (widthMin === 1) for (const processor of fastest) least = Math.min(least, costs.time(task, [processor]));
  for (let width = Math.max(2, widthMin); width <= Math.min(widthMax, fastest.length); width += 1)
    least = Math.min(least, costs.time(task, fastest.slice(0, width)));
  return least;
}

function leastSequential({ tasks }: Workflow, costs: CostModel, processorCount: number): Duration {
  let least = Infinity;
  for (let processor = 0; processor < processorCount; processor += 1) {
    let sum = 0;
    for (const task of tasks.keys()) sum += costs.time(task, [processor]);
    least = Math.min(least, sum);
  }
  return least;
}
