import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler } from './scheduler.ts';

/**
 * First come, first served: the jobs in the order of their submission, the tasks of each in the order of their indexes.
 * A later job gets what the earlier ones cannot use. Nothing is replicated.
 *
 * Cost: that of `dispatchReady`.
 *
 * @source costa2005, section 4.2: each free processor takes an unstarted task.
 * Departs from the source: the next task in order, where the seed takes a random one; the tasks of a bag are alike to
 * the scheduler, and with an order users see which task comes next.
 */
export const workqueue: BagScheduler = { name: 'workqueue', replication: 'none', dispatch: dispatchReady };
