import { JobStatus, TaskStatus, type JobSummary, type TaskRecord } from '@mutirao/api/broker';

import { getEnumName } from '../wire/names.ts';
import { showMoment } from './units.ts';

/** What a job is, for people: a job that waits for its reservation, or is held, is not called running. */
export function jobStatusText(
  job: Pick<
    JobSummary,
    | 'status'
    | 'awaited'
    | 'beginUnixMs'
    | 'reservationAwaited'
    | 'heldCount'
    | 'runningCount'
    | 'dispatchedCount'
    | 'readyCount'
  >,
  now: number,
): string {
  return job.status === JobStatus.RUNNING
    ? (describeAwaited(job, now) ??
        describeGates(job, now) ??
        (isHeld(job) ? 'held' : getEnumName(JobStatus, job.status)))
    : getEnumName(JobStatus, job.status);
}

/** The jobs or the time that a job waits for before its first task, in words; undefined once a task is ready. */
function describeGates(
  {
    awaited,
    beginUnixMs,
    runningCount,
    dispatchedCount,
    readyCount,
  }: Pick<JobSummary, 'awaited' | 'beginUnixMs' | 'runningCount' | 'dispatchedCount' | 'readyCount'>,
  now: number,
): string | undefined {
  if (runningCount + dispatchedCount + readyCount > 0) return undefined;
  if (beginUnixMs !== undefined) return `waiting until ${showMoment(beginUnixMs, now)}`;
  const [first, ...others] = awaited?.jobs ?? [];
  if (first === undefined) return undefined;
  return `waiting for job ${first.jobId}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

/** Whether nothing of a job runs, or could, but what is held. */
function isHeld({
  heldCount,
  runningCount,
  dispatchedCount,
  readyCount,
}: Pick<JobSummary, 'heldCount' | 'runningCount' | 'dispatchedCount' | 'readyCount'>): boolean {
  return heldCount > 0 && runningCount + dispatchedCount + readyCount === 0;
}

/** The reservation that a job waits for, in words; undefined where it waits for none. */
export function describeAwaited(
  { reservationAwaited: awaited }: Pick<JobSummary, 'reservationAwaited'>,
  now: number,
): string | undefined {
  if (awaited === undefined) return undefined;
  const { reservationId, startsUnixMs } = awaited;
  return startsUnixMs === undefined
    ? `waiting, reservation ${reservationId} is over`
    : `waiting for reservation ${reservationId}, from ${showMoment(startsUnixMs, now)}`;
}

/** What a task is: `dispatched` while it is at a machine and has not begun there. */
export function taskStatusText({ status, replicas }: Pick<TaskRecord, 'status' | 'replicas'>): string {
  const open = replicas.filter(({ endedUnixMs }) => endedUnixMs === 0);
  const isDispatched =
    status === TaskStatus.RUNNING && open.length > 0 && open.every(({ startedUnixMs }) => startedUnixMs === 0);
  return isDispatched ? 'dispatched' : getEnumName(TaskStatus, status);
}
