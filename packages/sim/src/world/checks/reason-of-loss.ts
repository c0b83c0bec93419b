import type { ReplicaEnding } from '@mutirao/core/machines/broker';

/** Why a replica was lost; of the loss with which its task is given up, the detail says so. */
export function reasonOfLoss({ reason, detail }: Pick<ReplicaEnding, 'reason' | 'detail'>): string {
  return reason === 'MUT_TASK_LOSS_LIMIT' ? (/^the last one: (MUT_\w+)/.exec(detail)?.[1] ?? reason) : reason;
}
