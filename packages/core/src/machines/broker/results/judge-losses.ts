import { isShutdown, isSilentLoss, silentLoss } from '../../../bag/index.ts';
import type { AllocationRequest } from '../../../messages/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import type { ReplicaEnding } from '../changes.ts';
import { requestKey } from '../ledger/ledger-accounts.ts';
import type { BrokerMachine, BrokerReplica, BrokerState, OpenTask } from '../state.ts';

/** An allocation that ended later than this after one of its machines was lost did not take that machine along. */
const groupMax: Duration = 60_000;

type SilentEnding = Pick<ReplicaEnding, 'outcome' | 'disposition' | 'reason'>;

/**
 * The allocation whose end shows why a replica was lost; undefined for a loss that is not silent, or a machine without
 * an allocation.
 */
export function findJudge(replica: BrokerReplica, ending: SilentEnding): string | undefined {
  const {
    machine: {
      provider,
      facts: { requestId },
    },
    member,
  } = replica;
  const first = member?.gang.brokenBy;
  // A leader that ends because another member was lost ends for what became of that one.
  if (
    first !== undefined &&
    first.requestId !== undefined &&
    ending.outcome === undefined &&
    ending.disposition === 'lost' &&
    isSilentLoss(first)
  )
    return judgeName(provider.providerId, first.requestId);
  return isSilentLoss(ending) ? judgeName(provider.providerId, requestId) : undefined;
}

function judgeName(providerId: string, requestId: string): string | undefined {
  return requestId === '' ? undefined : requestKey(providerId, requestId);
}

/**
 * Losses of a task that count: all but those that a preemption may turn out to have caused. No more than `most` of
 * these wait, since a task may end one agent after the other of an allocation that goes on.
 */
export function countLosses(
  { lossCount, unjudgedCount }: { readonly lossCount: number; readonly unjudgedCount: number },
  most: number,
): number {
  return lossCount - Math.min(unjudgedCount, most);
}

/**
 * Why a silent machine is gone: with its allocation, if that is known to have been taken away, or else an unknown
 * reason.
 */
export function reasonOfSilence(
  { requests }: BrokerState,
  { provider: { providerId }, facts: { requestId } }: BrokerMachine,
  lostAt: Instant,
): string {
  const request = requests.get(requestKey(providerId, requestId));
  return request?.endCode !== undefined && wasTaken(request) && request.endedAt <= lostAt + groupMax
    ? request.endCode
    : silentLoss;
}

/**
 * Turns losses of tasks into stops when their allocations turn out to have been taken away then, and forgets that their
 * cause was unknown. Cost: O(open tasks), for an end.
 */
export function judgeLosses({ openJobs }: BrokerState, ended: readonly AllocationRequest[]): void {
  const byKey = new Map(ended.map((request) => [requestKey(request.providerId, request.requestId), request]));
  if (byKey.size === 0) return;
  for (const { tasks } of openJobs.values()) {
    for (const task of tasks.values()) if (task.unjudged !== undefined) judgeTask(task, byKey);
  }
}

function judgeTask(task: OpenTask, ended: ReadonlyMap<string, AllocationRequest>): void {
  const { unjudged = [] } = task;
  const open = unjudged.filter((loss) => !ended.has(loss.requestKey));
  const excused = unjudged.filter(({ requestKey: key, at }) => {
    const request = ended.get(key);
    return request !== undefined && wasTaken(request) && request.endedAt <= at + groupMax;
  });
  task.lossCount -= excused.length;
  task.stopCount += excused.filter(({ hasRun }) => hasRun).length;
  if (open.length > 0) task.unjudged = open;
  else delete task.unjudged;
}

function wasTaken({ endCode = '' }: AllocationRequest): boolean {
  return isShutdown(endCode);
}
