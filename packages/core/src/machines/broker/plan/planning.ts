import type { TaskIndex } from '../../../shared/index.ts';
import type { BrokerJob, PlannedTask, Planning } from '../state.ts';

/** How what is foreseen of a task is kept. */
export function foreseenKey(jobId: number, index: TaskIndex): string {
  return `${jobId}.${index}`;
}

/** The plan of a task that has not begun; undefined without one. */
export function findPlanned({ plan }: Planning, job: BrokerJob, index: TaskIndex): PlannedTask | undefined {
  return plan?.tasks.get(job)?.get(index);
}
