import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler } from './scheduler.ts';

/**
 * Workqueue with replication: as workqueue, and idle processors get replicas of running tasks (see `replicate`). The
 * default.
 *
 * Cost: that of `dispatchReady`.
 *
 * @source costa2005, section 2.3.
 * Departs from the source: no.
 */
export const workqueueWithReplication: BagScheduler = {
  name: 'wqr',
  replication: 'everywhere',
  dispatch: dispatchReady,
};
