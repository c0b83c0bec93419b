import type {
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
