import type { TaskIndex } from '../../../shared/index.ts';
import { isGated, isWhollyGated } from './gates.ts';
import { findQueue, unassignTask } from '../site-selection/assigned-tasks.ts';
import type { BrokerJob } from '../state.ts';
import { getGroup } from './task-groups.ts';

/** Puts a task that waits for no other one of its job among those that are ready, or parks it. */
export function makeReady(job: BrokerJob, index: TaskIndex): void {
  if (job.held.has(index) || isGated(job, index)) park(job, index);
  else findQueue(job, index).ready.add(index);
}

/** Takes a task from those that are ready or parked; false where it was neither. */
export function takeReady(job: BrokerJob, index: TaskIndex): boolean {
  return findQueue(job, index).ready.delete(index) || job.parked.delete(index);
}

/** Whether a task waits for no other one of its job and has no replica. */
export function isReadyOrParked(job: BrokerJob, index: TaskIndex): boolean {
  return job.parked.has(index) || findQueue(job, index).ready.has(index);
}

/** Tasks that are ready, also beyond what the job may run at once. */
export function countReady({ queues }: Pick<BrokerJob, 'queues'>): number {
  return queues.reduce((sum, { ready }) => sum + ready.size, 0);
}

/** Makes tasks ready that have never been at a machine, and no other one of the job is waited for. Cost: O(groups). */
export function addReadyRange(job: BrokerJob, first: TaskIndex, count: number): void {
  let from = first;
  while (from < first + count) {
    const group = getGroup(job, from);
    const end = Math.min(first + count, group.firstTaskIndex + group.count);
    group.queue.ready.addRange(from, end - from);
    from = end;
  }
}

/** The former assignment of a parked task says nothing of where it will run. */
function park(job: BrokerJob, index: TaskIndex): void {
  unassignTask(job, index);
  job.parked.add(index);
}

/** Parks all tasks that are ready. Cost: O(ranges of them + tasks with a place). */
export function parkAll(job: BrokerJob): void {
  for (const { ready } of job.queues) {
    job.parked.addAll(ready);
    ready.clear();
  }
  for (const index of job.assigned.keys()) if (job.parked.has(index)) unassignTask(job, index);
}

/** Parks a task if it is ready. */
export function parkIfReady(job: BrokerJob, index: TaskIndex): void {
  if (findQueue(job, index).ready.delete(index)) park(job, index);
}

/** Makes a task ready if it is parked and nothing keeps it there any more. */
export function unpark(job: BrokerJob, index: TaskIndex): void {
  if (job.parked.delete(index)) makeReady(job, index);
}

/**
 * Makes all parked tasks ready that nothing keeps there any more. Cost: O(ranges of them + open tasks), and O(parked
 * tasks) where some of them stay.
 */
export function unparkAll(job: BrokerJob): void {
  if (isWhollyGated(job)) return;
  if (job.held.size > 0 || job.awaited.length > 0) {
    for (const index of [...job.parked.values()]) unpark(job, index);
    return;
  }
  // Those that were at a machine may ask for more memory by now.
  for (const { index } of job.tasks.values()) unpark(job, index);
  for (const { first, count } of job.parked.ranges()) addReadyRange(job, first, count);
  job.parked.clear();
}
