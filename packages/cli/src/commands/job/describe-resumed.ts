import type { Resumed } from '@mutirao/api/broker';

/** Tasks whose reason to run is printed. */
const reportedMax = 10;

/** Which results of an earlier job are reused, and why the other tasks run. */
export function describeResumed({ jobId, takenCount, runs }: Resumed, taskCount: number): string[] {
  const runCount = taskCount - takenCount;
  const taken =
    takenCount === 0
      ? `No result of job ${jobId} is reused`
      : `Results of ${takenCount} ${takenCount === 1 ? 'task' : 'tasks'} are reused from job ${jobId}`;
  const reported = runs
    .slice(0, reportedMax)
    .map(({ taskIndex, reason }) => `Task ${taskIndex} runs: ${reason?.text ?? ''}.`);
  return [
    `${taken}; ${runCount === 0 ? 'no task is left to run' : `${runCount} to run`}.`,
    ...reported,
    ...(runCount > reported.length ? [`And ${runCount - reported.length} more.`] : []),
  ];
}
