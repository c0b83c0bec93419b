import type { ReplicaEnding } from '@mutirao/core/machines/broker';

/** Why a replica was lost, also where its task is given up with it. */
export function reasonOfLoss({ reason, lastLoss }: Pick<ReplicaEnding, 'reason' | 'lastLoss'>): string {
  return lastLoss ?? reason;
}
