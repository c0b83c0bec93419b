import type { Resumed } from '@mutirao/api/broker';
import { MutiraoError } from '@mutirao/api/errors';
import { encodeCause } from '@mutirao/api/reasons';
import { findTaskSummary, type BrokerJob } from '@mutirao/core/machines/broker';
import type { JobSpec, TakenTask } from '@mutirao/core/messages';
import type { Reason } from '@mutirao/core/reasons';
import { chooseTaken, findOverwrite, matchTasks, type Choice, type TaskMatch } from '@mutirao/core/resumption';
import type { JobId, TaskIndex, UserId } from '@mutirao/core/shared';

import type { BrokerParts } from '../routes/broker-parts.ts';
import { getJob } from '../routes/broker-parts.ts';
import { getOrigin } from '../staging/task-of-job.ts';
import type { OutputsThere } from '../staging/task-outputs.ts';

/** A job that takes over the results of an earlier one. */
export interface ResumedJob {
  readonly userId: UserId;
  /** As it is submitted, its inputs looked at. */
  readonly spec: JobSpec;
  /** 0 is the latest with its label. */
  readonly resumesJobId: JobId;
}

type ResumeParts = Pick<BrokerParts, 'driver' | 'specs' | 'taskOutputs'>;

/** As many as a workflow may have. */
const tasksMax = 100_000;
/** Tasks that run which an answer names. */
const runsReportedMax = 1000;
/** Tasks whose outputs are looked at at a time. */
const concurrencyMax = 32;

/**
 * Finds what a job need not run again.
 *
 * @throws {MutiraoError} MUT_NOT_FOUND; MUT_RESUME_OPEN while the earlier job runs; MUT_RESUME_OTHER where it has no
 * task that is like one of these, or one would write over the result of another; MUT_BAD_REQUEST where outputs are
 * gathered.
 */
export async function resumeJob(
  parts: ResumeParts,
  wanted: ResumedJob,
): Promise<{ readonly spec: JobSpec; readonly resumed: Resumed }> {
  const { spec, userId } = wanted;
  const job = findFormer(parts, wanted);
  if (job.endedAt === 0)
    throw new MutiraoError('MUT_RESUME_OPEN', `job ${job.jobId} has not ended; expected one that has`);
  if (job.taskCount > tasksMax)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `job ${job.jobId} has ${job.taskCount} tasks; expected ${tasksMax} at most where a job goes on with another`,
    );
  const former = parts.specs.getSpec(job);
  if (spec.gatherFolder !== undefined || former.gatherFolder !== undefined)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the outputs of job ${job.jobId} or of this one are gathered; expected neither where a job goes on with another`,
    );
  const matches = matchTasks(spec, former);
  if (matches.every((match) => match.kind === 'other' && match.isUnknown))
    throw new MutiraoError(
      'MUT_RESUME_OTHER',
      `job ${job.jobId}${former.label === '' ? '' : ` (${former.label})`} has no task like any of these; expected an ` +
        'earlier job of this file or command',
    );
  const choice = await choose(parts, { job, former, userId }, { spec, matches });
  requireNoOverwrite({ spec, former, job }, choice);
  const tasks = [...choice.taken].map(([taskIndex, formerIndex]): TakenTask => {
    const origin = getOrigin(former, { jobId: job.jobId, taskIndex: formerIndex });
    return { taskIndex, jobId: origin.jobId, fromTaskIndex: origin.taskIndex };
  });
  const runs = choice.runs
    .slice(0, runsReportedMax)
    .map(({ taskIndex, reason }) => ({ taskIndex, reason: encodeCause(reason) }));
  return {
    spec: tasks.length === 0 ? spec : { ...spec, resumes: { jobId: job.jobId, tasks } },
    resumed: { jobId: job.jobId, takenCount: tasks.length, runs },
  };
}

/** @throws {MutiraoError} MUT_RESUME_OTHER where a task that runs would write over the result of another one. */
function requireNoOverwrite(
  { spec, former, job }: { readonly spec: JobSpec; readonly former: JobSpec; readonly job: BrokerJob },
  { runs }: Choice,
): void {
  const found = findOverwrite(spec, former, {
    runs,
    hasFinished: (index) => findTaskSummary(job, index)?.status === 'finished',
  });
  if (found === undefined) return;
  const { place, taskIndex, formerIndex } = found;
  throw new MutiraoError(
    'MUT_RESUME_OTHER',
    `task ${taskIndex} would write over ${place}, the result of task ${formerIndex} of job ${job.jobId}, which ` +
      'is another one; submit all tasks of that job, in its order: those that are done do not run again',
  );
}

function findFormer(parts: ResumeParts, { userId, spec, resumesJobId }: ResumedJob): BrokerJob {
  if (resumesJobId !== 0) return getJob(parts, userId, resumesJobId);
  const former = [...parts.driver.state.jobs.values()].findLast(
    (job) => job.userId === userId && job.label === spec.label,
  );
  if (former === undefined)
    throw new MutiraoError(
      'MUT_RESUME_OTHER',
      `no earlier job of yours is called ${JSON.stringify(spec.label)}; expected one, or its number`,
    );
  return former;
}

interface Former {
  readonly job: BrokerJob;
  readonly former: JobSpec;
  readonly userId: UserId;
}

async function choose(
  parts: ResumeParts,
  { job, former, userId }: Former,
  { spec, matches }: { readonly spec: JobSpec; readonly matches: readonly TaskMatch[] },
): Promise<Choice> {
  const alike = matches.flatMap((match) => (match.kind === 'same' ? [match.former] : []));
  const there = new Map<TaskIndex, OutputsThere>();
  const queue = alike.filter((index) => findFault(job, index) === undefined).values();
  const look = async (): Promise<void> => {
    for (const index of queue)
      there.set(index, await parts.taskOutputs.lookAt({ jobId: job.jobId, userId, spec: former }, index));
  };
  await Promise.all(Array.from({ length: concurrencyMax }, look));
  return chooseTaken(spec, matches, {
    spec: former,
    getFault: (index) => findFault(job, index) ?? there.get(index)?.fault,
    isGone: (index, path) => there.get(index)?.gone.has(path) === true,
  });
}

function findFault(job: BrokerJob, index: TaskIndex): Reason | undefined {
  const { jobId } = job;
  if (findTaskSummary(job, index)?.status !== 'finished') return { code: 'rerun-not-finished', jobId };
  return job.doubtful.has(index) ? { code: 'rerun-result-doubtful', jobId } : undefined;
}
