import type { JobRow } from '../../../src/schema/index.ts';

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
