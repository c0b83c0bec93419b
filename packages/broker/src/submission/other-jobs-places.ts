import { MutiraoError } from '@mutirao/api/errors';
import type { BrokerJob, BrokerState } from '@mutirao/core/machines/broker';
import type { JobSpec, OutputSpec } from '@mutirao/core/messages';
import type { JobId, TaskIndex, UserId } from '@mutirao/core/shared';

import { isKnownEarly } from '../staging/variables.ts';
import { eachPlace, placesOfTasks, type Places } from './check-places.ts';
import { mayMeet, findPlacePrefixes } from './place-prefixes.ts';

/** A job that is being submitted, or some of whose tasks run again. */
export interface SubmittedJob {
  /** Left out for one that has no number yet. */
  readonly jobId?: JobId;
  readonly userId: UserId;
  readonly clientJobId: string;
  readonly spec: JobSpec;
}

type RetriedJob = Pick<BrokerJob, 'jobId' | 'userId' | 'clientJobId' | 'spec' | 'status' | 'finished' | 'dependencies'>;

/** Outputs of other jobs that one submission looks at; a few microseconds each. */
const lookedAtMax = 400_000;

/**
 * Sees that a job does not write to a place at home which another job that has not ended writes to as well: one result
 * would replace the other.
 *
 * Jobs that are just being submitted count too, so that of two at the same time one is refused. The places of jobs are
 * compared only where the beginnings of their paths allow that they meet. Cost: O(open jobs), and the outputs of those
 * that may meet this one, 400,000 at most.
 */
export class OtherJobsPlaces {
  readonly #state: Pick<BrokerState, 'openJobs'>;
  readonly #submitted = new Set<SubmittedJob>();

  constructor(state: Pick<BrokerState, 'openJobs'>) {
    this.#state = state;
  }

  /**
   * Checks a job, and counts it among the others until `accept` is over.
   *
   * @param places its own; undefined where it may share them.
   * @throws {MutiraoError} MUT_OUTPUT_CONFLICT, naming both jobs; what `accept` throws.
   */
  async during<Accepted>(
    job: SubmittedJob,
    places: Places | undefined,
    accept: () => Promise<Accepted>,
  ): Promise<Accepted> {
    if (places === undefined || places.count === 0) return await accept();
    const others = [...this.#open(job), ...this.#beingSubmitted(job)];
    this.#submitted.add(job);
    try {
      let left = lookedAtMax;
      for (const other of others) left = await this.#compare(places, other, left);
      return await accept();
    } finally {
      this.#submitted.delete(job);
    }
  }

  /**
   * Has tasks of a job run again, all that did not finish where `taskIndexes` is empty. Where the job was over its
   * places were anybody's since.
   *
   * @throws {MutiraoError} MUT_OUTPUT_CONFLICT, naming both jobs; what `retry` throws.
   */
  async duringRetry<Retried>(
    { jobId, userId, clientJobId, spec, status, finished, dependencies }: RetriedJob,
    taskIndexes: readonly TaskIndex[],
    retry: () => Promise<Retried>,
  ): Promise<Retried> {
    if (spec === undefined || status === 'running') return await retry();
    const wanted = new Set(taskIndexes);
    // What waits for a task, or what it waits for, runs again with it.
    const isWanted = (index: TaskIndex): boolean =>
      wanted.size === 0 || wanted.has(index) || dependencies !== undefined;
    const places = await placesOfTasks(spec, (index) => isWanted(index) && !finished.has(index));
    return await this.during({ jobId, userId, clientJobId, spec }, places, retry);
  }

  *#open(job: SubmittedJob): Generator<OtherJob> {
    const folders = new Map<string, string>();
    const prefixes = findPlacePrefixes(job.spec, folders);
    for (const other of this.#state.openJobs.values()) {
      const { jobId, status, spec } = other;
      if (
        spec !== undefined &&
        status === 'running' &&
        !isSameSubmission(job, other) &&
        spec.gatherFolder === undefined &&
        mayMeet(prefixes, findPlacePrefixes(spec, folders))
      )
        yield { jobId, spec };
    }
  }

  *#beingSubmitted(job: SubmittedJob): Generator<OtherJob> {
    const prefixes = findPlacePrefixes(job.spec);
    for (const other of this.#submitted) {
      if (!isSameSubmission(job, other) && mayMeet(prefixes, findPlacePrefixes(other.spec)))
        yield { jobId: other.jobId, spec: other.spec };
    }
  }

  /** What may still be looked at afterwards. */
  async #compare(places: Places, other: OtherJob, most: number): Promise<number> {
    let left = most;
    if (left <= 0) return left;
    await eachPlace(other.spec, isComparable, ({ holder, target, remote }) => {
      const own = places.find(target, remote);
      if (own !== undefined)
        throw conflict({
          own: `${own.output.path} of task ${own.taskIndex}`,
          other,
          theirs: `${holder.output.path} of task ${holder.taskIndex}`,
          target,
        });
      left -= 1;
      return left > 0;
    });
    return left;
  }
}

/**
 * A client repeats a submission under the same key, also while the first one is looked at; a job is not in its own way.
 */
function isSameSubmission(
  { jobId, userId, clientJobId }: SubmittedJob,
  other: Pick<SubmittedJob, 'jobId' | 'userId' | 'clientJobId'>,
): boolean {
  if (jobId !== undefined && jobId === other.jobId) return true;
  return clientJobId !== '' && other.userId === userId && other.clientJobId === clientJobId;
}

interface OtherJob {
  /** Undefined for one that is just being submitted. */
  readonly jobId: JobId | undefined;
  readonly spec: JobSpec;
}

/** Jobs have different numbers, so that places with $JOB are different. */
function isComparable({ localPath, path }: OutputSpec): boolean {
  return isKnownEarly(localPath) && isKnownEarly(path);
}

function conflict({
  own,
  other: { jobId },
  theirs,
  target,
}: {
  readonly own: string;
  readonly other: OtherJob;
  readonly theirs: string;
  readonly target: string;
}): MutiraoError {
  const job = jobId === undefined ? 'a job that is being submitted now' : `job ${jobId}, which has not ended`;
  const fix =
    `${jobId === undefined ? 'choose other places' : `wait for that job ("mutirao job wait ${jobId}"), cancel it, or choose other places`}, ` +
    'or allow it with --shared-places';
  return new MutiraoError(
    'MUT_OUTPUT_CONFLICT',
    `${own} goes to ${target}, and so does ${theirs} of ${job}: one would replace the other; ${fix}`,
  );
}
