import { JobStatus, type JobSummary } from '@mutirao/api/broker';

import type { Output } from '../output/output.ts';
import { describeAwaited } from '../output/status-words.ts';
import { showDuration } from '../output/units.ts';
import { getEnumName } from '../wire/names.ts';

/** Shows how far a job is. */
export interface Progress {
  /** @param remaining how long what is open still takes, in milliseconds; undefined if unknown. */
  update(job: JobSummary, now: number, remaining?: number): void;
  /** Leaves the last state on the screen and the cursor below it. */
  close(): void;
}

/**
 * A bar that is drawn again in place on a terminal, plain lines where there is none (if wanted), nothing where nobody
 * reads it.
 */
export function openProgress(output: Output, wanted: boolean): Progress {
  if (output.progress !== undefined && output.mode === 'table') return barProgress(output, output.progress);
  return wanted ? lineProgress(output) : { update: () => undefined, close: () => undefined };
}

function barProgress(output: Output, draw: (line: string) => void): Progress {
  let drawn = '';
  return {
    update: (job, now, remaining) => {
      const line = barLine(job, { now, remaining, columns: output.columns });
      if (line === drawn) return;
      draw(`\r\u001b[2K${line}`);
      drawn = line;
    },
    close: () => {
      if (drawn !== '') draw('\n');
    },
  };
}

/** Time between two lines of plain progress while nothing else changes than counts. */
const lineEveryMs = 2000;

function lineProgress(output: Output): Progress {
  let reported = '';
  let reportedAt = 0;
  return {
    update: (job, now, remaining) => {
      const line = countLine(job, now, remaining);
      const isEnd = job.status !== JobStatus.RUNNING;
      if (line === reported || (!isEnd && now - reportedAt < lineEveryMs)) return;
      output.note(`job ${job.jobId} ${line}`);
      reported = line;
      reportedAt = now;
    },
    close: () => undefined,
  };
}

/**
 * One line with a bar: `job 3 [#####-----]  50% 50/100  4 running  12.3s  about 12s left`. Never wider than `columns`.
 */
export function barLine(
  job: JobSummary,
  {
    now,
    remaining,
    columns,
  }: { readonly now: number; readonly remaining?: number | undefined; readonly columns: number },
): string {
  const head = `job ${job.jobId} `;
  const tail = ` ${countLine(job, now, remaining)}`;
  const width = Math.min(40, columns - head.length - tail.length - 3);
  if (width < 8) return `${head}${tail.trimStart()}`.slice(0, Math.max(0, columns - 1));
  const done = job.finishedCount + job.failedCount + job.cancelledCount;
  const filled = job.taskCount === 0 ? width : Math.floor((width * done) / job.taskCount);
  return `${head}[${'#'.repeat(filled)}${'-'.repeat(width - filled)}]${tail}`;
}

function countLine(job: JobSummary, now: number, remaining: number | undefined): string {
  const done = job.finishedCount + job.failedCount + job.cancelledCount;
  const percent = job.taskCount === 0 ? 100 : Math.floor((100 * done) / job.taskCount);
  const elapsed = (job.endedUnixMs === 0 ? now : job.endedUnixMs) - job.submittedUnixMs;
  const parts = [`${String(percent).padStart(3)}% ${done}/${job.taskCount}`];
  for (const [count, word] of [
    [job.runningCount, 'running'],
    [job.dispatchedCount, 'dispatched'],
    [job.failedCount, 'failed'],
  ] as const)
    if (count > 0) parts.push(`${count} ${word}`);
  const awaited = describeAwaited(job, now);
  if (awaited !== undefined) parts.push(awaited);
  parts.push(showDuration(Math.max(0, elapsed)));
  if (job.status === JobStatus.RUNNING && remaining !== undefined && done < job.taskCount)
    parts.push(`about ${showDuration(remaining)} left`);
  if (job.status !== JobStatus.RUNNING) parts.push(getEnumName(JobStatus, job.status));
  return parts.join('  ');
}
