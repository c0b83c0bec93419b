import type { Instant, ProcessorCount } from '../shared/index.ts';
import type { BagMachine } from './bag.ts';
import type { IdleSlots } from './idle-slots.ts';

/** A running task as replication sees it; `place` changes `replicaCount`. */
export interface ReplicableTask {
  readonly processors: ProcessorCount;
  readonly replicaCount: number;
  readonly replicasMax: number;
  /** When the eldest of its replicas was placed. */
  readonly runningSince: Instant;
}

/** What replication needs to know and to do. */
export interface ReplicationPort<Machine extends BagMachine, Task extends ReplicableTask> {
  /** Whether the machine matches, runs no replica of the task and has not just failed it. */
  suits(task: Task, machine: Machine): boolean;
  place(machine: Machine, task: Task): void;
}

/**
 * Gives idle processors replicas of running tasks: those with the fewest replicas first, and of these the longest running.
 *
 * @source costa2005, section 2.3 (Workqueue with Replication): when no task is left unstarted, running tasks are replicated
 * on idle processors, each up to a bound.
 * Departs from the source: the eldest first, where the seed takes a random one: it is the likeliest straggler.
 */
export function replicate<Machine extends BagMachine, Task extends ReplicableTask>(
  tasks: readonly Task[], idle: IdleSlots<Machine>, port: ReplicationPort<Machine, Task>,
): void {
  const open = tasks.toSorted((one, other) => one.runningSince - other.runningSince);
  const most = open.reduce((max, task) => Math.max(max, task.replicasMax), 0);
  for (let count = 1; count < most; count++) {
    for (const task of open) {
      if (idle.isEmpty) return;
      if (task.replicaCount !== count || count >= task.replicasMax) continue;
      const machine = idle.take(task.processors, (candidate) => port.suits(task, candidate));
      if (machine !== undefined) port.place(machine, task);
    }
  }
}
