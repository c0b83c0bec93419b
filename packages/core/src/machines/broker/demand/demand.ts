import type { Demand } from '../../../messages/index.ts';
import { type Duration, type Instant, invariant } from '../../../shared/index.ts';
import { findQuantiles, TimeCurve } from '../../../times/index.ts';
import { shapeFor, shapeOf, type TaskShape } from './task-shape.ts';
import { isSameSlot } from '../../../resources/index.ts';
import { listRequests } from '../jobs/task-groups.ts';
import type { Validity } from '../times/remaining-time.ts';
import { isSameReserved, reservedFor } from '../reservations/reserved-jobs.ts';
import { runsBeside } from '../reservations/reserved-place.ts';
import { type DemandPart, splitDemand } from './split-demand.ts';
import type { BrokerJob, BrokerProvider, BrokerState } from '../state.ts';
import { type Turn, wakeBy } from '../turn.ts';

/**
 * Sends each connected provider the demand for it, if that changed and none was sent a moment ago.
 *
 * The demand is computed at once after an input that may have changed it for good; at most once in `demandInterval`
 * after changes by reports, because these are many and it costs something; and at the instant when time alone changes
 * it. It must not be computed at any other time, so that a broker that is not woken never has unsent demand.
 */
export function setDemands(turn: Turn): void {
  const { state, now } = turn;
  const due = dueAt(turn);
  if (due <= now) reportDemands(turn);
  else state.demandsDue = due;
  wakeBy(turn, state.demandsDue);
}

/** When the demand must be computed. */
function dueAt({ state, now, mayChangeDemand, changes }: Turn): Instant {
  const hasChanged = changes.some(({ kind }) => kind !== 'ReplicasStarted');
  // A clock that was set back must not put it off for long.
  if (mayChangeDemand || state.demandsAt > now || (hasChanged && state.openJobs.size === 0)) return now;
  return hasChanged ? Math.min(state.demandsDue, state.demandsAt + state.options.demandInterval) : state.demandsDue;
}

function reportDemands(turn: Turn): void {
  const { state, now } = turn;
  const validity: Validity = { until: Infinity };
  const parts = splitDemand({ state, now, validity });
  const facts = new Map<string, JobFacts>();
  for (const [provider, part] of parts) {
    if (!provider.isConnected) continue;
    if (awaitsNodes(state, provider, now)) {
      validity.until = Math.min(validity.until, provider.resourceAwaitedUntil ?? Infinity);
      continue;
    }
    const key = `${part.shape.key} ${provider.resource?.resourceStatus.nodes !== undefined}`;
    let known = facts.get(key);
    if (known === undefined) facts.set(key, (known = gatherFacts(state, provider, part.shape)));
    const reserved = reservedFor(state, provider);
    const due = report(turn, provider, { ...toDemand(part, known), ...(reserved.length === 0 ? {} : { reserved }) });
    validity.until = Math.min(validity.until, due);
  }
  state.demandsAt = now;
  // However many instants there are at which time changes something, they cost no more than reports do.
  state.demandsDue = Math.max(validity.until, now + state.options.demandInterval);
}

/**
 * Whether tasks need more of a machine than a processor, and a provider has yet to report what its nodes have: it would
 * be asked for plain processors, of which these tasks run on none.
 */
function awaitsNodes(state: BrokerState, { resourceAwaitedUntil }: BrokerProvider, now: Instant): boolean {
  if (resourceAwaitedUntil === undefined || resourceAwaitedUntil <= now) return false;
  return [...state.openJobs.values()].some(({ queues }) =>
    queues.some((queue) => listRequests(queue).some((request) => shapeOf(request).slot !== undefined)),
  );
}

/** Sends a provider its demand; answers when it is due, Infinity if the provider has it already. */
function report({ state, now, commands }: Turn, provider: BrokerProvider, demand: Demand): Instant {
  if (provider.demand !== undefined && isSameDemand(provider.demand, demand)) return Infinity;
  const due = provider.demandAt + state.options.demandInterval;
  if (provider.demand !== undefined && isBothOrNeither(provider.demand, demand) && due > now) return due;
  provider.demand = demand;
  provider.demandAt = now;
  commands.push({ kind: 'SetDemand', providerId: provider.providerId, demand });
  return Infinity;
}

