import { TaskStatus } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';

import type { JobRow } from '../../schema/index.ts';
import { jobRow } from '../documents/jobs.ts';
import { outputDocument, taskDocument, getTaskStatus } from '../documents/tasks.ts';
import { findTasks } from '../find-tasks.ts';
import type { GatewayParts } from '../grid-calls.ts';
import { readJobDetail, type JobSpecs } from '../job-specs.ts';
import type { Readings } from '../readings.ts';
import type { Handlers } from '../requests.ts';
import { readJobs } from './overview.ts';

const tailBytesDefault = 64 * 1024;
const tasksDefault = 100;

/** Jobs and their tasks. */
export function jobHandlers(
  { grid }: GatewayParts,
  readings: Readings,
  specs: JobSpecs,
): Handlers<
  'listJobs' | 'lookUpJobs' | 'getJob' | 'listTasks' | 'getTask' | 'getTaskOutput' | 'cancelJob' | 'retryTasks'
> {
  return {
    listJobs: async ({ query: { page_size: pageSize, before_job_id: beforeJobId } }) => {
      if (pageSize === undefined && beforeJobId === undefined) return readJobs(readings);
      const size = pageSize ?? 100;
      const { jobs } = await grid.broker().listJobs({ pageSize: size, beforeJobId: beforeJobId ?? 0 });
      return {
        jobs: jobs.map((job) => jobRow(job)),
        next_before_job_id: jobs.length < size ? null : (jobs.at(-1)?.jobId ?? null),
      };
    },
    lookUpJobs: async ({ query }) => {
      const rows = await Promise.all(
        [...new Set(query.job_ids.split(',').map(Number))].map((jobId) => readRow(readings, jobId)),
      );
      return { jobs: rows.flatMap((row) => row ?? []) };
    },
    getJob: ({ params }) => readJobDetail(readings, specs, params.job_id),
    listTasks: async ({ params, query }) => {
      const { tasks, nextTaskIndex } = await findTasks((request) => grid.broker().listTasks(request), {
        jobId: params.job_id,
        status: query.status === undefined ? TaskStatus.UNSPECIFIED : getTaskStatus(query.status),
        pageSize: query.page_size ?? tasksDefault,
        fromTaskIndex: query.from_task_index ?? 0,
        search: query.search ?? '',
      });
      return { tasks: tasks.map(taskDocument), next_task_index: nextTaskIndex ?? null };
    },
    getTask: async ({ params }) => {
      const {
        tasks: [task],
      } = await grid.broker().listTasks({
        jobId: params.job_id,
        taskIndexes: [params.task_index],
        status: TaskStatus.UNSPECIFIED,
        pageSize: 1,
        fromTaskIndex: 0,
      });
      if (task === undefined)
        throw new MutiraoError('MUT_NOT_FOUND', `job ${params.job_id} has no task ${params.task_index}`);
      return taskDocument(task);
    },
    getTaskOutput: async ({ params, query }) => {
      const output = await grid.broker().getTaskOutput({ jobId: params.job_id, taskIndex: params.task_index });
      return outputDocument(params.job_id, params.task_index, {
        output,
        tailBytes: query.tail_bytes ?? tailBytesDefault,
      });
    },
    cancelJob: async ({ params, body }) => {
      await grid.broker().cancelJob({ jobId: params.job_id, reason: body.reason ?? '' });
      return { done: true };
    },
    retryTasks: async ({ params, body }) => {
      const { retriedCount } = await grid.broker().retryTasks({
        jobId: params.job_id,
        taskIndexes: body.task_indexes ?? [],
        currentInputs: body.current_inputs ?? false,
      });
      return { retried_count: retriedCount };
    },
  };
}

/** A job with how long it still takes; undefined where there is none. */
async function readRow(readings: Readings, jobId: number): Promise<JobRow | undefined> {
  try {
    const answer = await readings.estimate(jobId);
    if (answer.job === undefined) return undefined;
    return jobRow(answer.job, answer, (await readings.waits([answer.job])).get(jobId));
  } catch (error) {
    if (error instanceof MutiraoError && error.code === 'MUT_NOT_FOUND') return undefined;
    throw error;
  }
}
