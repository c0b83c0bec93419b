import type { BrokerJob } from '../state.ts';

/** Most that a job may be allowed to run at once. */
export const runningMaxMost = 1_000_000;

/** How many more replicas of a job may be sent to machines now. */
export function getRoom({ runningMax, onMachines }: Pick<BrokerJob, 'runningMax' | 'onMachines'>): number {
  return runningMax === undefined ? Infinity : Math.max(0, runningMax - onMachines);
}
