import type { SchedulerName } from '../messages/index.ts';
import type { FreeResources, ResourceRequest } from '../resources/index.ts';
import type { ProcessorCount } from '../shared/index.ts';

/** What the algorithms of a bag see of a machine. */
export interface BagMachine {
  readonly processors: ProcessorCount;
  /** Held by the replicas that it has; above `processors` when some wait in its queue. */
  readonly heldProcessors: ProcessorCount;
  /** How many may be held for now, of a machine that has shown little yet; left out, all. */
  readonly allowance?: ProcessorCount;
  /** What is free of its memory, GPUs and named resources; left out for one that has none that are counted. */
  readonly resources?: FreeResources;
}

/** Ready tasks of one job that the same machines can run. */
export interface BagQueue {
  readonly readyCount: number;
  /** Processors that each task holds, 1 or more. */
  readonly processors: ProcessorCount;
  /** What each holds in addition; undefined or left out for nothing, which is never an empty request. */
  readonly resources?: ResourceRequest | undefined;
  /** That of its job. */
  readonly scheduler: SchedulerName;
}

/** Processors of a machine that may be held for now. */
export function usableProcessors({
  processors,
  allowance = Infinity,
}: Pick<BagMachine, 'processors' | 'allowance'>): ProcessorCount {
  return processors < allowance ? processors : allowance;
}

/**
 * Processors that a machine may have in use before it ended anything well; with each good end it may have as many more.
 */
const firstAllowance: ProcessorCount = 64;

/**
 * How many processors of a machine may be held: what it claims is believed up to 64, or for one task of the widest, and
 * then as it ends tasks well.
 *
 * @param widest of the tasks that may be placed there.
 */
export function getAllowance(
  { finishedCount }: { readonly finishedCount: number },
  widest: ProcessorCount,
): ProcessorCount {
  return Math.max(firstAllowance, widest) * (1 + finishedCount);
}

/** Processors of a machine that nothing holds and that may be held for now. */
export function freeProcessors(machine: BagMachine): ProcessorCount {
  const free = usableProcessors(machine) - machine.heldProcessors;
  return free > 0 ? free : 0;
}

/**
 * How many tasks of a queue could start on a machine now: their processors and all else that they ask for are free.
 * Cost: O(1) for tasks that ask for processors alone.
 */
export function countStartable(machine: BagMachine, { processors, resources }: TaskNeeds): number {
  const count = Math.floor(freeProcessors(machine) / processors);
  if (resources === undefined || count === 0) return count;
  return Math.min(count, machine.resources?.countFitting(resources) ?? 0);
}

/** What each task of a queue holds. */
export type TaskNeeds = Pick<BagQueue, 'processors' | 'resources'>;

/**
 * Whether only processors bound how many tasks of a queue a machine runs at once. Such tasks may wait there for the
 * next one that ends; those that wait for anything else would keep the ones behind them from processors that are free.
 */
export function isBoundByProcessors(machine: BagMachine, { processors, resources }: TaskNeeds): boolean {
  if (resources === undefined) return true;
  const total = machine.resources?.countFittingAtAll(resources) ?? 0;
  return total >= Math.floor(machine.processors / processors);
}
