import type { Resumed } from '@mutirao/api/broker';

/** Tasks that run of which it is said why. */
const reportedMax = 10;

/** What was taken over from an earlier job, and why the rest runs. */
export function describeResumed({ jobId, takenCount, runs }: Resumed, taskCount: number): string[] {
  const runCount = taskCount - takenCount;
  const taken =
    takenCount === 0
      ? `Nothing is taken over from job ${jobId}`
      : `${takenCount} ${takenCount === 1 ? 'task is' : 'tasks are'} taken over from job ${jobId}`;
  const reported = runs
    .slice(0, reportedMax)
    .map(({ taskIndex, reason }) => `Task ${taskIndex} runs: ${reason?.text ?? ''}.`);
  return [
    `${taken}; ${runCount === 0 ? 'none is left to run' : `${runCount} to run`}.`,
    ...reported,
    ...(runCount > reported.length ? [`And ${runCount - reported.length} more.`] : []),
  ];
}
