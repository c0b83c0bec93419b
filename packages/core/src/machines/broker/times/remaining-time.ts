import type { AllocationRequest } from '../../../messages/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import { quantileOn, type Slowness, unknownSlowness } from '../../../times/index.ts';
import { isDraining, takesWork } from '../machines/takes-work.ts';
import { matchesQueue } from '../placing/matching.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import { type BrokerJob, type BrokerMachine, type BrokerState, isHere, type TaskQueue } from '../state.ts';
import { timeQuantile } from './task-times.ts';

/**
 * How long a task of the job is known to need on a machine; undefined while that is not known.
 *
 * Once `observedMin` have succeeded, the time within which `needShare` of them end there, those that were cut off considered: one that took
 * hours among thousands of minutes must not keep them all from machines with an hour left. Where so many were cut off that this time is not
 * known, the longest known one. Not 1.1 x the longest, for which requests are made (costa2005, Alg. 3.2, est1): of a walltime of one
 * task a moment passes before its machine joins, and it would get none. What the user set as the limit bounds it, and is all that is known before.
 */
export function knownNeed({ options: { observedMin, needShare } }: BrokerState, { times, spec }: BrokerJob, slowness = unknownSlowness): Duration | undefined {
  const limit = spec === undefined || spec.limits.runTimeMax === 0 ? undefined : spec.limits.runTimeMax;
  if (times.count < observedMin) return limit;
  const observed = quantileOn(times, slowness, { share: needShare, elapsed: 0 }) ?? times.longest;
  return limit === undefined ? observed : Math.min(limit, observed);
}

/** What is looked at of a machine, real or imagined. */
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
  /** In a step, what was found out about queues while its replicas are placed. */
  readonly longerMayCome?: Map<TaskQueue, boolean>;
  /** Made shorter by each answer that time alone changes; absent where nobody wants to know. */
  readonly validity?: Validity;
}

/** Notes that an answer that was given in this moment is another one from `until` on. */
export function holdsUntil({ validity, now }: Moment, until: Instant): void {
  if (validity !== undefined && until > now) validity.until = Math.min(validity.until, until);
}

/**
 * Whether tasks of the queue keep away from a machine because its allocation ends too soon, and another may have enough time left.
 *
 * Only events end that; time alone begins it. Cost: O(1) for machines with time enough, O(machines + requests) for others, once in a step.
 */
export function keepsAway(moment: Moment, queue: TaskQueue, machine: TimedMachine): boolean {
  const need = needBeyond(moment, queue, machine);
  if (need === undefined) return false;
  const { state, longerMayCome } = moment;
  const found = longerMayCome?.get(queue) ?? longestStay(state, queue) >= need;
  longerMayCome?.set(queue, found);
  return found;
}

/** Whether one of its tasks that waits at the machine for another to end would start too late, if both take what is known. */
export function isTooLateFor({ state, now }: Moment, queue: TaskQueue, machine: BrokerMachine): boolean {
  const { facts: { until }, slowness } = machine;
  if (until === undefined) return false;
  const need = knownNeed(state, queue.job, slowness);
  return need !== undefined && until - now < need + freeWithin({ state, now }, machine, need);
}

/** Within what time one of the machine's replicas ends, as likely as what is known of needs; `need` where it runs none that has told of its start. */
function freeWithin({ state: { options: { needShare: share } }, now }: Moment, machine: BrokerMachine, need: Duration): Duration {
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

/** What is needed, where the machine has not so much time left; undefined where it has. */
function needBeyond(moment: Moment, { job, noOp }: TaskQueue, { facts: { until }, slowness }: TimedMachine): Duration | undefined {
  if (until === undefined || noOp) return undefined;
  const { state, now } = moment;
  const need = knownNeed(state, job, slowness);
  if (need === undefined) return undefined;
  holdsUntil(moment, Math.floor(until - need) + 1);
  return until - now < need ? need : undefined;
}

/**
 * The most time that a machine which would do has, or had when it joined, or that a request which waits for one asks for: what needs more would wait for ever. 0 where
 * there is none, Infinity without an end. Of a walltime a tenth may pass before its machines join. Cost: O(machines + requests).
 */
export function longestStay(state: BrokerState, queue: TaskQueue): Duration {
  let longest = 0;
  for (const machine of state.machines.values()) {
    const { facts, joinedAt } = machine;
    const stays = (facts.until ?? Infinity) - joinedAt;
    if (stays > longest && isThereFor(queue, machine)) longest = stays;
  }
  for (const request of state.requests.values()) {
    if (0.9 * request.walltime > longest && isWaiting(state, queue, request) && belongsTo(queue.job, request.reservation)) longest = 0.9 * request.walltime;
  }
  return longest;
}

function isThereFor(queue: TaskQueue, machine: BrokerMachine): boolean {
  return isHere(machine) && !isDraining(machine.provider) && matchesQueue(queue, machine);
}

function isWaiting({ providers }: BrokerState, queue: TaskQueue, { status, providerId }: AllocationRequest): boolean {
  const provider = status === 'queued' || status === 'submitting' ? providers.get(providerId) : undefined;
  return provider !== undefined && takesWork(provider) && mayUse(queue, provider);
}
