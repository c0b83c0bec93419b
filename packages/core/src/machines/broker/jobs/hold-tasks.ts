import type { TaskIndex } from '../../../shared/index.ts';
import type { GetInput } from '../inputs.ts';
import { reportLeasesAgain } from '../leases/grant-leases.ts';
import type { BrokerJob } from '../state.ts';
import { commit, reply, replyNotFound, type Turn, withdrawReplica } from '../turn.ts';
import { countEnded } from './end-jobs.ts';
import { findUserJob } from './find-job.ts';
import { findTaskBeyond } from './retry-tasks.ts';

/** Keeps tasks of a job from being started until they are released; what is on machines goes on. */
export function holdTasks(turn: Turn, input: GetInput<'TasksHeld'>): void {
  const job = findOpen(turn, input);
  if (job === undefined) return;
  const taskIndexes = listChanged(job, input.taskIndexes, false);
  const isAll = input.taskIndexes.length === 0;
  const heldCount = isAll ? job.taskCount - countEnded(job) - countHeldOpen(job) : taskIndexes.length;
  if (isAll ? !job.isHeld || job.held.size < job.taskCount : heldCount > 0) {
    commit(turn, { kind: 'TasksHeld', jobId: job.jobId, taskIndexes, at: turn.now });
    reportLeasesAgain(turn.state, job);
    withdrawHeld(turn, job);
  }
  reply(turn, input.replyTo, { ok: true, value: { heldCount } });
}

/** Lets held tasks be started. */
export function releaseTasks(turn: Turn, input: GetInput<'TasksReleased'>): void {
  const job = findOpen(turn, input);
  if (job === undefined) return;
  const taskIndexes = listChanged(job, input.taskIndexes, true);
  const releasedCount = input.taskIndexes.length === 0 ? countHeldOpen(job) : taskIndexes.length;
  if (releasedCount > 0 || (job.held.size > 0 && input.taskIndexes.length === 0))
    commit(turn, { kind: 'TasksReleased', jobId: job.jobId, taskIndexes, at: turn.now });
  reply(turn, input.replyTo, { ok: true, value: { releasedCount } });
}

/** Asks back replicas that wait at machines and have not begun there; those that began meanwhile go on. */
function withdrawHeld(turn: Turn, { tasks, held }: BrokerJob): void {
  for (const { index, replicas } of tasks.values()) {
    if (!held.has(index)) continue;
    // A member of a gang is waited for by the others.
    for (const replica of replicas)
      if (replica.status === 'dispatched' && replica.member === undefined && !replica.isWithdrawing)
        withdrawReplica(turn, replica);
  }
}

/** The job of the input if it has not ended and has all these tasks; else its caller receives why not. */
function findOpen(turn: Turn, input: GetInput<'TasksHeld' | 'TasksReleased'>): BrokerJob | undefined {
  const { jobId, replyTo } = input;
  const job = findUserJob(turn.state, input.userId, jobId);
  if (job === undefined) {
    replyNotFound(turn, replyTo, { code: 'job-not-found', jobId });
    return undefined;
  }
  const beyond = findTaskBeyond(job, input.taskIndexes);
  if (beyond === undefined && job.endedAt === 0) return job;
  reply(turn, replyTo, {
    ok: false,
    ...(beyond ?? { code: 'MUT_BAD_REQUEST', fault: { code: 'job-has-ended', jobId } }),
  });
  return undefined;
}

/** Tasks that are held and have not ended, whatever else they wait for. Cost: O(held tasks), where not all are. */
function countHeldOpen(job: BrokerJob): number {
  if (job.held.size === job.taskCount) return job.taskCount - countEnded(job);
  let count = 0;
  for (const index of job.held.values()) if (!hasTaskEnded(job, index)) count++;
  return count;
}

/** Those that have not ended and of which this holds, each once, ascending. */
function listChanged(job: BrokerJob, taskIndexes: readonly TaskIndex[], isHeld: boolean): TaskIndex[] {
  return [...new Set(taskIndexes)]
    .filter((index) => job.held.has(index) === isHeld && !hasTaskEnded(job, index))
    .sort((one, other) => one - other);
}

function hasTaskEnded({ finished, failed, cancelled }: BrokerJob, index: TaskIndex): boolean {
  return finished.has(index) || failed.has(index) || cancelled.has(index);
}
