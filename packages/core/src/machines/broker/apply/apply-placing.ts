import { putInPlace } from '../placement/placed-tasks.ts';
import type { ChangeOf } from '../changes.ts';
import type { BrokerState } from '../state.ts';
import { getJob } from './apply-job.ts';
import { getProvider } from './apply-machine.ts';

/** Gives ready tasks the places that were chosen for them. */
export function placeTasks(state: BrokerState, { jobId, placings, at }: ChangeOf<'TasksPlaced'>): void {
  const job = getJob(state, jobId);
  for (const placing of placings)
    putInPlace(job, placing, placing.providerId === '' ? undefined : getProvider(state, placing.providerId), at);
}
