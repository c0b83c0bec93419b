import type { Duration, Instant } from '../shared/index.ts';
import type { CostModel } from './cost-model.ts';
import type { Placement, Schedule } from './schedule.ts';
import type { Workflow } from './workflow.ts';

/** What to schedule, on which processors, and which tasks are fixed already. */
export interface SchedulingProblem {
  /** The tasks of all jobs that are there. */
  readonly workflow: Workflow;
  readonly costs: CostModel;
  /** Nothing that is not settled starts before. */
  readonly now: Instant;
  /** From when on each processor is there, by index; `Infinity` for one that is gone. */
  readonly availableFrom: readonly Instant[];
  /** When the job of each task arrived, by index; no task starts before. */
  readonly releasedAt: readonly Instant[];
  /** Tasks that have ended, run, or are promised, by index of the task: they stay. Undefined for those to place. */
  readonly fixed: readonly (Placement | undefined)[];
  /**
   * What comes after the end of each task beyond this workflow, by index: it counts for the task's levels. Left out,
   * nothing.
   */
  readonly after?: readonly Duration[];
  /** Until when each processor is there, by index; what would end later has no place on it. Left out, all stay. */
  readonly availableUntil?: readonly Instant[];
  /**
   * The machine of each processor, by index: a rigid task of several processors stays within one. Left out, any will
   * do.
   */
  readonly machineOf?: readonly number[];
}

/**
 * An algorithm that places all tasks that are not settled; what has no place, since no processor stays long enough for
 * it, ends at `Infinity`.
 */
export interface WorkflowScheduler {
  readonly name: string;
  /** @throws {InvariantError} when a task needs more processors than there are; ask `findTooWide` first. */
  schedule(problem: SchedulingProblem): Schedule;
}

/** The problem of one workflow on idle processors, from instant 0. */
export function freshProblem(workflow: Workflow, costs: CostModel, processorCount: number): SchedulingProblem {
  return {
    workflow,
    costs,
    now: 0,
    availableFrom: new Array<Instant>(processorCount).fill(0),
    releasedAt: workflow.tasks.map(() => 0),
    fixed: workflow.tasks.map(() => undefined),
  };
}
