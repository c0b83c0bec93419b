import { allowedQuota, findQuotaExcess, type QuotaUse } from '../../../quotas/index.ts';
import type { Refusal } from '../../../reasons/index.ts';
import type { UserId } from '../../../shared/index.ts';
import type { BrokerState } from '../state.ts';
import { countEnded } from './end-jobs.ts';

/**
 * Why a user may not have one more job with this many tasks; undefined if it is allowed. Cost: O(open jobs) for users
 * with quotas.
 */
export function findJobExcess(state: BrokerState, userId: UserId, taskCount: number): Refusal | undefined {
  const { quotas } = state.options;
  if (allowedQuota(quotas, userId, 'jobs') === Infinity && allowedQuota(quotas, userId, 'tasks') === Infinity)
    return undefined;
  const used = countOpen(state, userId);
  const excess =
    findQuotaExcess(quotas, userId, { name: 'jobs', used: used.jobs, more: 1 }) ??
    findQuotaExcess(quotas, userId, { name: 'tasks', used: used.tasks, more: taskCount });
  return excess === undefined ? undefined : { code: 'MUT_USER_QUOTA', fault: excess.fault };
}

/** Why a user may not have `taskCount` more tasks in an own job; undefined if it is allowed. Cost as above. */
export function findTaskExcess(state: BrokerState, userId: UserId, taskCount: number): Refusal | undefined {
  const { quotas } = state.options;
  if (allowedQuota(quotas, userId, 'tasks') === Infinity) return undefined;
  const { tasks } = countOpen(state, userId);
  const excess = findQuotaExcess(quotas, userId, { name: 'tasks', used: tasks, more: taskCount });
  return excess === undefined ? undefined : { code: 'MUT_USER_QUOTA', fault: excess.fault };
}

/** What a user has at the broker, and may have. */
export function listJobQuotas(state: BrokerState, userId: UserId): QuotaUse[] {
  const { jobs, tasks } = countOpen(state, userId);
  const { quotas } = state.options;
  return [
    { name: 'jobs', used: jobs, allowed: allowedQuota(quotas, userId, 'jobs') },
    { name: 'tasks', used: tasks, allowed: allowedQuota(quotas, userId, 'tasks') },
  ];
}

function countOpen({ openJobs }: BrokerState, userId: UserId): { readonly jobs: number; readonly tasks: number } {
  let [jobs, tasks] = [0, 0];
  for (const job of openJobs.values()) {
    if (job.userId !== userId) continue;
    jobs += 1;
    // The program of an open job goes on adding: what has ended is over.
    tasks += job.taskCount - (job.spec?.open === true ? countEnded(job) : 0);
  }
  return { jobs, tasks };
}
