import type { SchedulerName } from '../messages/index.ts';
import type { ProcessorCount } from '../shared/index.ts';

/** What the algorithms of a bag see of a machine. */
export interface BagMachine {
  readonly processors: ProcessorCount;
  /** Held by the replicas that it has; above `processors` when some wait in its queue. */
  readonly heldProcessors: ProcessorCount;
  /** How many may be held for now, of a machine that has shown little yet; left out, all. */
  readonly allowance?: ProcessorCount;
}

/** Ready tasks of one job that the same machines can run. */
export interface BagQueue {
  readonly readyCount: number;
  /** Processors that each task holds, 1 or more. */
  readonly processors: ProcessorCount;
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
