import { randomUUID } from 'node:crypto';
import { isAbsolute } from 'node:path';

import type { JobSpec } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';

import type { GatewayParts } from './grid-calls.ts';

/** What every submission of the page may say. */
export interface SubmissionSpec {
  readonly directory?: string;
  readonly client_job_id?: string;
}

/**
 * Submits a job; a repeated key is the same job. @throws {MutiraoError} MUT_BAD_REQUEST for a folder that is not
 * absolute, and what the broker says.
 */
export async function submit(
  { grid }: GatewayParts,
  job: JobSpec,
  { directory, client_job_id: key }: SubmissionSpec,
): Promise<{ job_id: number; task_count: number }> {
  requireAbsolute(directory);
  const { jobId, taskCount } = await grid.broker().submitJob({ job, clientJobId: key ?? randomUUID() });
  return { job_id: jobId, task_count: taskCount };
}

/** @throws {MutiraoError} MUT_BAD_REQUEST */
export function requireAbsolute(directory: string | undefined): void {
  if (directory !== undefined && !isAbsolute(directory))
    throw new MutiraoError('MUT_BAD_REQUEST', `directory is "${directory.slice(0, 100)}"; expected an absolute folder`);
}
