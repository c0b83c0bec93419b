import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec, JobSummary } from '@mutirao/api/broker';

import { jobDetail, jobSpecPart, type JobSpecPart } from './documents/jobs.ts';
import type { GatewayParts } from './grid-calls.ts';
import type { Readings } from './readings.ts';
import { listNeeds, type TaskNeed } from './task-needs.ts';
import type { JobDetail } from '../schema/index.ts';

const keptMax = 100;

/** What users stated of jobs, asked for once: it may be large, and never changes. */
export class JobSpecs {
  readonly #parts: Pick<GatewayParts, 'grid'>;
  readonly #kept = new Map<number, JobSpecPart>();
  readonly #needs = new Map<number, (taskIndex: number) => TaskNeed>();

  constructor(parts: Pick<GatewayParts, 'grid'>) {
    this.#parts = parts;
  }

  async get(jobId: number): Promise<JobSpecPart> {
    const known = this.#kept.get(jobId);
    if (known !== undefined) return known;
    const part = jobSpecPart(await this.fetch(jobId));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= keptMax && oldest !== undefined) this.#kept.delete(oldest);
    this.#kept.set(jobId, part);
    return part;
  }

  /** What each task of a job holds. */
  async needs(jobId: number): Promise<(taskIndex: number) => TaskNeed> {
    const known = this.#needs.get(jobId);
    if (known !== undefined) return known;
    const needs = listNeeds(await this.fetch(jobId));
    const [oldest] = this.#needs.keys();
    if (this.#needs.size >= keptMax && oldest !== undefined) this.#needs.delete(oldest);
    this.#needs.set(jobId, needs);
    return needs;
  }

  /** The whole spec, which is not kept. @throws {MutiraoError} MUT_NOT_FOUND */
  async fetch(jobId: number): Promise<JobSpec> {
    const { spec } = await this.#parts.grid.broker().getJob({ jobId });
    if (spec === undefined) throw noJob(jobId);
    return spec;
  }
}

/** A job in full. @throws {MutiraoError} MUT_NOT_FOUND */
export async function readJobDetail(readings: Readings, specs: JobSpecs, jobId: number): Promise<JobDetail> {
  const [answer, spec] = await Promise.all([readings.job(jobId), specs.get(jobId)]);
  const job = requireJob(answer.job, jobId);
  return jobDetail(job, spec, { answer, waiting: (await readings.waits([job])).get(jobId) });
}

/** @throws {MutiraoError} MUT_NOT_FOUND */
export function requireJob(job: JobSummary | undefined, jobId: number): JobSummary {
  if (job === undefined) throw noJob(jobId);
  return job;
}

function noJob(jobId: number): MutiraoError {
  return new MutiraoError('MUT_NOT_FOUND', `there is no job ${jobId} of yours`);
}
