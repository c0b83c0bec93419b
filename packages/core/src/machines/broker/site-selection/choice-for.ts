import type { SiteSelectionChoice } from '../../../site-selection/index.ts';
import type { BrokerJob, BrokerState, TaskQueue } from '../state.ts';
import { isVotedOn } from '../trust/votes.ts';

/**
 * How the tasks of a queue are placed; undefined where each goes wherever there is room, as all do that take one
 * processor.
 */
export function choiceFor(
  { choosing }: BrokerState,
  { job, processors, alternatives }: Pick<TaskQueue, 'job' | 'processors' | 'alternatives'>,
): SiteSelectionChoice | undefined {
  // A strategy compares sites by one width.
  if (processors < 2 || alternatives.length > 0) return undefined;
  const choice = job.siteSelection ?? (mayBeAssigned(job) ? choosing.byDefault : 'none');
  return choice === 'none' ? undefined : choice;
}

/** Whether what the grid does by default can be done with a job that says nothing of it. */
function mayBeAssigned(job: BrokerJob): boolean {
  return job.scheduler !== 'plan' && job.reservation === undefined && !isVotedOn(job);
}
