import { findScheduler } from '../../../bag/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { idlesAnyway } from '../dispatch/idles-anyway.ts';
import { claimOfSibling, limitPreAcquired, getLeft, replicationCost } from '../dispatch/replication-budget.ts';
import { type BrokerJob, type BrokerState, isHere, type OpenTask } from '../state.ts';
import { beginTurn } from '../turn.ts';

/** Says how tasks of a job come to machines, and what bounds their replicas. */
export function explainScheduling(state: BrokerState, job: BrokerJob, now: Instant): Reason[] {
  const { scheduler, replicasMax } = job;
  const { replication } = findScheduler(scheduler);
  if (replication === 'none') return [{ code: 'replication-none', scheduler }];
  if (replicasMax === 1) return [{ code: 'replication-single', scheduler }];
  return [
    { code: 'replication-up-to', scheduler, replicasMax, prefersInputs: replication === 'where-data-are' },
    ...explainCap(state, job, now),
  ];
}

/** Explains what the cap on a job's replicas leaves now; empty without a cap. */
function explainCap(state: BrokerState, job: BrokerJob, now: Instant): Reason[] {
  switch (job.replicationCap.kind) {
    case 'none':
      return [];
    case 'idle':
      return [describeIdle(state, now)];
    case 'share':
      return [explainShare(job, job.replicationCap.percent, now)];
  }
}

/** How many machines that idle now are held anyway. */
function describeIdle(state: BrokerState, now: Instant): Reason {
  const turn = beginTurn(state, now);
  const idle = [...state.machines.values()].filter((machine) => isHere(machine) && machine.replicas.size === 0);
  const heldMachines = idle.filter((machine) => idlesAnyway(turn, machine)).length;
  return { code: 'replication-idle-only', heldMachines, idleMachines: idle.length };
}

function explainShare(job: BrokerJob, percent: number, now: Instant): Reason {
  const { used, losers, atRisk } = replicationCost(job, now);
  const left = getLeft(job, now);
  return {
    code: 'replication-budget',
    percent,
    usedMs: used,
    losersMs: losers,
    atRiskMs: atRisk,
    leftMs: left,
    isSpent: left <= 2 * limitPreAcquired,
  };
}

/**
 * Says that a running task gets no replica because what it could lose is more than the cap leaves; nothing otherwise.
 */
export function explainSibling(job: BrokerJob, task: OpenTask | undefined, now: Instant): Reason[] {
  const [replica] = task?.replicas ?? [];
  if (task === undefined || replica === undefined || task.replicas.length > 1 || job.replicationCap.kind !== 'share')
    return [];
  const claim = claimOfSibling(job, { task, machine: replica.machine }, now);
  if (claim <= getLeft(job, now)) return [];
  return [claim === Infinity ? { code: 'no-replica-times-unknown' } : { code: 'no-replica-budget', neededMs: claim }];
}
