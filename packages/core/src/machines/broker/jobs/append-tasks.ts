import type { JobSpec, TaskGroup } from '../../../messages/index.ts';
import type { Fault, Refusal } from '../../../reasons/index.ts';
import type { GetInput } from '../inputs.ts';
import { findReservationFault } from '../reservations/reserved-jobs.ts';
import type { Append, BrokerJob } from '../state.ts';
import { commit, reply, replyNotFound, type Turn } from '../turn.ts';
import { findUserJob } from './find-job.ts';
import { countAllTasks, getSpec } from './task-groups.ts';
import { findTaskExcess } from './user-quotas.ts';
import { findSpecFault, taskCountMax } from './validate-spec.ts';

/** Calls that may append to one job: what each key costs is kept until the job ends. */
export const appendCountMax = 1_000_000;

/** Groups of one job, with those that were appended. */
export const groupCountMax = 1_000_000;

/** Adds tasks to an open job, unless they were added under this key already or something is wrong with them. */
export function appendTasks(turn: Turn, input: GetInput<'TasksAppended'>): void {
  const { replyTo, userId, jobId, appendKey, groups } = input;
  const job = findUserJob(turn.state, userId, jobId);
  if (job === undefined) {
    replyNotFound(turn, replyTo, { code: 'job-not-found', jobId });
    return;
  }
  const known = job.appends.get(appendKey);
  const fault = known === undefined ? findAppendFault(turn, job, input) : findReuseFault(known, appendKey, groups);
  if (fault !== undefined) {
    reply(turn, replyTo, { ok: false, ...fault });
    return;
  }
  const append = known ?? { firstTaskIndex: job.taskCount, taskCount: countAllTasks(groups) };
  const { firstTaskIndex } = append;
  if (known === undefined)
    commit(turn, { kind: 'TasksAppended', jobId, appendKey, firstTaskIndex, groups, at: turn.now });
  reply(turn, replyTo, { ok: true, value: { firstTaskIndex, taskCount: append.taskCount } });
}

/** A job takes no more tasks from now on; it ends with the last of those that it has. */
export function closeJob(turn: Turn, { replyTo, userId, jobId }: GetInput<'JobClosed'>): void {
  const job = findUserJob(turn.state, userId, jobId);
  if (job === undefined) {
    replyNotFound(turn, replyTo, { code: 'job-not-found', jobId });
    return;
  }
  if (job.takesTasks) commit(turn, { kind: 'JobClosed', jobId, at: turn.now });
  reply(turn, replyTo, { ok: true, value: { taskCount: job.taskCount } });
}

function bad(fault: Fault): Refusal {
  return { code: 'MUT_BAD_REQUEST', fault };
}

/** Two different appends under one key would have the second one vanish. */
function findReuseFault(
  { firstTaskIndex, taskCount }: Append,
  key: string,
  groups: readonly TaskGroup[],
): Refusal | undefined {
  const tasksGiven = countAllTasks(groups);
  return taskCount === tasksGiven
    ? undefined
    : {
        code: 'MUT_KEY_REUSED',
        fault: { code: 'append-key-reused', key, firstTaskIndex, tasks: taskCount, tasksGiven },
      };
}

/** Why these tasks cannot be added; undefined where they can. */
function findAppendFault(
  turn: Turn,
  job: BrokerJob,
  { userId, appendKey, groups }: GetInput<'TasksAppended'>,
): Refusal | undefined {
  if (appendKey === '') return bad({ code: 'append-without-key' });
  if (!job.takesTasks)
    return { code: 'MUT_JOB_CLOSED', fault: { code: 'job-closed', jobId: job.jobId, status: job.status } };
  const added: JobSpec = { ...withoutOpen(getSpec(job)), groups };
  return (
    findCountFault(job, groups) ??
    findSpecFault(added, turn.state.options.trust.credibility) ??
    findReservationFault(turn, userId, added) ??
    findTaskExcess(turn.state, userId, countAllTasks(groups))
  );
}

/** What is appended is not empty, as an open job may be. */
function withoutOpen({ open: _open, resumes: _resumes, ...spec }: JobSpec): JobSpec {
  return spec;
}

function findCountFault(job: BrokerJob, groups: readonly TaskGroup[]): Refusal | undefined {
  const { jobId, taskCount } = job;
  if (job.appends.size >= appendCountMax) return bad({ code: 'appends-too-many', jobId, appendsMax: appendCountMax });
  const groupCount = job.groups.length + groups.length;
  if (groupCount > groupCountMax)
    return bad({ code: 'append-groups-too-many', jobId, groups: groupCount, groupsMax: groupCountMax });
  const tasks = taskCount + countAllTasks(groups);
  return tasks > taskCountMax ? bad({ code: 'job-tasks-too-many', tasks, tasksMax: taskCountMax }) : undefined;
}
