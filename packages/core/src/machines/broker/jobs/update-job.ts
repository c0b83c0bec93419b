import type { ChangeOf } from '../changes.ts';
import type { GetInput } from '../inputs.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { BrokerJob } from '../state.ts';
import { commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { findUserJob } from './find-job.ts';
import { findServiceFault } from './service-fault.ts';

/** Changes how a job that has not ended is served, from the next decision on. */
export function updateJob(turn: Turn, input: GetInput<'JobUpdated'>): void {
  const { userId, jobId, replyTo, priority, runningMax } = input;
  const { state, now } = turn;
  const job = findUserJob(state, userId, jobId);
  if (job === undefined) {
    replyNotFound(turn, replyTo, { code: 'job-not-found', jobId });
    return;
  }
  const fault = findServiceFault({ priority, ...(runningMax === 0 ? {} : { runningMax }) });
  if (fault !== undefined) {
    reply(turn, replyTo, { ok: false, code: 'MUT_BAD_REQUEST', fault });
    return;
  }
  if (job.endedAt !== 0) {
    reply(turn, replyTo, { ok: false, code: 'MUT_BAD_REQUEST', fault: { code: 'job-has-ended', jobId } });
    return;
  }
  const change: ChangeOf<'JobUpdated'> = { kind: 'JobUpdated', jobId, at: now, ...findChanged(job, input) };
  if (change.priority !== undefined || change.runningMax !== undefined) commit(turn, change);
  // A lease says nothing of how many of its tasks may run at once.
  if (change.runningMax !== undefined) reportLeasesAgain(state, job);
  reply(turn, replyTo, { ok: true, value: {} });
}

function findChanged(
  job: BrokerJob,
  { priority = job.priority, runningMax = job.runningMax ?? 0 }: GetInput<'JobUpdated'>,
): Pick<ChangeOf<'JobUpdated'>, 'priority' | 'runningMax'> {
  return {
    ...(priority === job.priority ? {} : { priority }),
    ...(runningMax === (job.runningMax ?? 0) ? {} : { runningMax }),
  };
}
