import {
  JobSummary,
  type CancelJobRequest,
  type CancelJobResponse,
  type CancelTasksRequest,
  type CancelTasksResponse,
  type GetJobRequest,
  type GetJobResponse,
  type JobSpec as JobSpecWire,
  type ListJobsRequest,
  type ListJobsResponse,
  type RetryTasksRequest,
  type RetryTasksResponse,
} from '@mutirao/api/broker';
import { badRequest, encodeJobSpec, encodeJobSummary, encodeTaskTimes, taskCountMax } from '@mutirao/api/codecs';
import { findJobSummary, listJobSummaries, estimateJob, findPlannedEnd } from '@mutirao/core/machines/broker';
import type { JobSpec } from '@mutirao/core/messages';
import { fingerprintsIn, type CurrentInput } from '@mutirao/core/resumption';
import type { JobId, UserId } from '@mutirao/core/shared';
import { countOfPage, type UnaryHandler } from '@mutirao/runtime/rpc';

import { fingerprintInputs } from '../submission/fingerprint-inputs.ts';
import { requireOwner, getJob, type BrokerParts } from './broker-parts.ts';

const pageDefault = 100;
const pageMax = 10_000;

/** Where a job stands and what it was submitted with. */
export function getJobRoute(parts: BrokerParts): UnaryHandler<GetJobRequest, GetJobResponse> {
  return ({ jobId, withoutSpec = false, withoutValues = false }, { userId }) => {
    const job = getJob(parts, userId, jobId);
    const summary = findJobSummary(parts.driver.state, userId, jobId);
    const now = parts.clock.now();
    const { times, slotCount, remaining } = estimateJob(parts.driver.state, job, now);
    return {
      job: summary && encodeJobSummary(summary),
      spec: withoutSpec ? undefined : encodeSpec(parts.specs.getSpec(job), withoutValues),
      trouble: parts.room.trouble(),
      taskTimes: times && encodeTaskTimes(times),
      slotCount,
      remainingMsMin: remaining?.least,
      remainingMsMax: remaining?.most,
      plannedEndUnixMs: findPlannedEnd(parts.driver.state, job, now),
    };
  };
}

/** @param withoutValues leaves lists of values out. */
function encodeSpec(spec: JobSpec, withoutValues: boolean): JobSpecWire {
  const wire = encodeJobSpec(spec);
  if (!withoutValues) return wire;
  return {
    ...wire,
    groups: wire.groups.map((group) => (group.values?.$case === 'list' ? { ...group, values: undefined } : group)),
  };
}

/** The user's jobs, the newest first, a page at a time. */
export function listJobsRoute(parts: BrokerParts): UnaryHandler<ListJobsRequest, ListJobsResponse> {
  return ({ pageSize, beforeJobId }, { userId }) => {
    const sizeMax = Math.min(pageSize === 0 ? pageDefault : pageSize, pageMax);
    const found = listJobSummaries(parts.driver.state, userId, { beforeJobId, sizeMax: sizeMax + 1 });
    const jobs = found.slice(0, sizeMax).map(encodeJobSummary);
    const page = jobs.slice(
      0,
      countOfPage(jobs, (job) => JobSummary.encode(job).finish().length),
    );
    return {
      jobs: page,
      trouble: parts.room.trouble(),
      nextBeforeJobId: page.length < found.length ? page.at(-1)?.jobId : undefined,
    };
  };
}

/** Cancels what of a job has not ended. */
export function cancelJobRoute(parts: BrokerParts): UnaryHandler<CancelJobRequest, CancelJobResponse> {
  return async ({ jobId, reason }, { userId }) => {
    requireShort(reason);
    await parts.driver.ask((replyTo) => ({ kind: 'JobCancelled', replyTo, userId, jobId, reason }));
    return {};
  };
}

/** Cancels single tasks that have not ended, and what waits for them. */
export function cancelTasksRoute(parts: BrokerParts): UnaryHandler<CancelTasksRequest, CancelTasksResponse> {
  return async ({ jobId, taskIndexes, reason }, { userId }) => {
    requireShort(reason);
    if (taskIndexes.length === 0 || taskIndexes.length > taskCountMax)
      throw badRequest(`task_indexes has ${taskIndexes.length} entries; expected 1 to ${taskCountMax}`);
    return await parts.driver.ask((replyTo) => ({
      kind: 'TasksCancelled',
      replyTo,
      userId,
      jobId,
      taskIndexes,
      reason,
    }));
  };
}

function requireShort(reason: string): void {
  if (reason.length > 1024) throw badRequest(`reason has ${reason.length} characters; expected at most 1024`);
}

/**
 * Runs failed or cancelled tasks again, with what is at home now where that is asked for. @throws {MutiraoError}
 * MUT_INPUT_MISSING where an input of the job is not there.
 */
export function retryTasksRoute(parts: BrokerParts): UnaryHandler<RetryTasksRequest, RetryTasksResponse> {
  return async ({ jobId, taskIndexes, currentInputs, sharedPlaces }, { userId }) => {
    if (taskIndexes.length > taskCountMax)
      throw badRequest(`task_indexes has ${taskIndexes.length} entries; expected at most ${taskCountMax}`);
    const current = currentInputs ? { current: await readInputsAgain(parts, userId, jobId) } : {};
    const retry = (): Promise<RetryTasksResponse> =>
      parts.driver.ask<RetryTasksResponse>((replyTo) => ({
        kind: 'TasksRetried',
        replyTo,
        userId,
        jobId,
        taskIndexes,
        ...current,
      }));
    return sharedPlaces === true
      ? await retry()
      : await parts.otherJobsPlaces.duringRetry(getJob(parts, userId, jobId), taskIndexes, retry);
  };
}

async function readInputsAgain(parts: BrokerParts, userId: UserId, jobId: JobId): Promise<CurrentInput[]> {
  const { spec } = getJob(parts, userId, jobId);
  // Of a job all of whose tasks have finished nothing runs again.
  if (spec === undefined) return [];
  if (spec.groups.some(({ inputs }) => inputs.some(({ source }) => source.kind === 'path')))
    requireOwner(parts, userId, 'reading the inputs of a job again');
  const fingerprints = fingerprintsIn(await fingerprintInputs(spec, parts.homeFiles));
  return [...fingerprints].map(([path, fingerprint]) => ({ path, fingerprint }));
}
