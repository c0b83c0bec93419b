import type { SchedulerName } from '../messages/index.ts';
import type { ProcessorCount } from '../shared/index.ts';

/** What the algorithms of a bag see of a machine. */
export interface BagMachine {
  readonly processors: ProcessorCount;
  /** Held by the replicas that it has; above `processors` when some wait in its queue. */
  readonly heldProcessors: ProcessorCount;
}

/** Ready tasks of one job that the same machines can run. */
export interface BagQueue {
  readonly readyCount: number;
  /** Processors that each task holds, 1 or more. */
  readonly processors: ProcessorCount;
  /** That of its job. */
  readonly scheduler: SchedulerName;
}

/** Processors of a machine that nothing holds. */
export function freeProcessors(machine: BagMachine): ProcessorCount {
  const free = machine.processors - machine.heldProcessors;
  return free > 0 ? free : 0;
}
