import { freeProcessors } from '../../../bag/index.ts';
import { explainMatch } from '../../../requirements/index.ts';
import type { Instant, JobId, MachineId, UserId } from '../../../shared/index.ts';
import { findDrain, isDraining } from '../machines/takes-work.ts';
import { mayUse } from '../placement/placed-tasks.ts';
import { isOpenTo, matchesQueue } from '../placing/matching.ts';
import { statusOfMachine } from '../queries.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerMachine, BrokerState, TaskQueue } from '../state.ts';
import { keepsAway } from '../times/remaining-time.ts';
import { isQuarantined } from '../trust/trust-records.ts';
import { describeLack } from './explain-shortage.ts';
import { explainUnusable } from './explain-waiting.ts';
import { type Explanation, listedMax } from './explanation.ts';
import { plural } from './sentences.ts';

/** Why a machine gets no work, or that it has some. */
export type MachineReasonCode =
  | 'provider-away'
  | 'provider-draining'
  | 'quarantined'
  | 'drained'
  | 'lost'
  | 'unconfirmed'
  | 'allocation-over'
  | 'paused'
  | 'busy'
  | 'nothing-pending'
  | 'reserved'
  | 'placed-elsewhere'
  | 'mismatch'
  | 'too-short'
  | 'next';

/** A reason as data, and the sentence that it makes for people. */
export interface MachineReason {
  readonly code: MachineReasonCode;
  readonly parameters: Readonly<Record<string, string | number>>;
  readonly sentence: string;
}

/**
 * Says why a machine gets no work, or none of a user's; undefined for a machine that this broker does not know. Jobs
 * of other users are not named. Cost: O(queues of open jobs).
 */
export function explainMachine(
  state: BrokerState,
  { machineId, userId }: { readonly machineId: MachineId; readonly userId: UserId },
  now: Instant,
): Explanation | undefined {
  const [first, ...others] = machineReasons(state, { machineId, userId }, now);
  return first === undefined
    ? undefined
    : { summary: first.sentence, details: others.slice(0, listedMax).map(({ sentence }) => sentence) };
}

/** The reasons of `explainMachine`, the most important first; none for a machine that is not known. */
export function machineReasons(
  state: BrokerState,
  { machineId, userId }: { readonly machineId: MachineId; readonly userId: UserId },
  now: Instant,
): MachineReason[] {
  const machine = state.machines.get(machineId);
  if (machine === undefined) return findLost(state, machineId);
  if (!['idle', 'busy'].includes(statusOfMachine(state, machine, now))) return [whyUnusable(state, machine, now)];
  const queues = [...state.openJobs.values()]
    .filter((job) => job.userId === userId)
    .flatMap((job) => job.queues.filter(({ readyCount }) => readyCount > 0));
  const pending =
    queues.length === 0
      ? [reason('nothing-pending', { machineId }, `No task of yours waits for a machine.`)]
      : mostReporting(queues.map((queue) => whyNotHere({ state, now }, machine, queue)));
  const { size } = machine.replicas;
  return size === 0 ? pending : [describeWork(machine), ...pending];
}

function reason(code: MachineReasonCode, parameters: MachineReason['parameters'], sentence: string): MachineReason {
  return { code, parameters, sentence };
}

/** Of a machine that is gone its trust record may be left. */
function findLost({ records, drainedMachines }: BrokerState, machineId: MachineId): MachineReason[] {
  const isKnown =
    [...records.values()].some((record) => record.machineId === machineId) || drainedMachines.has(machineId);
  if (!isKnown) return [];
  const hint = '"mutirao events" shows when it was lost, and why.';
  return [reason('lost', { machineId }, `${machineId} is not connected; ${hint}`)];
}

function whyUnusable(state: BrokerState, machine: BrokerMachine, now: Instant): MachineReason {
  const { machineId } = machine.facts;
  const { providerId } = machine.provider;
  return reason(unusableCode(state, machine, now), { machineId, providerId }, explainUnusable(state, machine, now));
}

/** The cases of `explainUnusable`, in its order. */
function unusableCode(state: BrokerState, machine: BrokerMachine, now: Instant): MachineReasonCode {
  const cases: readonly (readonly [MachineReasonCode, boolean])[] = [
    ['provider-away', !machine.provider.isConnected],
    ['provider-draining', isDraining(machine.provider)],
    ['quarantined', isQuarantined(state, machine)],
    ['drained', findDrain(state, machine) !== undefined],
    ['lost', machine.isGone],
    ['unconfirmed', !machine.isAnnounced],
    ['allocation-over', (machine.facts.until ?? Infinity) <= now],
  ];
  return cases.find(([, holds]) => holds)?.[0] ?? 'paused';
}

function describeWork(machine: BrokerMachine): MachineReason {
  const { machineId, processors } = machine.facts;
  const taskCount = machine.replicas.size;
  const free = freeProcessors(machine);
  const room = free === 0 ? 'none of its processors is free' : `${plural(free, 'processor')} of ${processors} are free`;
  return reason('busy', { machineId, taskCount, free }, `${machineId} has ${plural(taskCount, 'task')}; ${room}.`);
}

/** Why tasks of a queue do not run on a machine that takes work. */
function whyNotHere(
  place: { readonly state: BrokerState; readonly now: Instant },
  machine: BrokerMachine,
  queue: TaskQueue,
): MachineReason {
  const { facts, provider } = machine;
  const { jobId } = queue.job;
  const about = { jobId, machineId: facts.machineId };
  if (!belongsTo(queue.job, facts.reservation))
    return reason('reserved', about, describeReserved(jobId, facts.reservation !== undefined));
  if (!matchesQueue(queue, { provider, facts }) && mayUse(queue, provider))
    return reason('mismatch', about, `Job ${jobId} does not match: ${describeMismatch(machine, queue)}.`);
  if (!mayUse(queue, provider))
    return reason('placed-elsewhere', about, `Tasks of job ${jobId} are placed at another provider.`);
  if (keepsAway(place, queue, machine))
    return reason('too-short', about, `Tasks of job ${jobId} need more time than its allocation has left.`);
  return reason('next', about, `Tasks of job ${jobId} may run here, and start when it is their turn.`);
}

function describeReserved(jobId: JobId, isInside: boolean): string {
  return isInside
    ? `It is held for a reservation, and job ${jobId} is not of that.`
    : `Job ${jobId} runs inside a reservation, and this machine is not of that.`;
}

function describeMismatch({ facts }: BrokerMachine, queue: TaskQueue): string {
  const tooSmall =
    !queue.isGang && facts.processors < queue.processors
      ? [`wanted ${queue.processors} processors: the machine has ${facts.processors}`]
      : [];
  const noGangs = queue.isGang && facts.takesGangs !== true ? ['its agent takes no members of gangs'] : [];
  const closed = isOpenTo(queue, facts) ? [] : [`it runs tasks of ${facts.onlyUser ?? ''} only`];
  return [
    ...tooSmall,
    ...describeLack(queue, facts),
    ...noGangs,
    ...closed,
    ...explainMatch(queue.requirements, facts.attributes),
  ].join('; ');
}

/** What will run here first, then what may not; each reason of a job once. */
function mostReporting(reasons: readonly MachineReason[]): MachineReason[] {
  const bySentence = new Map(reasons.map((one) => [one.sentence, one]));
  return [...bySentence.values()].sort((one, other) => Number(other.code === 'next') - Number(one.code === 'next'));
}
