import type { Duration, IndexSet, TaskIndex } from '../../../shared/index.ts';
import type { Workflow } from '../../../workflow/index.ts';
import type { OutputsRead } from './outputs-read.ts';

/** What the tasks of a job wait for. */
export interface Dependencies {
  /** Its tasks are the job's, by index. */
  readonly workflow: Workflow;
  /**
   * By task: the longest way from its beginning to the end of the job, by the times that the job states; without any,
   * in tasks.
   */
  readonly levels: readonly Duration[];
  /** It is said of some tasks how long they take. */
  readonly isTimed: boolean;
  /** By task: how many of those that it waits for have not finished. */
  readonly unmet: number[];
  readonly read: OutputsRead;
  /** Tasks that wait for others, none of which has failed or was cancelled. */
  readonly waiting: IndexSet;
}

/** The tasks that a task waits for, or waited for. */
export function listPredecessors({ workflow: { incoming, edges } }: Dependencies, index: TaskIndex): TaskIndex[] {
  return (incoming[index] ?? []).flatMap((edge) => edges[edge]?.from ?? []);
}

/** The tasks that wait for a task, or did. */
export function listSuccessors({ workflow: { outgoing, edges } }: Dependencies, index: TaskIndex): TaskIndex[] {
  return (outgoing[index] ?? []).flatMap((edge) => edges[edge]?.to ?? []);
}

/** Those of which the longest way to the job's end comes first, and of equal ones the lowest index. */
export function byLevel({ levels }: Dependencies): (one: TaskIndex, other: TaskIndex) => number {
  return (one, other) => (levels[other] ?? 0) - (levels[one] ?? 0) || one - other;
}
