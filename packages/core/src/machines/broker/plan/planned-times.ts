import type { Duration, Instant, TaskIndex } from '../../../shared/index.ts';
import { compareWith, slownessFactor } from '../../../times/index.ts';
import type { ChangeOf, ReplicaEnding } from '../changes.ts';
import type { BrokerJob, BrokerMachine, BrokerReplica, BrokerState, Planning, TaskQueue } from '../state.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { expectedRest } from '../times/task-times.ts';
import { foreseenKey } from './planning.ts';

/** A late task is expected to take as much longer as it is late, and at least this. */
const lateMin: Duration = 1000;
/** A prediction may be off by a quarter of the task's time, and at least by this, before all is planned again. */
const boundMin: Duration = 1000;

/** By how much a task of that time may end sooner or later than planned before all is planned again. */
export function getBound(time: Duration): Duration {
  return Math.max(boundMin, Math.ceil(time / 4));
}

/** Tasks this many times longer than the work that machines keep a queue of are worth a plan. */
const plannedFactor = 10;

/**
 * Whether the queue's tasks can be planned: it is known how long they take, and that is long enough to be worth it;
 * short ones wait at machines anyway. Plans know of processors alone: what asks for more is placed as it becomes ready.
 */
export function canBePlanned({ options }: BrokerState, { job, noOp, resources, scheduler }: TaskQueue): boolean {
  if (scheduler !== 'plan' || resources !== undefined || (job.times.count === 0 && !statesTimes(job))) return false;
  return !noOp && (job.times.mean ?? Infinity) >= plannedFactor * options.prefetch.target;
}

/** Whether the job's file states how long some tasks take; of a bag the first group decides. */
export function statesTimes({ spec, dependencies }: BrokerJob): boolean {
  if (spec === undefined) return false;
  return dependencies === undefined ? spec.groups[0]?.expectedTime !== undefined : dependencies.isTimed;
}

/**
 * How long a task takes on a machine that is like most: as its file says, as far as that has proved true; else as its
 * job's tasks do. Undefined where nothing is known.
 */
export function timeAtPar(planning: Planning, job: BrokerJob, index: TaskIndex): Duration | undefined {
  const stated = statedTime(job, index);
  return stated === undefined ? job.times.mean : stated * getCalibration(planning, job);
}

function statedTime(job: BrokerJob, index: TaskIndex): Duration | undefined {
  if (!statesTimes(job)) return undefined;
  return job.dependencies === undefined
    ? getTaskGroup(job, getGroup(job, index).groupIndex).expectedTime
    : job.dependencies.workflow.tasks[index]?.work;
}

/** What a unit of the job's levels is in time. */
export function levelUnit(planning: Planning, job: BrokerJob): number {
  return statesTimes(job) ? getCalibration(planning, job) : (job.times.mean ?? 0);
}

/** What a second that the job's file states takes; 1 before anything has ended. */
function getCalibration({ calibrations }: Planning, job: BrokerJob): number {
  const { taken, stated } = calibrations.get(job) ?? { taken: 0, stated: 0 };
  return stated === 0 ? 1 : taken / stated;
}

/** How many times longer the machine takes than is usual. */
export function getFactor({ paces }: Planning, machine: BrokerMachine): number {
  return slownessFactor(paces.get(machine) ?? machine.slowness);
}

/** How long a task takes on a machine; undefined where nothing is known. */
export function timeOn(
  planning: Planning,
  machine: BrokerMachine,
  { job, index }: { readonly job: BrokerJob; readonly index: TaskIndex },
): Duration | undefined {
  const time = timeAtPar(planning, job, index);
  return time === undefined ? undefined : Math.ceil(time * getFactor(planning, machine));
}

/**
 * When a replica is expected to end; Infinity where nothing is known of it. One that is late is taken to be half-way.
 */
export function getExpectedEnd(planning: Planning, replica: BrokerReplica, now: Instant): Instant {
  const { job, task, machine, dispatchedAt, status } = replica;
  if (status === 'aborting') return now;
  if (job.spec === undefined || !statesTimes(job)) return now + (expectedRest(replica, now) ?? Infinity);
  const time = timeOn(planning, machine, { job, index: task.index }) ?? Infinity;
  const elapsed = Math.max(0, now - dispatchedAt);
  return elapsed < time ? now + time - elapsed : now + Math.max(lateMin, elapsed - time);
}

/** Learns from ends how true the times of files are, and how fast machines are. */
export function learnTimes(
  { jobs, machines, planning }: BrokerState,
  { jobId, machineId, endings }: ChangeOf<'ReplicasEnded'>,
): void {
  const [job, machine] = [jobs.get(jobId), machines.get(machineId)];
  if (job?.spec === undefined || !statesTimes(job)) return;
  for (const ending of endings) {
    const stated = runTimeOf(ending) === undefined ? undefined : statedTime(job, ending.taskIndex);
    if (stated !== undefined && stated > 0)
      learn(planning, { job, machine }, { stated, time: runTimeOf(ending) as Duration });
  }
}

function runTimeOf({ outcome, startedAt, endedAt }: ReplicaEnding): Duration | undefined {
  return outcome === 'succeeded' && startedAt !== 0 ? Math.max(0, endedAt - startedAt) : undefined;
}

function learn(
  planning: Planning,
  { job, machine }: { readonly job: BrokerJob; readonly machine: BrokerMachine | undefined },
  { stated, time }: { readonly stated: Duration; readonly time: Duration },
): void {
  const factor = machine === undefined ? 1 : getFactor(planning, machine);
  const before = planning.calibrations.get(job);
  planning.calibrations.set(job, {
    taken: (before?.taken ?? 0) + time / factor,
    stated: (before?.stated ?? 0) + stated,
  });
  if (machine === undefined) return;
  // The first end says as much of the file as of its machine: only other files and machines distinguish them.
  const usual = before === undefined ? time : stated * (before.taken / before.stated);
  planning.paces.set(machine, compareWith(planning.paces.get(machine) ?? { sum: 0, count: 0 }, time, usual));
}

/** Forgets when a task was expected to end, and says by how much it was; undefined where nothing was expected. */
export function takeForeseen(
  { foreseen }: Planning,
  jobId: number,
  index: TaskIndex,
): { readonly end: Instant; readonly bound: Duration } | undefined {
  const key = foreseenKey(jobId, index);
  const found = foreseen.get(key);
  if (found !== undefined) foreseen.delete(key);
  return found;
}
