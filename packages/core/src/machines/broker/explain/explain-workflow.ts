import type { TaskIndex } from '../../../shared/index.ts';
import { listPredecessors } from '../workflow/dependencies.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { findTaskSummary, type TaskSummary } from '../queries.ts';
import { plural } from './sentences.ts';
import type { BrokerJob } from '../state.ts';

interface NamedTask {
  readonly name: string;
  readonly task: TaskSummary;
  readonly past: readonly string[];
}

/** Says for which tasks one waits, and what these are. */
export function explainUnmet(job: BrokerJob, { name, task: { taskIndex, waitsFor }, past }: NamedTask): Explanation {
  const count = job.dependencies?.unmet[taskIndex] ?? 0;
  const listed = waitsFor
    .slice(0, listedMax)
    .map((before) => `Task ${before} is ${findTaskSummary(job, before)?.status ?? 'gone'}.`);
  const rest = count > listed.length ? [`And ${plural(count - listed.length, 'more task')}.`] : [];
  return {
    summary:
      `${name} waits for ${plural(count, 'task')} that ${count === 1 ? 'has' : 'have'} not finished: ` +
      `${waitsFor.slice(0, listedMax).join(', ')}${rest.length > 0 ? ' ...' : '.'}`,
    details: [...listed, ...rest, ...past],
  };
}

/** Says by whom a task was cancelled: its user, or what it waits for and cannot have. */
export function explainCancelled(job: BrokerJob, { name, task: { taskIndex } }: NamedTask): string {
  const culprit = job.cancelReason === '' ? findFailedBefore(job, taskIndex) : undefined;
  if (culprit === undefined) return `${name} was cancelled (${job.cancelReason || 'no reason given'}).`;
  return (
    `${name} cannot run: it waits for task ${culprit}, which failed. "mutirao job retry ${job.jobId}" runs both ` +
    'again.'
  );
}

/** The first failed task that is found on the way back along the edges. */
function findFailedBefore({ dependencies, failed, cancelled }: BrokerJob, index: TaskIndex): TaskIndex | undefined {
  if (dependencies === undefined) return undefined;
  const seen = new Set([index]);
  for (const task of seen) {
    for (const before of listPredecessors(dependencies, task)) {
      if (failed.has(before)) return before;
      if (cancelled.has(before)) seen.add(before);
    }
  }
  return undefined;
}

/** Says of a workflow how many of its tasks wait for others, and how many cannot run any more. */
export function explainProgress({ dependencies, cancelled, failed, cancelReason, spec }: BrokerJob): string[] {
  const taken =
    spec?.resumes === undefined
      ? []
      : [`${plural(spec.resumes.tasks.length, 'task')} taken over from job ${spec.resumes.jobId}.`];
  if (dependencies === undefined) return taken;
  const {
    waiting: { size },
  } = dependencies;
  const waiting = size === 0 ? [] : [`${plural(size, 'task')} ${size === 1 ? 'waits' : 'wait'} for others to finish.`];
  const blocked =
    cancelled.size > 0 && failed.size > 0 && cancelReason === ''
      ? [
          `${plural(cancelled.size, 'task')} cannot run, since what ` +
            `${cancelled.size === 1 ? 'it waits' : 'they wait'} for failed.`,
        ]
      : [];
  return [...taken, ...waiting, ...blocked];
}
