import type { ReplicaId, TaskIndex } from '../../../shared/index.ts';
import type { DispatchedStart } from '../commands.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import type { BrokerJob, BrokerState } from '../state.ts';
import { getRunningMax } from '../trust/votes.ts';

/** How a replica of a task is started: if it cannot be the last to fail, nothing but a result is brought home. */
export function buildStart(
  state: BrokerState,
  job: BrokerJob,
  { replicaId, taskIndex }: { readonly replicaId: ReplicaId; readonly taskIndex: TaskIndex },
): DispatchedStart {
  if (getTaskGroup(job, getGroup(job, taskIndex).groupIndex).outputs.length === 0) return { replicaId, taskIndex };
  // Each sibling that may run may fail before it does.
  const failures = (job.tasks.get(taskIndex)?.failureCount ?? 0) + getRunningMax(state, job);
  return failures < job.failuresMax ? { replicaId, taskIndex, onSuccessOnly: true } : { replicaId, taskIndex };
}
