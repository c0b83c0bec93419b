import type { Reason } from '../../../reasons/index.ts';
import type { Instant, TaskIndex } from '../../../shared/index.ts';
import { unreceivedUntil } from '../dispatch/hold-back.ts';
import { leaseEnd, presentLease } from '../leases/present-lease.ts';
import type { BrokerJob, BrokerProvider, BrokerReplica, BrokerState, OpenTask } from '../state.ts';

/** Says which providers that are away may run a task by themselves. */
export function explainLeasedTask(state: BrokerState, { jobId }: BrokerJob, index: TaskIndex, now: Instant): Reason[] {
  return [...state.providers.values()].flatMap((provider): Reason[] => {
    if (!provider.leases.some(({ tasksByJob }) => tasksByJob.get(jobId)?.has(index) === true)) return [];
    const { providerId } = provider;
    const leftMs = timeLeft(provider, now);
    const until = unreceivedUntil({ now }, provider);
    return [
      ...(leftMs === 0 ? [] : [{ code: 'task-delegated', providerId, leftMs } as const]),
      ...(until === undefined ? [] : [{ code: 'task-awaits-provider', providerId, waitMs: until - now } as const]),
    ];
  });
}

/** Says how much of a job the providers that are away may go on with. */
export function explainLeasedJob({ providers }: BrokerState, job: BrokerJob, now: Instant): Reason[] {
  return [...providers.values()].flatMap((provider): Reason[] => {
    const leftMs = timeLeft(provider, now);
    const tasks = leftMs === 0 ? 0 : countReady(job, provider);
    return tasks === 0 ? [] : [{ code: 'job-delegated', providerId: provider.providerId, tasks, leftMs }];
  });
}

/** Says which of a task's replicas a provider started while the broker was away. */
export function explainAdopted({ replicas }: OpenTask): Reason[] {
  return replicas.filter(({ isAdopted }) => isAdopted).map(describeAdopted);
}

function describeAdopted({ replicaId, machine: { provider, facts } }: BrokerReplica): Reason {
  const { machineId } = facts;
  return { code: 'replica-started-by-provider', replicaId, machineId, providerId: provider.providerId };
}

function timeLeft(provider: BrokerProvider, now: Instant): number {
  return Math.max(0, (leaseEnd(provider) ?? 0) - now);
}

function countReady({ jobId, queues }: BrokerJob, provider: BrokerProvider): number {
  const lease = presentLease(provider);
  if (lease === undefined) return 0;
  let count = 0;
  for (const part of lease.parts) {
    if (part.jobId !== jobId) continue;
    for (const { first, count: length } of part.taskRanges) {
      for (let index = first; index < first + length; index++)
        if (queues.some(({ ready }) => ready.has(index))) count++;
    }
  }
  return count;
}
