import type { Instant, TaskIndex } from '../../../shared/index.ts';
import { unreceivedUntil } from '../placing/hold-back.ts';
import { leaseEnd, presentLease } from '../leases/present-lease.ts';
import { describeTime, plural } from './sentences.ts';
import type { BrokerJob, BrokerProvider, BrokerReplica, BrokerState, OpenTask } from '../state.ts';

/** Says which providers that are away may run a task by themselves. */
export function explainLeasedTask(state: BrokerState, { jobId }: BrokerJob, index: TaskIndex, now: Instant): string[] {
  return [...state.providers.values()].flatMap((provider) => {
    if (!provider.leases.some(({ tasksByJob }) => tasksByJob.get(jobId)?.has(index) === true)) return [];
    const left = timeLeft(provider, now);
    const until = unreceivedUntil({ now }, provider);
    return [
      ...(left === 0
        ? []
        : [
            `It is leased to provider ${provider.providerId}, which is away and may start it by itself for ` +
              `${describeTime(left)} more.`,
          ]),
      ...(until === undefined
        ? []
        : [
            `It is placed nowhere else before provider ${provider.providerId} has told what it holds, which is ` +
              `waited for ${describeTime(until - now)} more at most.`,
          ]),
    ];
  });
}

/** Says how much of a job the providers that are away may go on with. */
export function explainLeasedJob({ providers }: BrokerState, job: BrokerJob, now: Instant): string[] {
  return [...providers.values()].flatMap((provider) => {
    const left = timeLeft(provider, now);
    const count = left === 0 ? 0 : countReady(job, provider);
    return count === 0
      ? []
      : [
          `Provider ${provider.providerId} is away and may go on by itself with ${plural(count, 'task')} that ` +
            `it was leased, for ${describeTime(left)} more.`,
        ];
  });
}

/** Says which of a task's replicas a provider started while the broker was away. */
export function explainAdopted({ replicas }: OpenTask): string[] {
  return replicas.filter(({ isAdopted }) => isAdopted).map(describeAdopted);
}

function describeAdopted({ replicaId, machine: { provider, facts } }: BrokerReplica): string {
  return (
    `Replica r${replicaId} was started on ${facts.machineId} by provider ${provider.providerId}, from what it was ` +
    'leased, while this broker was away.'
  );
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
