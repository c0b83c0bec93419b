import type { Reason } from '../../../reasons/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';
import { listPredecessors } from '../workflow/dependencies.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { countHeld, findTaskSummary, type TaskSummary } from '../queries.ts';
import type { BrokerJob } from '../state.ts';

/** Says for which tasks one waits, and what these are. */
export function explainUnmet(
  job: BrokerJob,
  { taskIndex, waitsFor }: TaskSummary,
  more: readonly Reason[],
): Explanation {
  const unfinishedTasks = job.dependencies?.unmet[taskIndex] ?? 0;
  const listed = waitsFor.slice(0, listedMax);
  const before = listed.map(
    (index): Reason => ({
      code: 'task-before',
      taskIndex: index,
      status: findTaskSummary(job, index)?.status ?? 'gone',
    }),
  );
  const rest = unfinishedTasks - listed.length;
  return {
    summary: {
      code: 'task-unmet',
      jobId: job.jobId,
      taskIndex,
      unfinishedTasks,
      taskIndexes: listed.map(String),
    },
    details: [...before, ...(rest > 0 ? [{ code: 'further-tasks', tasks: rest } as const] : []), ...more],
  };
}

/** The reason why a task was cancelled: its user, or the failure or cancellation of a task that it waits for. */
export function explainCancelled(job: BrokerJob, taskIndex: TaskIndex): Reason {
  const { jobId, cancelReason } = job;
  const failedTaskIndex = cancelReason === '' ? findFailedBefore(job, taskIndex) : undefined;
  if (failedTaskIndex !== undefined) return { code: 'task-blocked', jobId, taskIndex, failedTaskIndex };
  const cancelledTaskIndex = cancelReason === '' ? findCancelledBefore(job, taskIndex) : undefined;
  return cancelledTaskIndex === undefined
    ? { code: 'task-cancelled', jobId, taskIndex, cause: cancelReason }
    : { code: 'task-behind-cancelled', jobId, taskIndex, cancelledTaskIndex };
}

/** A task that was cancelled and for which this one waits directly. */
function findCancelledBefore({ dependencies, cancelled }: BrokerJob, index: TaskIndex): TaskIndex | undefined {
  return dependencies && listPredecessors(dependencies, index).find((before) => cancelled.has(before));
}

/** The first failed task that is found on the way back along the edges. */
function findFailedBefore({ dependencies, failed, cancelled }: BrokerJob, index: TaskIndex): TaskIndex | undefined {
  if (dependencies === undefined) return undefined;
  const seen = new Set([index]);
  for (const task of seen) {
    for (const before of listPredecessors(dependencies, task)) {
      if (failed.has(before)) return before;
      if (cancelled.has(before)) seen.add(before);
    }
  }
  return undefined;
}

/** Says of a workflow how many of its tasks wait for others, and how many cannot run any more. */
export function explainProgress(job: BrokerJob): Reason[] {
  const { jobId, dependencies, cancelled, failed, cancelReason, spec } = job;
  const reused: Reason[] =
    spec?.resumes === undefined
      ? []
      : [{ code: 'tasks-reused', tasks: spec.resumes.tasks.length, jobId: spec.resumes.jobId }];
  const heldCount = countHeld(job);
  const held: Reason[] = heldCount === 0 ? [] : [{ code: 'tasks-held', tasks: heldCount, jobId }];
  if (dependencies === undefined) return [...reused, ...held];
  const { size } = dependencies.waiting;
  const isBlocked = cancelled.size > 0 && failed.size > 0 && cancelReason === '';
  return [
    ...reused,
    ...held,
    ...(size === 0 ? [] : [{ code: 'tasks-waiting-for-others', tasks: size } as const]),
    ...(isBlocked ? [{ code: 'tasks-blocked', tasks: cancelled.size } as const] : []),
  ];
}
