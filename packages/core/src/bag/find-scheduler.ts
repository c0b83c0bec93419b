import type { SchedulerName } from '../messages/index.ts';
import { minMin, sufferage } from './map-by-estimates.ts';
import { planned } from './planned.ts';
import type { BagScheduler } from './scheduler.ts';
import { storageAffinity } from './storage-affinity.ts';
import { workqueue } from './workqueue.ts';
import { workqueueWithReplication } from './wqr.ts';

const schedulers: Readonly<Record<SchedulerName, BagScheduler>> = {
  workqueue,
  wqr: workqueueWithReplication,
  'storage-affinity': storageAffinity,
  sufferage,
  'min-min': minMin,
  plan: planned,
};

/** The scheduler of that name. */
export function findScheduler(name: SchedulerName): BagScheduler {
  return schedulers[name];
}
