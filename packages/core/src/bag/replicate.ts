import type { ResourceRequest } from '../resources/index.ts';
import type { Duration, Instant, ProcessorCount } from '../shared/index.ts';
import type { BagMachine } from './bag.ts';
import type { IdleSlots } from './idle-slots.ts';

/** A running task as replication sees it; `place` changes `replicaCount`. */
export interface ReplicableTask {
  readonly processors: ProcessorCount;
  /** What it holds in addition; undefined or left out for nothing. */
  readonly resources?: ResourceRequest | undefined;
  readonly replicaCount: number;
  readonly replicasMax: number;
  /** When the eldest of its replicas was placed. */
  readonly runningSince: Instant;
  /** In how long the first of its replicas is expected to end; undefined where nothing is known of its job. */
  readonly remaining: Duration | undefined;
  /** Of its job; left out for 0. */
  readonly priority?: number;
}

/** What replication needs to know and to do. */
export interface ReplicationPort<Machine extends BagMachine, Task extends ReplicableTask> {
  /**
   * Whether the machine matches, runs no replica of the task and has not just failed it, and the job's cap allows it.
   */
  suits(task: Task, machine: Machine): boolean;
  /** How good the machine is for it; of machines that suit, the best gets it. */
  worth(task: Task, machine: Machine): number;
  dispatch(machine: Machine, task: Task): void;
}

/**
 * Gives idle processors replicas of running tasks: those with the fewest replicas first, of these those of the highest
 * priority, and then the one that is expected to end last, on the machine that is worth most to it. If a job's times
 * are unknown, the eldest of its tasks counts as the last to end.
 *
 * @source costa2005, section 2.3 (Workqueue with Replication): when no task is left unstarted, running tasks are
 *   replicated on idle processors, each up to a bound.
 * Departs from the source: the last to end first, on the best machine, where the seed takes random ones: it is the one
 * that makes the makespan.
 */
export function replicate<Machine extends BagMachine, Task extends ReplicableTask>(
  tasks: readonly Task[],
  idle: IdleSlots<Machine>,
  port: ReplicationPort<Machine, Task>,
): void {
  const open = tasks.toSorted(comparesLater);
  const most = open.reduce((max, task) => Math.max(max, task.replicasMax), 0);
  for (let count = 1; count < most; count++) {
    for (const task of open) {
      if (idle.isEmpty) return;
      if (task.replicaCount !== count || count >= task.replicasMax) continue;
      const machine = idle.takeBest(task, {
        suits: (candidate) => port.suits(task, candidate),
        worth: (candidate) => port.worth(task, candidate),
      });
      if (machine !== undefined) port.dispatch(machine, task);
    }
  }
}

/** Of the same priority, tasks of which nothing is known go first: they may be anything. */
function comparesLater(one: ReplicableTask, other: ReplicableTask): number {
  const urgency = (other.priority ?? 0) - (one.priority ?? 0);
  if (urgency !== 0) return urgency;
  const [left, otherLeft] = [one.remaining ?? Infinity, other.remaining ?? Infinity];
  if (left !== otherLeft) return otherLeft > left ? 1 : -1;
  return one.runningSince - other.runningSince;
}
