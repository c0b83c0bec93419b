import type { JobId, UserId } from '../../../shared/index.ts';
import { clientKey, type BrokerJob, type BrokerState } from '../state.ts';

/** The job of that number if it is this user's; undefined where it is another's, as if there were none. */
export function findUserJob(state: BrokerState, userId: UserId, jobId: JobId): BrokerJob | undefined {
  const job = state.jobs.get(jobId);
  return job?.userId === userId ? job : undefined;
}

/** The job that this user submitted under this client id; undefined if there is none, and for the empty id. */
export function findJobByClientId(state: BrokerState, userId: UserId, clientJobId: string): BrokerJob | undefined {
  return clientJobId === '' ? undefined : state.jobsByClientId.get(clientKey(userId, clientJobId));
}
