import { assignTask } from '../site-selection/assigned-tasks.ts';
import type { ChangeOf } from '../changes.ts';
import type { BrokerState } from '../state.ts';
import { getJob } from './apply-job.ts';
import { getProvider } from './apply-machine.ts';

/** Gives ready tasks the places that were chosen for them. */
export function assignTasks(state: BrokerState, { jobId, assignments, at }: ChangeOf<'TasksAssigned'>): void {
  const job = getJob(state, jobId);
  for (const assignment of assignments)
    assignTask(
      job,
      assignment,
      assignment.providerId === '' ? undefined : getProvider(state, assignment.providerId),
      at,
    );
}
