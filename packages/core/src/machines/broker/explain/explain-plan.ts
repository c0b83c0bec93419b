import type { Reason } from '../../../reasons/index.ts';
import type { Instant, TaskIndex } from '../../../shared/index.ts';
import { findPlanned } from '../plan/planning.ts';
import type { BrokerJob, BrokerState, PlannedTask } from '../state.ts';

/** When a job is expected to end by the plan, no sooner than now; undefined if none of its tasks is planned. */
export function findPlannedEnd({ planning: { plan } }: BrokerState, job: BrokerJob, now: Instant): Instant | undefined {
  const end = job.status === 'running' ? plan?.ends.get(job) : undefined;
  return end === undefined ? undefined : Math.max(now, Math.ceil(end));
}

/** Says where and when the plan has a task that has not begun, and why; nothing where it is not planned. */
export function explainPlanned(state: BrokerState, job: BrokerJob, index: TaskIndex, now: Instant): Reason[] {
  const { plan } = state.planning;
  if (plan === undefined) return [];
  const planned = findPlanned(state.planning, job, index);
  if (planned !== undefined)
    return [
      describePlanned(planned, now),
      { code: 'plan-made', agoMs: Math.max(0, now - plan.madeAt), scheduler: plan.scheduler },
      plan.because,
    ];
  if (plan.unplaced.get(job)?.has(index) === true) return [{ code: 'plan-no-machine' }];
  return plan.ends.has(job) ? [{ code: 'plan-later' }] : [];
}

/** Says when a job is planned to end. */
export function explainPlannedEnd(state: BrokerState, job: BrokerJob, now: Instant): Reason[] {
  const end = findPlannedEnd(state, job, now);
  return end === undefined ? [] : [{ code: 'job-planned-end', endMs: end - now }];
}

function describePlanned({ machine, start, end, rule, heldBy, behind, runnerUp }: PlannedTask, now: Instant): Reason {
  return {
    code: 'task-planned',
    machineId: machine.facts.machineId,
    rule,
    startMs: Math.max(0, start - now),
    endMs: Math.max(0, end - now),
    startsAfter: findCause(heldBy, behind),
    ...(behind === undefined ? {} : { afterJobId: behind.job.jobId, afterTaskIndex: behind.index }),
    ...(runnerUp === undefined
      ? {}
      : { otherMachineId: runnerUp.machine.facts.machineId, otherEndMs: Math.max(0, runnerUp.end - now) }),
  };
}

function findCause(
  heldBy: PlannedTask['heldBy'],
  behind: PlannedTask['behind'],
): 'nothing' | 'machine' | 'task' | 'data' {
  if (heldBy === 'arrival' || (heldBy === 'data' && behind === undefined)) return 'nothing';
  if (behind === undefined) return 'machine';
  return heldBy === 'data' ? 'data' : 'task';
}
