import type { Instant, TaskIndex } from '../../../shared/index.ts';
import type { PlacementRule } from '../../../workflow/index.ts';
import { findPlanned } from '../plan/planning.ts';
import { describeTime } from './sentences.ts';
import type { BrokerJob, BrokerState, PlannedTask } from '../state.ts';

const chosenBy: Readonly<Record<PlacementRule, string>> = {
  'earliest-finish': 'where it ends first',
  inserted: 'where it ends first, between two others',
  'critical-path': 'where the whole critical path is fastest',
  capacity: 'as its share of the machines',
  exchanged: 'as its share of the machines, after an exchange with another task',
  'first-free': 'which is the first that is free',
  fixed: 'settled before',
};

/** When a job is expected to end by the plan, no sooner than now; undefined where nothing of it is planned. */
export function findPlannedEnd({ planning: { plan } }: BrokerState, job: BrokerJob, now: Instant): Instant | undefined {
  const end = job.status === 'running' ? plan?.ends.get(job) : undefined;
  return end === undefined ? undefined : Math.max(now, Math.ceil(end));
}

/** Says where and when the plan has a task that has not begun, and why; nothing where it is not planned. */
export function explainPlanned(state: BrokerState, job: BrokerJob, index: TaskIndex, now: Instant): string[] {
  const { plan } = state.planning;
  if (plan === undefined) return [];
  const planned = findPlanned(state.planning, job, index);
  if (planned !== undefined)
    return [
      describePlanned(planned, job, now),
      `The plan was made ${describeTime(Math.max(0, now - plan.madeAt))} ago, by ${plan.scheduler}, because ` +
        `${plan.because}.`,
    ];
  if (plan.unplaced.get(job)?.has(index) === true)
    return [
      'When the plan was made no machine could take it, since none stays long enough or it keeps away; it goes ' +
        'to the first one that can.',
    ];
  return plan.ends.has(job)
    ? ['It is not planned in detail yet: others have a longer way to the end of their job.']
    : [];
}

/** Says when a job is planned to end. */
export function explainPlannedEnd(state: BrokerState, job: BrokerJob, now: Instant): string[] {
  const end = findPlannedEnd(state, job, now);
  return end === undefined ? [] : [`By the plan it ends in ${describeTime(end - now)}.`];
}

function describePlanned(
  { machine, start, end, rule, heldBy, behind, runnerUp }: PlannedTask,
  job: BrokerJob,
  now: Instant,
): string {
  const begins = start <= now ? 'now' : `in ${describeTime(start - now)}`;
  const other =
    runnerUp === undefined
      ? ''
      : `; on ${runnerUp.machine.facts.machineId} it would end in ${describeTime(Math.max(0, runnerUp.end - now))}`;
  return (
    `It is planned on ${machine.facts.machineId}, ${chosenBy[rule]}, to begin ` +
    `${begins}${describeCause(heldBy, behind, job)} and to end in ${describeTime(Math.max(0, end - now))}${other}.`
  );
}

function describeCause(heldBy: PlannedTask['heldBy'], behind: PlannedTask['behind'], job: BrokerJob): string {
  if (heldBy === 'arrival' || (heldBy === 'data' && behind === undefined)) return '';
  if (behind === undefined) return ' when the machine is free';
  const name = behind.job === job ? `task ${behind.index}` : `task ${behind.index} of job ${behind.job.jobId}`;
  return heldBy === 'data' ? ` when what ${name} writes is there` : ` after ${name}`;
}
