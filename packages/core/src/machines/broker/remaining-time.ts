import type { AllocationRequest } from '../../messages/index.ts';
import type { Duration, Instant } from '../../shared/index.ts';
import { matchesQueue } from './matching.ts';
import type { BrokerJob, BrokerMachine, BrokerState, TaskQueue } from './state.ts';

/**
 * How long a task of the job is known to need; undefined while that is not known.
 *
 * Once `observedMin` have succeeded, the longest of them, but no more than 3 x their mean: at most a third of the tasks can be longer than
 * that, and one that took hours among thousands of minutes must not keep them all from machines with an hour left. Not 1.1 x the longest, for
 * which requests are made (costa2005, Alg. 3.2, est1): of a walltime of one task a moment passes before its machine joins, and it would get
 * none. What the user set as the limit bounds it, and is all that is known before.
 */
export function knownNeed({ options: { observedMin } }: BrokerState, { times, spec }: BrokerJob): Duration | undefined {
  const limit = spec === undefined || spec.limits.runTimeMax === 0 ? undefined : spec.limits.runTimeMax;
  if (times.count < observedMin) return limit;
  const observed = Math.ceil(Math.min(times.longest, (3 * times.sum) / times.count));
  return limit === undefined ? observed : Math.min(limit, observed);
}

/** A moment; in a step, what was found out about queues while its replicas are placed is kept. */
interface Moment {
  readonly state: BrokerState;
  readonly now: Instant;
  readonly longerMayCome?: Map<TaskQueue, boolean>;
}

/**
 * Whether tasks of the queue keep away from a machine because its allocation ends too soon, and another may have enough time left.
 *
 * Only events end that, never time alone. Cost: O(1) for machines with time enough, O(machines + requests) for others, once in a step.
 */
export function keepsAway({ state, now, longerMayCome }: Moment, queue: TaskQueue, machine: BrokerMachine): boolean {
  const need = needBeyond({ state, now }, queue, machine);
  if (need === undefined) return false;
  const found = longerMayCome?.get(queue) ?? mayComeLonger(state, queue, need);
  longerMayCome?.set(queue, found);
  return found;
}

/** Whether one of its tasks that waits at the machine for another to end would start too late, if both take what is known. */
export function isTooLateFor({ state, now }: Moment, queue: TaskQueue, { facts: { until } }: BrokerMachine): boolean {
  const need = knownNeed(state, queue.job);
  return need !== undefined && until !== undefined && until - now < 2 * need;
}

/** What is needed, where the machine has not so much time left; undefined where it has. */
function needBeyond({ state, now }: Moment, { job, noOp }: TaskQueue, { facts: { until } }: BrokerMachine): Duration | undefined {
  if (until === undefined || noOp) return undefined;
  const need = knownNeed(state, job);
  return need !== undefined && until - now < need ? need : undefined;
}

/**
 * Whether there is a machine that has, or had when it joined, so much time left, or a request that waits for one: where there is none the
 * tasks would wait for ever. Of a walltime a tenth may pass before its machines join.
 */
function mayComeLonger(state: BrokerState, queue: TaskQueue, need: Duration): boolean {
  for (const { facts, joinedAt, isTold } of state.machines.values()) {
    if (isTold && (facts.until === undefined || facts.until - joinedAt >= need) && matchesQueue(queue, facts)) return true;
  }
  for (const request of state.requests.values()) {
    if (0.9 * request.walltime >= need && isWaiting(state, request)) return true;
  }
  return false;
}

function isWaiting({ providers }: BrokerState, { status, providerId }: AllocationRequest): boolean {
  return (status === 'queued' || status === 'submitting') && providers.get(providerId)?.isConnected === true;
}
