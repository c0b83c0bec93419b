import type { Fault } from '../../../reasons/index.ts';
import type { GetInput } from '../inputs.ts';
import type { BrokerJob, BrokerState } from '../state.ts';
import { commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { findUserJob } from './find-job.ts';

/** Jobs that one call forgets at most. */
export const forgottenMax = 10_000;

/** Forgets jobs that have ended, with all that is on record of them: those that are named, or those of a certain age. */
export function forgetJobs(turn: Turn, input: GetInput<'JobsForgotten'>): void {
  const { state, now } = turn;
  const { replyTo, userId } = input;
  const jobs: BrokerJob[] = [];
  for (const jobId of new Set(input.jobIds)) {
    const job = findUserJob(state, userId, jobId);
    if (job === undefined) {
      replyNotFound(turn, replyTo, { code: 'job-not-found', jobId });
      return;
    }
    const fault = findForgetFault(job);
    if (fault !== undefined) {
      reply(turn, replyTo, { ok: false, code: 'MUT_BAD_REQUEST', fault });
      return;
    }
    jobs.push(job);
  }
  const found = input.jobIds.length > 0 ? jobs : listForgettable(state, input);
  const jobIds = found.slice(0, forgottenMax).map(({ jobId }) => jobId);
  if (jobIds.length > 0) commit(turn, { kind: 'JobsForgotten', jobIds, at: now });
  reply(turn, replyTo, { ok: true, value: { jobIds, isAll: found.length === jobIds.length } });
}

/** The user's ended jobs of a certain age, the oldest first, but for the newest that are kept. */
function listForgettable(
  state: BrokerState,
  { userId, endedBefore = Infinity, keptCount = 0 }: GetInput<'JobsForgotten'>,
): BrokerJob[] {
  const ended = [...state.jobs.values()].filter((job) => job.userId === userId && job.endedAt !== 0);
  return ended
    .sort((one, other) => other.jobId - one.jobId)
    .slice(keptCount)
    .reverse()
    .filter((job) => job.endedAt < endedBefore && findForgetFault(job) === undefined);
}

/** Why a job cannot be forgotten; undefined where it can. No job waits for one that has ended. */
function findForgetFault({ jobId, endedAt, onMachines }: BrokerJob): Fault | undefined {
  if (endedAt === 0) return { code: 'forget-open-job', jobId };
  return onMachines > 0 ? { code: 'forget-job-on-machines', jobId, runningTasks: onMachines } : undefined;
}
