import type { AllocationRequest } from '../../../messages/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import { quantileOn, type Slowness, unknownSlowness } from '../../../times/index.ts';
import { isDraining, takesWork } from '../machines/takes-work.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import { type BrokerJob, type BrokerMachine, type BrokerState, isHere, type TaskQueue } from '../state.ts';
import { timeQuantile } from './task-times.ts';

/**
 * How long a task of the job is known to need on a machine; undefined while that is not known.
 *
 * Once `observedMin` have succeeded, the time within which `needShare` of them end there, including those that were cut
 * off: one that took hours among thousands of minutes must not keep them all from machines with an hour left. If too
 * many were cut off for that, the longest known time. Not 1.1 x the longest, for which requests are made (costa2005,
 * Alg. 3.2, est1): of a walltime of one task a moment passes before its machine joins, and it would get none. The
 * user's limit bounds it, and is all that is known before.
 */
export function knownNeed(
  { options: { observedMin, needShare } }: BrokerState,
  { times, spec }: BrokerJob,
  slowness = unknownSlowness,
): Duration | undefined {
  const limit = spec === undefined || spec.limits.runTimeMax === 0 ? undefined : spec.limits.runTimeMax;
  if (times.count < observedMin) return limit;
  const observed = quantileOn(times, slowness, { share: needShare, elapsed: 0 }) ?? times.longest;
  return limit === undefined ? observed : Math.min(limit, observed);
}

/** The relevant properties of a machine, real or imagined. */
export interface TimedMachine {
  /** Of its facts, the end of its allocation; undefined for a machine that stays. */
  readonly facts: { readonly until: Instant | undefined };
  readonly slowness: Slowness;
}

/** Until when answers hold that depend on the time, should nothing happen. */
export interface Validity {
  /** From then on at least one of them is another one. */
  until: Instant;
}

/** A moment, and what is kept of the answers that are asked for in it. */
export interface Moment {
  readonly state: BrokerState;
  readonly now: Instant;
  /**
   * In a step, whether queues have a machine that stays long enough, or may get one; one answer holds for all machines
   * that it is asked about.
   */
  readonly longerMayCome?: Map<TaskQueue, boolean>;
  /** Made shorter by each answer that time alone changes; absent if it is not needed. */
  readonly validity?: Validity;
}

/** Notes that an answer that was given in this moment is another one from `until` on. */
export function holdsUntil({ validity, now }: Moment, until: Instant): void {
  if (validity !== undefined && until > now) validity.until = Math.min(validity.until, until);
}

/**
 * Whether tasks of the queue keep away from a machine because its allocation ends too soon, and another may have enough
 * time left.
 *
 * Only events end that; time alone begins it. Cost: O(1) for machines with time enough, O(machines + requests) for
 * others, once in a step.
 */
export function keepsAway(moment: Moment, queue: TaskQueue, machine: TimedMachine): boolean {
  if (!endsTooSoon(moment, queue, machine)) return false;
  const { state, longerMayCome } = moment;
  const found = longerMayCome?.get(queue) ?? hasLongStay(state, queue);
  longerMayCome?.set(queue, found);
  return found;
}

/**
 * Whether one of its tasks that waits at the machine for another to end would start too late, if both take what is
 * known.
 */
export function isTooLateFor({ state, now }: Moment, queue: TaskQueue, machine: BrokerMachine): boolean {
  const {
    facts: { until },
    slowness,
  } = machine;
  if (until === undefined) return false;
  const need = knownNeed(state, queue.job, slowness);
  return need !== undefined && until - now < need + freeWithin({ state, now }, machine, need);
}

/**
 * Within what time one of the machine's replicas ends, as likely as what is known of needs; `need` if it runs none that
 * was reported as started.
 */
function freeWithin(
  {
    state: {
      options: { needShare: share },
    },
    now,
  }: Moment,
  machine: BrokerMachine,
  need: Duration,
): Duration {
  let soonest: Duration | undefined;
  let runningMax = machine.processors;
  for (const { job, startedAt } of machine.replicas.values()) {
    if (runningMax-- <= 0) break;
    if (startedAt === 0 || startedAt > now) continue;
    const elapsed = now - startedAt;
    const time = timeQuantile(job, machine, { share, elapsed });
    const remaining = time === undefined ? Math.max(need, elapsed) : time - elapsed;
    soonest = Math.min(soonest ?? remaining, remaining);
  }
  return soonest ?? need;
}

/** As `knownNeed`; tasks that have alternatives take other times with each, so that of these what is said counts. */
export function getNeed(state: BrokerState, { job, statedTime }: TaskQueue, slowness?: Slowness): Duration | undefined {
  return statedTime ?? knownNeed(state, job, slowness);
}

/** Whether less time is left of the machine's allocation than one of the queue's tasks is known to need there. */
function endsTooSoon(moment: Moment, queue: TaskQueue, { facts: { until }, slowness }: TimedMachine): boolean {
  if (until === undefined || queue.noOp) return false;
  const { state, now } = moment;
  const need = getNeed(state, queue, slowness);
  if (need === undefined) return false;
  holdsUntil(moment, Math.floor(until - need) + 1);
  return until - now < need;
}

/**
 * Whether a machine that would do has the time that the queue's tasks need there, or had when it joined, or a request
 * that waits for one asks for it. If not, a task that
 * keeps away from machines would wait forever.
 *
 * Each machine is held to its own need. Compared with the need of a slow machine that is about to end, no stay may be
 * long enough, although the tasks fit on the faster ones.
 */
function hasLongStay(state: BrokerState, queue: TaskQueue): boolean {
  for (const { duration, slowness } of listStays(state, queue))
    if (duration >= (getNeed(state, queue, slowness) ?? 0)) return true;
  return false;
}

/**
 * The most time that a machine which would do has, or had when it joined, or that a request which waits for one asks
 * for: what needs more would wait for ever. 0 where
 * there is none, Infinity without an end. Cost: O(machines + requests).
 */
export function longestStay(state: BrokerState, queue: TaskQueue): Duration {
  let longest = 0;
  for (const { duration } of listStays(state, queue)) longest = Math.max(longest, duration);
  return longest;
}

/** For how long a machine stays, and what is known of its speed. */
interface Stay {
  readonly duration: Duration;
  readonly slowness: Slowness;
}

/**
 * The stays of the machines that would do, counted from when they joined, and of those that requests wait for. Of a
 * walltime a tenth may pass before its machines join.
 */
function* listStays(state: BrokerState, queue: TaskQueue): Iterable<Stay> {
  for (const machine of state.machines.values()) {
    const { facts, joinedAt, slowness } = machine;
    const stays = (facts.until ?? Infinity) - joinedAt;
    if (isThereFor(queue, machine)) yield { duration: stays, slowness };
  }
  for (const request of state.requests.values()) {
    if (isWaiting(state, queue, request) && belongsTo(queue.job, request.reservation))
      yield { duration: 0.9 * request.walltime, slowness: unknownSlowness };
  }
}

function isThereFor(queue: TaskQueue, machine: BrokerMachine): boolean {
  return isHere(machine) && !isDraining(machine.provider) && matchesQueue(queue, machine);
}

function isWaiting({ providers }: BrokerState, queue: TaskQueue, { status, providerId }: AllocationRequest): boolean {
  const provider = status === 'queued' || status === 'submitting' ? providers.get(providerId) : undefined;
  return provider !== undefined && takesWork(provider) && mayUse(queue, provider);
}
