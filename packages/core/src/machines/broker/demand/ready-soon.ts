import type { Duration, Instant } from '../../../shared/index.ts';
import { type Dependencies, listSuccessors } from '../workflow/dependencies.ts';
import { holdsUntil, type Moment } from '../times/remaining-time.ts';
import type { BrokerJob, OpenTask, TaskQueue } from '../state.ts';
import { isGated } from '../jobs/gates.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { expectedTime } from '../times/task-times.ts';

/** A task is near its end from this share of its expected time on. */
const nearFrom = 0.75;
/** And up to this one: a task that takes longer than that may take for ever. */
const nearUntil = 2;

/**
 * How many tasks of a workflow become ready soon, by queue: all that they wait for is near its end, or its results are
 * on their way home. Subtracts the tasks near their end, whose processors come free for them.
 *
 * They justify no further requests, but they keep idle machines from being released for the moment between two levels.
 * Cost: O(open tasks and what waits for them).
 */
export function countReadySoon(moment: Moment, job: BrokerJob): Map<TaskQueue, number> {
  const { dependencies } = job;
  const counts = new Map<TaskQueue, number>();
  if (dependencies === undefined || dependencies.waiting.size === 0) return counts;
  const isWaitedFor = ({ index }: OpenTask): boolean =>
    listSuccessors(dependencies, index).some((behind) => dependencies.waiting.has(behind));
  const near = [...job.tasks.values()].filter((task) => isWaitedFor(task) && isNearEnd(moment, job, task));
  let freed = near.length;
  for (const index of releasedBy(dependencies, near)) {
    if (job.held.has(index) || isGated(job, index)) continue;
    if (freed-- > 0) continue;
    const { queue } = getGroup(job, index);
    counts.set(queue, (counts.get(queue) ?? 0) + 1);
  }
  return counts;
}

/** Tasks that wait for nothing but these. */
function releasedBy(dependencies: Dependencies, near: readonly OpenTask[]): number[] {
  const met = new Map<number, number>();
  for (const { index } of near)
    for (const behind of listSuccessors(dependencies, index))
      if (dependencies.waiting.has(behind)) met.set(behind, (met.get(behind) ?? 0) + 1);
  return [...met].flatMap(([index, count]) => (count >= (dependencies.unmet[index] ?? Infinity) ? [index] : []));
}

function isNearEnd(moment: Moment, job: BrokerJob, task: OpenTask): boolean {
  if (task.status === 'verifying') return true;
  const [eldest] = task.replicas;
  if (task.status !== 'running' || eldest === undefined) return false;
  const time: Duration | undefined =
    getTaskGroup(job, getGroup(job, task.index).groupIndex).expectedTime ?? expectedTime(job, eldest.machine);
  if (time === undefined) return false;
  // By the broker's own clock, as everything that it expects.
  const at = (share: number): Instant => eldest.dispatchedAt + Math.ceil(share * time);
  if (moment.now < at(nearFrom)) holdsUntil(moment, at(nearFrom));
  else holdsUntil(moment, at(nearUntil));
  // One that waits at a busy machine has not begun.
  return eldest.startedAt !== 0 && moment.now >= at(nearFrom) && moment.now < at(nearUntil);
}
