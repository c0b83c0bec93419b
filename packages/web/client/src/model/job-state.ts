import type { JobRow } from '../../../src/schema/index.ts';
import { sayAgo, sayCount, sayDuration, sayRemaining } from './words.ts';

/** The states that jobs are filtered by, in the order of a list. */
export const jobStates = ['running', 'blocked', 'held', 'finished', 'failed', 'cancelled'] as const;
export type JobState = (typeof jobStates)[number];

/**
 * The state of a job. One that runs by its status is blocked where no machine can take its tasks before somebody does
 * something, and held where all that is left of it waits to be released.
 */
export function getJobState({ status, is_blocked: isBlocked, held_count: held, tasks }: JobRow): JobState {
  if (status !== 'running') return status;
  if (isBlocked) return 'blocked';
  const left = tasks.waiting + tasks.ready + tasks.running + tasks.verifying;
  return held > 0 && held === left ? 'held' : 'running';
}

/** A job's remaining time if known, the jobs or time that it waits for, or when it ended. */
export function sayRest(job: JobRow, now: number): string {
  const { ended_unix_ms: ended, doubtful_count: doubtful } = job;
  if (job.status === 'running') return sayOpen(job);
  const took = ended === null ? '' : `took ${sayDuration(Math.max(0, ended - job.submitted_unix_ms))}`;
  const when = ended === null ? '' : `${took}, ended ${sayAgo(ended, now)}`;
  return doubtful > 0 ? `${when}; ${sayCount(doubtful)} doubtful` : when;
}

function sayOpen(job: JobRow): string {
  const { remaining_ms_min: least, remaining_ms_max: most, waiting, is_open: isOpen, tasks } = job;
  if (getJobState(job) === 'held') return 'held until it is released';
  if (least === null && most === null && waiting !== null) return waiting.text;
  if (isOpen && tasks.ready + tasks.waiting + tasks.running + tasks.verifying === 0) return 'open for more tasks';
  return sayRemaining(least, most);
}
