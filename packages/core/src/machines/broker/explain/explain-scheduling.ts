import { findScheduler } from '../../../bag/index.ts';
import type { Instant } from '../../../shared/index.ts';
import { idlesAnyway } from '../placing/idles-anyway.ts';
import { claimOfSibling, limitPreAcquired, getLeft, replicationCost } from '../placing/replication-budget.ts';
import { describeTime } from './sentences.ts';
import { type BrokerJob, type BrokerState, isHere, type OpenTask } from '../state.ts';
import { beginTurn } from '../turn.ts';

/** Says how tasks of a job come to machines, and what bounds their replicas: one or two sentences. */
export function explainScheduling(state: BrokerState, job: BrokerJob, now: Instant): string[] {
  const { scheduler, replicasMax } = job;
  const { replication } = findScheduler(scheduler);
  if (replication === 'none') return [`Scheduler ${scheduler}: no task gets a second replica.`];
  if (replicasMax === 1) return [`Scheduler ${scheduler}, with one replica of a task at most.`];
  const where =
    replication === 'where-data-are' ? 'idle processors, those that hold its inputs first' : 'idle processors';
  return [
    `Scheduler ${scheduler}: a running task gets up to ${replicasMax} replicas at once, on ${where}.`,
    ...explainCap(state, job, now),
  ];
}

/** Says what the cap on a job's replicas leaves now; nothing where there is none. */
function explainCap(state: BrokerState, job: BrokerJob, now: Instant): string[] {
  switch (job.replicationCap.kind) {
    case 'none':
      return [];
    case 'idle':
      return [
        'Its cap allows replicas beside others only on processors that would idle until their allocation ' +
          `ends${countHeld(state, now)}.`,
      ];
    case 'share':
      return [explainShare(job, job.replicationCap.percent, now)];
  }
}

/** How many machines that idle now are held anyway. */
function countHeld(state: BrokerState, now: Instant): string {
  const turn = beginTurn(state, now);
  const idle = [...state.machines.values()].filter((machine) => isHere(machine) && machine.replicas.size === 0);
  const held = idle.filter((machine) => idlesAnyway(turn, machine)).length;
  return idle.length === 0 ? ': none idles now' : `: ${held} of ${idle.length} that idle now`;
}

function explainShare(job: BrokerJob, percent: number, now: Instant): string {
  const { used, losers, atRisk } = replicationCost(job, now);
  const left = getLeft(job, now);
  const costs =
    `of ${describeTime(used)} that results took, losers took ${describeTime(losers)} and may take ` +
    `${describeTime(atRisk)} more`;
  const verdict =
    left > 2 * limitPreAcquired
      ? `${describeTime(left)} of processor-time are left`
      : 'it forbids a further replica now';
  return `Its cap allows losers ${percent} % of the time of accepted replicas: ${costs}; ${verdict}.`;
}

/**
 * Says that a running task gets no replica because what it could lose is more than the cap leaves; nothing otherwise.
 */
export function explainSibling(job: BrokerJob, task: OpenTask | undefined, now: Instant): string[] {
  const [replica] = task?.replicas ?? [];
  if (task === undefined || replica === undefined || task.replicas.length > 1 || job.replicationCap.kind !== 'share')
    return [];
  const claim = claimOfSibling(job, { task, machine: replica.machine }, now);
  if (claim <= getLeft(job, now)) return [];
  return [
    'A replica of this task is not made: ' +
      `${claim === Infinity ? 'nothing is known yet of how long tasks take' : `it would have to set ${describeTime(claim)} aside`}.`,
  ];
}
