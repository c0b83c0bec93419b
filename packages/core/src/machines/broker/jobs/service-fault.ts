import type { Fault } from '../../../reasons/index.ts';
import { priorityMax, priorityMin, runningMaxMost } from '../../../messages/index.ts';

/** Finds a fault in a job's priority or limit of running tasks; undefined if there is none. */
export function findServiceFault({
  priority = 0,
  runningMax = 1,
}: {
  readonly priority?: number | undefined;
  readonly runningMax?: number | undefined;
}): Fault | undefined {
  for (const [field, value, least, most] of [
    ['priority', priority, priorityMin, priorityMax],
    ['running_max', runningMax, 1, runningMaxMost],
  ] as const)
    if (!Number.isInteger(value) || value < least || value > most)
      return { code: 'job-number-out-of-range', field, value, least, most };
  return undefined;
}
