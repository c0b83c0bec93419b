import { parkAll, parkIfReady, unpark, unparkAll } from '../jobs/ready-tasks.ts';
import type { ChangeOf } from '../changes.ts';
import type { BrokerState } from '../state.ts';
import { getJob } from './apply-job.ts';

/** Holds tasks: those that are ready are parked, those on machines are not touched. */
export function holdTasks(state: BrokerState, { jobId, taskIndexes }: ChangeOf<'TasksHeld'>): void {
  const job = getJob(state, jobId);
  if (taskIndexes.length === 0) {
    job.isHeld = true;
    job.held.addRange(0, job.taskCount);
    parkAll(job);
    return;
  }
  for (const index of taskIndexes) {
    job.held.add(index);
    parkIfReady(job, index);
  }
}

/** Lets held tasks run again. */
export function releaseTasks(state: BrokerState, { jobId, taskIndexes }: ChangeOf<'TasksReleased'>): void {
  const job = getJob(state, jobId);
  if (taskIndexes.length === 0) {
    job.isHeld = false;
    job.held.clear();
    unparkAll(job);
    return;
  }
  for (const index of taskIndexes) {
    job.held.delete(index);
    unpark(job, index);
  }
}
