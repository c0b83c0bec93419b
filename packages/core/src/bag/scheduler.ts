import type { BagQueue } from './bag.ts';

/** Decides which queue is served first; each scheduler is one file beside this one. */
export interface BagScheduler {
  /** Its name in configuration and records. */
  readonly name: string;
  /** The queues in the order in which a machine is offered to them. */
  order<Queue extends BagQueue>(queues: readonly Queue[]): readonly Queue[];
}
