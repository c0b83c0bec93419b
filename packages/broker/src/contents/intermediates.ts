import { linkSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { BrokerJob, BrokerState } from '@mutirao/core/machines/broker';
import { invariant, type Duration, type Instant, type JobId, type UserId } from '@mutirao/core/shared';

/** Where they are noted, and how long they are kept. */
export interface IntermediatesOptions {
  /** On the file system of blobs. */
  readonly folder: string;
  /** After the end of a job that finished. */
  readonly keepFor: Duration;
  getBlobPath(userId: UserId, sha256: string): string;
}

/** How long failed or cancelled work may be retried or resumed. */
const unfinishedKeptFor: Duration = 30 * 24 * 3_600_000;

type State = Pick<BrokerState, 'jobs'>;

/**
 * Blobs that tasks wrote for other tasks of their job, and that are removed when the job is over.
 *
 * Each has a further name, in a folder of its job. A blob that was there before, or is put there again by somebody else
 * (an upload, another job), is another file than that, and stays.
 */
export class Intermediates {
  readonly #options: IntermediatesOptions;

  constructor(options: IntermediatesOptions) {
    this.#options = options;
  }

  /**
   * Notes a blob that a task has just written, if nobody had it before. Harmless again; a blob that cannot be noted is
   * kept for good.
   */
  note(job: { readonly jobId: JobId; readonly userId: UserId }, sha256: string): void {
    invariant(/^[0-9a-f]{64}$/.test(sha256), `not a hash: ${sha256}`);
    try {
      const folder = this.#getFolder(job.jobId);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      linkSync(this.#options.getBlobPath(job.userId, sha256), join(folder, sha256));
    } catch {
      // There are file systems without hard links.
    }
  }

  /**
   * Removes those of jobs that ended long enough ago and that no job which may still run goes on with. Answers how many
   * blobs went. Cost: O(jobs), and O(their blobs) for what goes.
   */
  sweep(state: State, now: Instant): number {
    const notOver = [...state.jobs.values()].filter((job) => !this.#isOver(job, now));
    const inUse = jobsInUse(notOver);
    let count = 0;
    for (const jobId of this.#listJobs()) {
      const job = state.jobs.get(jobId);
      if (job === undefined || !this.#isOver(job, now) || inUse.has(jobId)) continue;
      count += this.#removeOf(jobId, job.userId, contentsWanted(notOver, job.userId));
    }
    return count;
  }

  /** Whether what the job wrote and reads is kept no longer on its own behalf. */
  #isOver({ endedAt, status }: BrokerJob, now: Instant): boolean {
    return endedAt !== 0 && now - endedAt >= (status === 'finished' ? this.#options.keepFor : unfinishedKeptFor);
  }

  #listJobs(): JobId[] {
    try {
      return readdirSync(this.#options.folder).map(Number).filter(Number.isSafeInteger);
    } catch {
      return []; // None was noted yet.
    }
  }

  #removeOf(jobId: JobId, userId: UserId, wanted: ReadonlySet<string>): number {
    const folder = this.#getFolder(jobId);
    let count = 0;
    for (const sha256 of readdirSync(folder)) {
      if (wanted.has(sha256)) continue;
      const blob = this.#options.getBlobPath(userId, sha256);
      if (getInode(blob) === getInode(join(folder, sha256))) {
        rmSync(blob, { force: true });
        count += 1;
      }
      rmSync(join(folder, sha256), { force: true });
    }
    if (readdirSync(folder).length === 0) rmdirSync(folder);
    return count;
  }

  #getFolder(jobId: JobId): string {
    return join(this.#options.folder, String(jobId));
  }
}

/** Those of which jobs have taken over results. */
function jobsInUse(jobs: readonly BrokerJob[]): Set<JobId> {
  return new Set(jobs.flatMap(({ spec }) => spec?.resumes?.tasks.map(({ jobId }) => jobId) ?? []));
}

/** What a user's jobs read by its hash. */
function contentsWanted(jobs: readonly BrokerJob[], userId: UserId): Set<string> {
  const inputs = jobs
    .filter((job) => job.userId === userId)
    .flatMap(({ spec }) => spec?.groups.flatMap((group) => group.inputs) ?? []);
  return new Set(inputs.flatMap(({ source }) => (source.kind === 'content' ? [source.content.sha256] : [])));
}

/** -1 where there is none, so that no two that are absent are the same. */
function getInode(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? -1;
}
