import type { JobId, UserId } from '../../shared/index.ts';
import type { BrokerJob, BrokerState } from './state.ts';

/** The job of that number if it is this user's; undefined where it is another's, as if there were none. */
export function findJobOf(state: BrokerState, userId: UserId, jobId: JobId): BrokerJob | undefined {
  const job = state.jobs.get(jobId);
  return job?.userId === userId ? job : undefined;
}
