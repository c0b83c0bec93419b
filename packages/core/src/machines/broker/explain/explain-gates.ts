import type { Reason } from '../../../reasons/index.ts';
import type { Instant, TaskIndex } from '../../../shared/index.ts';
import { isGated } from '../jobs/gates.ts';
import type { AwaitedJob, BrokerJob, BrokerState } from '../state.ts';
import { listedMax } from './explanation.ts';

/** The other jobs and the time that a job, or one task of it, waits for; empty where it waits for neither. */
export function explainGates(state: BrokerState, job: BrokerJob, now: Instant, index?: TaskIndex): Reason[] {
  if (job.status !== 'running' || (index !== undefined && !isGated(job, index))) return [];
  const { awaited, beginAt } = job;
  const isOfTask = ({ condition, waiting }: AwaitedJob): boolean =>
    index === undefined || condition !== 'each' || waiting.has(index);
  return [
    ...(beginAt === undefined
      ? []
      : [{ code: 'begin-awaited', beginUnixMs: beginAt, leftMs: Math.max(0, beginAt - now) } as const]),
    ...awaited
      .filter(isOfTask)
      .slice(0, listedMax)
      .map((one) => describeAwaited(state, one, index)),
  ];
}

function describeAwaited(
  { jobs }: BrokerState,
  { jobId: awaitedId, condition }: AwaitedJob,
  taskIndex: TaskIndex | undefined,
): Reason {
  const { finished, taskCount = 0 } = jobs.get(awaitedId) ?? {};
  return {
    code: 'job-awaited',
    awaitedId,
    condition,
    finishedTasks: finished?.size ?? 0,
    tasks: taskCount,
    ...(condition === 'each' && taskIndex !== undefined ? { taskIndex } : {}),
  };
}

/** When what has not started of a job is cancelled; empty where nothing is. */
export function explainExpiry({ expireAt }: BrokerJob, now: Instant): Reason[] {
  return expireAt === undefined
    ? []
    : [{ code: 'job-expires', expireUnixMs: expireAt, leftMs: Math.max(0, expireAt - now) }];
}