/** A change from no demand to some, or back, is sent at once. */
function isBothOrNeither(one: Demand, other: Demand): boolean {
  return (
    (one.pendingTasks === 0) === (other.pendingTasks === 0) &&
    (one.reserved === undefined) === (other.reserved === undefined)
  );
}

const comparedFields = [
  'gangProcessors',
  'pendingTasks',
  'unplacedTasks',
  'processors',
  'otherProcessors',
  'taskTimeMax',
  'taskTimeMean',
  'deadline',
  'userId',
  'statedTime',
] as const;

function isSameDemand(one: Demand, other: Demand): boolean {
  return (
    comparedFields.every((field) => one[field] === other[field]) &&
    isSameSlot(one.slot, other.slot) &&
    isSameReserved(one.reserved, other.reserved) &&
    one.taskTimes?.count === other.taskTimes?.count &&
    one.taskTimes?.censoredCount === other.taskTimes?.censoredCount
  );
}

/** Facts about the tasks of open jobs of one shape. */
interface JobFacts {
  readonly deadline: Instant | undefined;
  readonly userId: string;
  /** The longest that a user states for a task; 0 where none does. */
  readonly statedTime: Duration;
  readonly times: TimeCurve;
}

function gatherFacts(state: BrokerState, provider: BrokerProvider, { key }: TaskShape): JobFacts {
  const jobs = [...state.openJobs.values()].filter(
    (job) =>
      job.queues.flatMap(listRequests).some((queue) => shapeFor(provider, shapeOf(queue)).key === key) &&
      runsBeside(job),
  );
  const deadlines = jobs.flatMap(({ deadline }) => (deadline === undefined ? [] : [deadline]));
  return {
    deadline: deadlines.length === 0 ? undefined : deadlines.reduce((least, one) => Math.min(least, one)),
    userId: jobs[0]?.userId ?? '',
    statedTime: jobs.reduce((longest, job) => Math.max(longest, findStatedTime(job)), 0),
    times: listTimes(jobs),
  };
}

/** The longest run time that the user states for a task of a job; 0 without one. Cost: O(groups of tasks). */
function findStatedTime({ spec }: BrokerJob): Duration {
  if (spec === undefined) return 0;
  return spec.groups.reduce(
    (longest, { expectedTime = 0 }) => Math.max(longest, expectedTime > 0 ? expectedTime : spec.limits.runTimeMax),
    0,
  );
}

function listTimes(jobs: readonly BrokerJob[]): TimeCurve {
  const [first, ...others] = jobs;
  if (first === undefined) return new TimeCurve();
  if (others.length === 0) return first.times;
  const times = new TimeCurve();
  for (const job of jobs) times.addAll(job.times);
  return times;
}

function toDemand(
  { pendingTasks, shape: { processors, slot }, otherProcessors, unplacedTasks, gangProcessors }: DemandPart,
  { deadline, userId, statedTime, times }: JobFacts,
): Demand {
  const { count, sum, longest } = times;
  const taskTimes = findQuantiles(times);
  invariant(
    unplacedTasks <= pendingTasks,
    `${unplacedTasks} of ${pendingTasks} pending tasks are said to have no place`,
  );
  return {
    pendingTasks,
    processors,
    deadline,
    userId,
    unplacedTasks,
    taskTimeMax: count === 0 ? undefined : longest,
    taskTimeMean: count === 0 ? undefined : Math.ceil(sum / count),
    ...(slot === undefined ? {} : { slot }),
    ...(otherProcessors === 0 ? {} : { otherProcessors }),
    ...(taskTimes === undefined ? {} : { taskTimes }),
    ...(gangProcessors === 0 ? {} : { gangProcessors }),
    ...(statedTime === 0 ? {} : { statedTime }),
  };
}
