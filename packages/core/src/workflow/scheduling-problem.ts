import type { Instant } from '../shared/index.ts';
import type { CostModel } from './cost-model.ts';
import type { Placement, Schedule } from './schedule.ts';
import type { Workflow } from './workflow.ts';

/** What is to be scheduled, on what, and what of it is settled already. */
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
  /** What has ended, runs, or is promised, by index of the task: it stays. Undefined for what is to be placed. */
  readonly fixed: readonly (Placement | undefined)[];
}

/** An algorithm that places all tasks that are not settled. */
export interface WorkflowScheduler {
  readonly name: string;
  /** @throws {InvariantError} when a task needs more processors than there are; ask `findTooWide` first. */
  schedule(problem: SchedulingProblem): Schedule;
}

/** The problem of one workflow on idle processors, from instant 0. */
export function freshProblem(workflow: Workflow, costs: CostModel, processorCount: number): SchedulingProblem {
  return {
    workflow, costs, now: 0, availableFrom: new Array<Instant>(processorCount).fill(0),
    releasedAt: workflow.tasks.map(() => 0), fixed: workflow.tasks.map(() => undefined),
  };
}
