import type { GatewayParts } from '../grid-calls.ts';
import type { Handlers } from '../requests.ts';

/** What is done to a job that runs. */
export function steeringHandlers({
  grid,
}: GatewayParts): Handlers<'holdTasks' | 'releaseTasks' | 'cancelTasks' | 'updateJob' | 'closeJob'> {
  return {
    holdTasks: async ({ params: { job_id: jobId }, body }) => {
      const { heldCount } = await grid.broker().holdTasks({ jobId, taskIndexes: body.task_indexes ?? [] });
      return { held_count: heldCount };
    },
    releaseTasks: async ({ params: { job_id: jobId }, body }) => {
      const { releasedCount } = await grid.broker().releaseTasks({ jobId, taskIndexes: body.task_indexes ?? [] });
      return { released_count: releasedCount };
    },
    cancelTasks: async ({ params: { job_id: jobId }, body: { task_indexes: taskIndexes } }) => {
      const { cancelledCount } = await grid
        .broker()
        .cancelTasks({ jobId, taskIndexes, reason: 'cancelled on the page' });
      return { cancelled_count: cancelledCount };
    },
    updateJob: async ({ params: { job_id: jobId }, body: { priority, running_max: runningMax } }) => {
      await grid.broker().updateJob({
        jobId,
        ...(priority !== undefined && { priority }),
        ...(runningMax !== undefined && { runningMax }),
      });
      return { done: true };
    },
    closeJob: async ({ params: { job_id: jobId } }) => {
      const { taskCount } = await grid.broker().closeJob({ jobId });
      return { task_count: taskCount };
    },
  };
}
