import type {
  ForgetJobsRequest,
  ForgetJobsResponse,
  HoldTasksRequest,
  HoldTasksResponse,
  ReleaseTasksRequest,
  ReleaseTasksResponse,
  UpdateJobRequest,
  UpdateJobResponse,
} from '@mutirao/api/broker';
import { badRequest, taskCountMax } from '@mutirao/api/codecs';
import type { UnaryHandler } from '@mutirao/runtime/rpc';

import type { BrokerParts } from './broker-parts.ts';

/** Keeps tasks from being started until they are released. */
export function holdTasksRoute(parts: BrokerParts): UnaryHandler<HoldTasksRequest, HoldTasksResponse> {
  return async ({ jobId, taskIndexes }, { userId }) => {
    requireFew(taskIndexes);
    return await parts.driver.ask((replyTo) => ({ kind: 'TasksHeld', replyTo, userId, jobId, taskIndexes }));
  };
}

/** Lets held tasks be started. */
export function releaseTasksRoute(parts: BrokerParts): UnaryHandler<ReleaseTasksRequest, ReleaseTasksResponse> {
  return async ({ jobId, taskIndexes }, { userId }) => {
    requireFew(taskIndexes);
    return await parts.driver.ask((replyTo) => ({ kind: 'TasksReleased', replyTo, userId, jobId, taskIndexes }));
  };
}

/** Changes how a job that has not ended is served. */
export function updateJobRoute(parts: BrokerParts): UnaryHandler<UpdateJobRequest, UpdateJobResponse> {
  return async ({ jobId, priority, runningMax }, { userId }) =>
    await parts.driver.ask((replyTo) => ({ kind: 'JobUpdated', replyTo, userId, jobId, priority, runningMax }));
}

function requireFew({ length }: readonly number[]): void {
  if (length > taskCountMax) throw badRequest(`task_indexes has ${length} entries; expected at most ${taskCountMax}`);
}

/** What a call forgets at most. */
const forgottenMax = 10_000;

/** Forgets jobs that have ended. */
export function forgetJobsRoute(parts: BrokerParts): UnaryHandler<ForgetJobsRequest, ForgetJobsResponse> {
  return async ({ jobIds, endedBeforeUnixMs: endedBefore, keptCount }, { userId }) => {
    if (jobIds.length > forgottenMax)
      throw badRequest(`job_ids has ${jobIds.length} entries; expected at most ${forgottenMax}`);
    if (jobIds.length === 0 && endedBefore === undefined && keptCount === undefined)
      throw badRequest('no job is named; expected job_ids, ended_before_unix_ms or kept_count');
    const forgotten = await parts.driver.ask((replyTo) => ({
      kind: 'JobsForgotten',
      replyTo,
      userId,
      jobIds,
      endedBefore,
      keptCount,
    }));
    const { jobIds: gone, isAll } = forgotten as { readonly jobIds: number[]; readonly isAll: boolean };
    return { jobIds: gone, hasMore: !isAll };
  };
}
