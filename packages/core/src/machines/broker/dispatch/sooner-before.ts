import type { Duration, Instant } from '../../../shared/index.ts';
import { getAlternative } from '../jobs/task-groups.ts';
import { findQueue } from '../site-selection/assigned-tasks.ts';
import type { BrokerMachine, BrokerReplica, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { expectedRest, waitsAt } from '../times/task-times.ts';
import { type Turn, wakeBy } from '../turn.ts';
import { matchesQueue } from './matching.ts';

/** An alternative of a queue, and where its tasks could run. */
interface Compared {
  readonly queue: TaskQueue;
  readonly alternative: TaskQueue;
  readonly among: readonly BrokerMachine[];
}

/**
 * How many tasks of a queue end no later if they wait for one of the requests before an alternative than if they take
 * that alternative now. Where the times of both are stated, a place counts for each task that ends there by then, one
 * after the other; else only places that are free now count, each for one task. The broker looks again when the first
 * of those that it waited for should be free.
 *
 * Cost: O(machines + their replicas) for each request before.
 */
export function countSoonerBefore(turn: Turn, { queue, alternative, among }: Compared): number {
  let count = 0;
  let soonest = Infinity;
  for (const request of [queue, ...queue.alternatives.slice(0, alternative.alternative - 1)]) {
    for (const machine of among) {
      if (!matchesQueue(request, machine) || keepsAway(turn, request, machine)) continue;
      const waits = waitsAt(machine, request, turn.now, (replica) => getRest(replica, turn.now));
      for (const wait of waits) {
        count += countBy(wait, request.statedTime, alternative.statedTime);
        if (wait > 0) soonest = Math.min(soonest, wait);
      }
    }
  }
  if (count > 0 && soonest < Infinity) wakeBy(turn, turn.now + Math.max(lookEveryMin, Math.ceil(soonest)));
  return count;
}

/** Estimates that fail are looked at again in such steps, not oftener. */
const lookEveryMin: Duration = 1000;

function countBy(wait: Duration, time: Duration | undefined, limit: Duration | undefined): number {
  if (time === undefined || limit === undefined || time === 0) return wait === 0 ? 1 : 0;
  const within = Math.floor((limit - wait) / time);
  // One that is free is taken in any case: the order says what is preferred.
  return Math.max(wait === 0 ? 1 : 0, within);
}

/** How much longer a replica runs, as its user says; one that takes longer, as long again. Else by its job's times. */
function getRest(replica: BrokerReplica, now: Instant): Duration | undefined {
  const { job, task, alternative, dispatchedAt } = replica;
  const statedTime =
    job.status === 'running' && job.spec !== undefined
      ? getAlternative(findQueue(job, task.index), alternative).statedTime
      : undefined;
  if (statedTime === undefined) return expectedRest(replica, now);
  const elapsed = Math.max(0, now - dispatchedAt);
  return elapsed < statedTime ? statedTime - elapsed : Math.max(elapsed, 1);
}
