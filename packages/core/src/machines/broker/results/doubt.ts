import { faultOfCode, isShutdown } from '../../../bag/index.ts';
import type { ReplicaEnding } from '../changes.ts';

/** Whether a replica ended for a reason that may be its task's fault or its machine's. */
export function isDoubted({ outcome, reason, fate }: Pick<ReplicaEnding, 'outcome' | 'reason' | 'fate'>): boolean {
  return fate === 'lost' && outcome === 'broken' && faultOfCode(reason) === 'unknown' && !isShutdown(reason);
}
