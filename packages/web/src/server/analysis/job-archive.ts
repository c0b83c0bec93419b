import type { GatewayParts } from '../grid-calls.ts';
import { requireJob } from '../job-specs.ts';
import type { Readings } from '../readings.ts';
import { JobRecords } from './job-records.ts';

/** Jobs whose runs are kept at a time, those that were looked at last. */
const jobsMax = 4;

/** What ran of the jobs that somebody looks at. */
export class JobArchive {
  readonly #parts: Pick<GatewayParts, 'grid' | 'clock'>;
  readonly #readings: Readings;
  readonly #kept = new Map<number, JobRecords>();

  constructor(parts: Pick<GatewayParts, 'grid' | 'clock'>, readings: Readings) {
    this.#parts = parts;
    this.#readings = readings;
  }

  /** What ran of a job, as far as it could be read in a while, or all of it. @throws {MutiraoError} MUT_NOT_FOUND */
  async look(jobId: number, { whole = false }: { readonly whole?: boolean } = {}): Promise<JobRecords> {
    const job = requireJob((await this.#readings.job(jobId)).job, jobId);
    const kept = this.#kept.get(jobId);
    // A broker with another journal may have another job of that number.
    const records = kept?.taskCount === job.taskCount ? kept : new JobRecords(this.#parts, job);
    this.#kept.delete(jobId);
    this.#kept.set(jobId, records);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > jobsMax && oldest !== undefined) this.#kept.delete(oldest);
    await (whole ? records.readAll(job) : records.refresh(job));
    return records;
  }
}
