import type {
  CancelJobRequest, CancelJobResponse, GetJobRequest, GetJobResponse, ListJobsRequest, ListJobsResponse, RetryTasksRequest, RetryTasksResponse,
} from '@mutirao/api/broker';
import { badRequest, encodeJobSpec, encodeJobSummary, encodeTaskTimes } from '@mutirao/api/codecs';
import { findJobSummary, listJobSummaries, outlookOf, plannedEndOf } from '@mutirao/core/machines/broker';
import type { UnaryHandler } from '@mutirao/runtime/rpc';

import { getJob, type BrokerParts } from './broker-parts.ts';

const pageDefault = 100;
const pageMax = 10_000;

/** Where a job stands and what it was submitted with. */
export function getJobRoute(parts: BrokerParts): UnaryHandler<GetJobRequest, GetJobResponse> {
  return ({ jobId, withoutSpec = false }, { userId }) => {
    const job = getJob(parts, userId, jobId);
    const summary = findJobSummary(parts.driver.state, userId, jobId);
    const now = parts.clock.now();
    const { times, placeCount, remaining } = outlookOf(parts.driver.state, job, now);
    return {
      job: summary && encodeJobSummary(summary), spec: withoutSpec ? undefined : encodeJobSpec(parts.specs.getSpec(job)), trouble: parts.room.trouble(),
      taskTimes: times && encodeTaskTimes(times), placeCount, remainingMsMin: remaining?.least, remainingMsMax: remaining?.most, plannedEndUnixMs: plannedEndOf(parts.driver.state, job, now),
    };
  };
}

/** The user's jobs, the newest first, a page at a time. */
export function listJobsRoute(parts: BrokerParts): UnaryHandler<ListJobsRequest, ListJobsResponse> {
  return ({ pageSize, beforeJobId }, { userId }) => {
    const sizeMax = Math.min(pageSize === 0 ? pageDefault : pageSize, pageMax);
    return { jobs: listJobSummaries(parts.driver.state, userId, { beforeJobId, sizeMax }).map(encodeJobSummary), trouble: parts.room.trouble() };
  };
}

/** Cancels what of a job has not ended. */
export function cancelJobRoute(parts: BrokerParts): UnaryHandler<CancelJobRequest, CancelJobResponse> {
  return async ({ jobId, reason }, { userId }) => {
    if (reason.length > 1024) throw badRequest(`reason has ${reason.length} characters; want at most 1024`);
    await parts.driver.ask((replyTo) => ({ kind: 'JobCancelled', replyTo, userId, jobId, reason }));
    return {};
  };
}

/** Runs failed or cancelled tasks again. */
export function retryTasksRoute(parts: BrokerParts): UnaryHandler<RetryTasksRequest, RetryTasksResponse> {
  return async ({ jobId, taskIndexes }, { userId }) => (
    await parts.driver.ask<RetryTasksResponse>((replyTo) => ({ kind: 'TasksRetried', replyTo, userId, jobId, taskIndexes }))
  );
}
