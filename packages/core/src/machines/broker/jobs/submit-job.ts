import type { GetInput } from '../inputs.ts';
import { findDependencyFault, settleDependencies } from './follow-dependencies.ts';
import { findReservationFault } from '../reservations/reserved-jobs.ts';
import { clientKey } from '../state.ts';
import { commit, reply, type Turn } from '../turn.ts';
import { countAllTasks } from './task-groups.ts';
import { findJobExcess } from './user-quotas.ts';
import { findSpecFault } from './validate-spec.ts';

/** Takes a job in, unless it is one that was taken in already or its spec has a fault. */
export function submitJob(turn: Turn, input: GetInput<'JobSubmitted'>): void {
  const { state, now } = turn;
  const { userId, clientJobId, spec, replyTo } = input;
  const known = clientJobId === '' ? undefined : state.jobsByClientId.get(clientKey(userId, clientJobId));
  if (known !== undefined) {
    reply(turn, replyTo, { ok: true, value: { jobId: known.jobId, taskCount: known.taskCount } });
    return;
  }
  const fault =
    findSpecFault(spec, turn.state.options.trust.credibility) ??
    findReservationFault(turn, userId, spec) ??
    findDependencyFault(state, userId, spec) ??
    findJobExcess(state, userId, countAllTasks(spec.groups));
  if (fault !== undefined) {
    reply(turn, replyTo, { ok: false, ...fault });
    return;
  }
  const jobId = state.nextJobId;
  commit(turn, { kind: 'JobAccepted', jobId, userId, clientJobId, spec, at: now });
  const job = state.jobs.get(jobId);
  if (job !== undefined) settleDependencies(turn, job);
  reply(turn, replyTo, { ok: true, value: { jobId, taskCount: job?.taskCount } });
}
