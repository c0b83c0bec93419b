import { freeProcessors as countFree } from '../../../bag/index.ts';
import { areSameReasons, type Reason } from '../../../reasons/index.ts';
import type { Instant, MachineId, UserId } from '../../../shared/index.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { explainMismatch, explainUnusable } from './explain-waiting.ts';
import { type Explanation, listedMax } from './explanation.ts';

/**
 * Says why a machine gets no work, or none of a user's; undefined for a machine that this broker does not know. Jobs
 * of other users are not named. Cost: O(queues of open jobs).
 */
export function explainMachine(
  state: BrokerState,
  { machineId, userId }: { readonly machineId: MachineId; readonly userId: UserId },
  now: Instant,
): Explanation | undefined {
  const machine = state.machines.get(machineId);
  const [summary, ...others] =
    machine === undefined ? findLost(state, machineId) : listReasons({ state, now }, machine, userId);
  return summary === undefined ? undefined : { summary, details: others.slice(0, listedMax) };
}

interface Moment {
  readonly state: BrokerState;
  readonly now: Instant;
}

/** The most important first. */
function listReasons(moment: Moment, machine: BrokerMachine, userId: UserId): Reason[] {
  const { state, now } = moment;
  if (!['idle', 'busy'].includes(statusOfMachine(state, machine, now))) return [explainUnusable(state, machine, now)];
  const queues = [...state.openJobs.values()]
    .filter((job) => job.userId === userId)
    .flatMap((job) => job.queues.filter(({ readyCount }) => readyCount > 0));
  const pending: Reason[] =
    queues.length === 0
      ? [{ code: 'machine-nothing-pending' }]
      : sortOnce(queues.flatMap((queue) => whyNotHere(moment, machine, queue)));
  return machine.replicas.size === 0 ? pending : [describeWork(machine), ...describeSilence(machine), ...pending];
}

/** Of a machine that is gone its trust record may be left. */
function findLost({ records, drainedMachines }: BrokerState, machineId: MachineId): Reason[] {
  const isKnown =
    [...records.values()].some((record) => record.machineId === machineId) || drainedMachines.has(machineId);
  return isKnown ? [{ code: 'machine-not-connected', machineId }] : [];
}

function describeWork(machine: BrokerMachine): Reason {
  const { machineId, processors } = machine.facts;
  const freeProcessors = countFree(machine);
  return { code: 'machine-busy', machineId, tasks: machine.replicas.size, freeProcessors, processors };
}

/** Replicas that still count as running here although they are no longer wanted. */
function describeSilence({ facts: { machineId }, replicas }: BrokerMachine): Reason[] {
  const unconfirmed = [...replicas.values()].filter(({ status }) => status === 'aborting').length;
  return unconfirmed === 0 ? [] : [{ code: 'machine-ends-awaited', machineId, tasks: unconfirmed }];
}

/** Why tasks of a queue do not run on a machine that takes work. */
function whyNotHere(moment: Moment, machine: BrokerMachine, queue: TaskQueue): Reason[] {
  const { facts, provider } = machine;
  const about = { machineId: facts.machineId, jobId: queue.job.jobId };
  if (!belongsTo(queue.job, facts.reservation))
    return [{ code: facts.reservation === undefined ? 'machine-outside-reservation' : 'machine-reserved', ...about }];
  if (!mayUse(queue, provider)) return [{ code: 'machine-tasks-elsewhere', ...about }];
  if (!matchesQueue(queue, { provider, facts }))
    return [{ code: 'machine-mismatch', ...about }, ...explainMismatch(machine, queue)];
  if (keepsAway(moment, queue, machine)) return [{ code: 'machine-too-short', ...about }];
  return [{ code: 'machine-next', ...about }];
}

/** What will run here first, then what may not; each reason once. */
function sortOnce(reasons: readonly Reason[]): Reason[] {
  const once = reasons.filter(
    (reason, index) => reasons.findIndex((other) => areSameReasons([reason], [other])) === index,
  );
  return once.sort((one, other) => Number(other.code === 'machine-next') - Number(one.code === 'machine-next'));
}
