import type { JobRow } from '../../../src/schema/index.ts';
import { getJobState } from './job-state.ts';
import { sayAgo, sayCount, sayDuration, sayRemaining } from './words.ts';

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
