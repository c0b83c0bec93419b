import {
  countIn,
  type ProcessorCount,
  type ProcessorMillis,
  listRanges,
  type TaskIndex,
} from '../../../shared/index.ts';
import { findLeasedId, type LeasedTasks, getStarts, unconfirmedMax } from './leases.ts';
import { presentLease } from './present-lease.ts';
import { isDraining, takesWork } from '../machines/takes-work.ts';
import { knownNeed } from '../times/remaining-time.ts';
import { runsBeside } from '../reservations/reserved-place.ts';
import type { BrokerJob, BrokerProvider, BrokerState, GroupSpan } from '../state.ts';
import { getTaskGroup } from '../jobs/task-groups.ts';
import { closedIdentities } from '../trust/trust-records.ts';
import { commit, type Turn, wakeBy } from '../turn.ts';
import { buildStart } from '../dispatch/start-of.ts';
import { isVotedOn } from '../trust/votes.ts';

/** Tasks of one group that a provider could go on with. */
interface Slice {
  readonly job: BrokerJob;
  readonly group: GroupSpan;
  /** Descending. */
  readonly taskIndexes: readonly number[];
}

/**
 * Grants each connected provider a lease: a slice of the bag that it continues with if this broker falls asleep.
 *
 * Slices come from the end of each job's bag, where this broker gets last, and no two providers have the same task. A
 * lease is renewed when a quarter of it is no longer ready, or when a quarter of the ideal lease has changed; it is
 * sent again after a new connection, a cancelled job, or a machine that was caught or reset.
 */
export function grantLeases(turn: Turn): void {
  const { state, now } = turn;
  const { horizon, interval } = state.options.lease;
  if (horizon === 0) return;
  for (const provider of state.providers.values()) {
    if (!provider.isConnected || !provider.takesLeases || !provider.isSynced) continue;
    const due = provider.leaseSeenAt + interval;
    if (provider.isLeaseReported && due > now) {
      wakeBy(turn, due);
      continue;
    }
    provider.leaseSeenAt = now;
    reviewLease(turn, provider);
  }
}

/**
 * Makes providers learn in this step what their leases are without a cancelled job: if this broker went away first,
 * they would run the job on.
 */
export function reportLeasesAgain(state: BrokerState, { jobId }: BrokerJob): void {
  for (const provider of state.providers.values()) {
    if (presentLease(provider)?.tasksByJob.has(jobId) === true) provider.isLeaseReported = false;
  }
}

/**
 * Revokes delegated tasks that are being placed, on any machine, or that came back with a machine under another id: a
 * standby at the same point of the bag would run them a second time.
 */
export function revokeLeases({ state, commands }: Turn, job: BrokerJob, taskIndexes: readonly TaskIndex[]): void {
  for (const { providerId, isConnected, leases } of state.providers.values()) {
    if (!isConnected || leases.length === 0) continue;
    const first = taskIndexes.filter((index) => job.tasks.get(index)?.replicas.length === 1);
    const replicaIds = first.flatMap((index) =>
      leases.flatMap((lease) => {
        const id = findLeasedId(lease, job.jobId, index);
        return id === undefined || lease.adopted.has(id) ? [] : [id];
      }),
    );
    if (replicaIds.length > 0) commands.push({ kind: 'RevokeLease', providerId, replicaIds });
  }
}

function reviewLease(turn: Turn, provider: BrokerProvider): void {
  const { state } = turn;
  const lease = presentLease(provider);
  const slices = chooseSlices(state, provider);
  const isKept =
    lease !== undefined && lease.horizon === state.options.lease.horizon && isStillGood(state, provider, slices);
  if (!isKept && !isUnconfirmed(provider)) grant(turn, provider, slices);
  else if (!provider.isLeaseReported || !isSameList(provider.quarantineReported, closedIdentities(state)))
    report(turn, provider);
}

function isUnconfirmed({ leases, confirmedLease }: BrokerProvider): boolean {
  return leases.filter(({ sequence }) => sequence > confirmedLease).length >= unconfirmedMax;
}

/** Whether the provider has most of the tasks that it should have, and few others. */
function isStillGood(state: BrokerState, provider: BrokerProvider, slices: readonly Slice[]): boolean {
  const lease = presentLease(provider);
  if (lease === undefined) return false;
  let granted = 0;
  let ready = 0;
  for (const part of lease.parts) {
    granted += countIn(part.taskRanges);
    ready += countReady(state, part);
  }
  let wanted = 0;
  let shared = 0;
  for (const { job, taskIndexes } of slices) {
    const leased = lease.tasksByJob.get(job.jobId);
    wanted += taskIndexes.length;
    for (const index of taskIndexes) if (leased?.has(index) === true) shared++;
  }
  return 4 * ready >= 3 * granted && 4 * shared >= 3 * wanted && 4 * shared >= 3 * ready;
}

function countReady({ jobs }: BrokerState, { jobId, taskRanges }: LeasedTasks): number {
  const job = jobs.get(jobId);
  if (job === undefined) return 0;
  let ready = 0;
  for (const { first, count } of taskRanges) {
    for (let index = first; index < first + count; index++) if (isReady(job, index)) ready++;
  }
  return ready;
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry, index) => entry === other[index]);
}

function isReady(job: BrokerJob, index: number): boolean {
  return job.queues.some(({ ready }) => ready.has(index));
}

/** Whether nothing went wrong with a task so far. */
function isSound(job: BrokerJob, index: number): boolean {
  const task = job.tasks.get(index);
  return task === undefined || (task.failureCount === 0 && task.lossCount === 0);
}

function grant(turn: Turn, provider: BrokerProvider, slices: readonly Slice[]): void {
  const { state, now } = turn;
  const { providerId } = provider;
  let firstReplicaId = state.nextReplicaId;
  const parts: LeasedTasks[] = [];
  for (const {
    job: { jobId },
    group: { groupIndex },
    taskIndexes,
  } of slices) {
    parts.push({ jobId, groupIndex, firstReplicaId, taskRanges: listRanges(taskIndexes.toReversed()) });
    firstReplicaId += taskIndexes.length;
  }
  const sequence = (presentLease(provider)?.sequence ?? 0) + 1;
  commit(turn, { kind: 'LeaseGranted', providerId, sequence, horizon: state.options.lease.horizon, parts, at: now });
  report(turn, provider);
}

function report({ state, commands }: Turn, provider: BrokerProvider): void {
  const lease = presentLease(provider);
  if (lease === undefined) return;
  provider.isLeaseReported = true;
  provider.quarantineReported = closedIdentities(state);
  const { sequence, horizon } = lease;
  const parts = lease.parts.flatMap((part) => {
    const job = state.jobs.get(part.jobId);
    // Leases nothing of a job that is over, even if it was leased before; nor tasks that were placed since, or came
    // back under their id.
    if (
      job?.spec === undefined ||
      job.status !== 'running' ||
      job.runningMax !== undefined ||
      job.spec.memoryAuto === true
    )
      return [];
    const { requirements } = getTaskGroup(job, part.groupIndex);
    const starts = getStarts(part)
      .filter(
        ({ replicaId, taskIndex }) =>
          !lease.adopted.has(replicaId) && isReady(job, taskIndex) && isSound(job, taskIndex),
      )
      .map((start) => buildStart(state, job, start));
    return [
      { jobId: part.jobId, groupIndex: part.groupIndex, requirements, taskTime: knownNeed(state, job) ?? 0, starts },
    ];
  });
  const { providerId, quarantineReported: quarantined } = provider;
  commands.push({
    kind: 'GrantLease',
    providerId,
    sequence,
    horizon,
    parts,
    ...(quarantined.length === 0 ? {} : { quarantined }),
  });
}

/** The rest of what a provider may be leased. */
interface Purse {
  /** Tasks, of whatever jobs. */
  countMax: number;
  /** Processor-time of tasks whose time is known. */
  known: ProcessorMillis;
  /** Processors for tasks of jobs without an ended task: they take nothing from the others, whatever their needs. */
  unknown: ProcessorCount;
}

/**
 * The lease that a provider should have: as many ready tasks as its processors could do within the horizon, and no more
 * than its share. Jobs come in the order in which this broker serves them.
 */
function chooseSlices(state: BrokerState, provider: BrokerProvider): Slice[] {
  const { horizon, unknownPerSlot } = state.options.lease;
  const slots = isDraining(provider) ? 0 : getSlots(state, provider);
  if (slots === 0) return [];
  const others = [...state.providers.values()].filter((other) => other !== provider);
  const jobs = [...state.openJobs.values()].filter((job) => job.status === 'running' && runsBeside(job));
  const purse: Purse = {
    countMax: getShare(state, jobs, provider),
    known: slots * horizon,
    unknown: slots * unknownPerSlot,
  };
  const slices: Slice[] = [];
  for (const job of jobs) {
    if (purse.countMax <= 0 || (purse.known <= 0 && purse.unknown <= 0)) break;
    slices.push(...chooseSlicesOf(job, others, purse));
  }
  return slices;
}

function chooseSlicesOf(job: BrokerJob, others: readonly BrokerProvider[], purse: Purse): Slice[] {
  const { times } = job;
  const kind = times.count === 0 ? 'unknown' : 'known';
  const slices: Slice[] = [];
  for (const group of job.groups.toReversed()) {
    // There may be thousands of groups behind those that are enough.
    if (purse.countMax <= 0 || purse[kind] <= 0) break;
    if (!isLeasable(job, group)) continue;
    const { processors } = group.queue;
    const cost = kind === 'unknown' ? processors : processors * Math.max(1, times.sum / times.count);
    const taskIndexes = chooseTasks(job, group, others, Math.min(purse.countMax, Math.ceil(purse[kind] / cost)));
    if (taskIndexes.length === 0) continue;
    slices.push({ job, group, taskIndexes });
    purse.countMax -= taskIndexes.length;
    purse[kind] -= taskIndexes.length * cost;
  }
  return slices;
}

/** How many of the ready tasks one of several providers may have, by their weights. */
function getShare(state: BrokerState, jobs: readonly BrokerJob[], provider: BrokerProvider): number {
  const sharers = [...state.providers.values()].filter((other) => takesWork(other) && other.takesLeases);
  const present = Math.max(...sharers.map(listProcessors));
  const weights = sharers.reduce((sum, other) => sum + getWeight(state, other, present), 0);
  const leasable = jobs.reduce((sum, job) => sum + countLeasable(state, job), 0);
  return Math.min(
    state.options.lease.replicasMax,
    Math.ceil((leasable * getWeight(state, provider, present)) / weights),
  );
}

/**
 * A provider counts by the processors that are there: a queue full of requests would leave those that work too little.
 * One that has none yet counts by
 * what it has asked for, but no more than the one that has most.
 */
function getWeight(state: BrokerState, provider: BrokerProvider, present: ProcessorCount): ProcessorCount {
  const own = listProcessors(provider);
  if (own > 0) return own;
  return present === 0 ? getSlots(state, provider) : Math.min(present, getSlots(state, provider));
}

function listProcessors(provider: BrokerProvider): ProcessorCount {
  let processors = 0;
  for (const { facts, processors: own } of provider.machines.values())
    if (facts.reservation === undefined) processors += own;
  return processors;
}

/** Processors that the provider has, or has asked for. */
function getSlots(state: BrokerState, provider: BrokerProvider): ProcessorCount {
  let slots = listProcessors(provider);
  for (const request of state.requests.values()) {
    if (
      request.providerId === provider.providerId &&
      request.reservation === undefined &&
      (request.status === 'queued' || request.status === 'submitting')
    )
      slots += request.width;
  }
  return slots;
}

function countLeasable(state: BrokerState, job: BrokerJob): number {
  const { replicasMax } = state.options.lease;
  let count = 0;
  // More than all providers can have need not be counted.
  if (job.runningMax !== undefined || job.spec?.memoryAuto === true) return 0;
  for (const queue of job.queues)
    if (!queue.noOp && !queue.isGang && queue.place === undefined && queue.grownFrom === undefined)
      count += Math.min(queue.ready.size, replicasMax * state.providers.size);
  return count;
}

/** Whether a task of the group is the same on every machine: the provider fills in nothing. */
function isLeasable(job: BrokerJob, { groupIndex, queue }: GroupSpan): boolean {
  // The broker must choose the machines of votes, and gather gangs. A task with an assigned provider runs only there.
  // While this broker is away, its limit of running tasks would not be enforced.
  // A lease states what a group asks for at first.
  if (job.runningMax !== undefined || job.spec?.memoryAuto === true) return false;
  if (queue.noOp || queue.isGang || queue.place !== undefined || queue.ready.size === 0 || isVotedOn(job)) return false;
  const { inputs, outputs } = getTaskGroup(job, groupIndex);
  const texts = [
    ...inputs.flatMap(({ path, source }) => (source.kind === 'path' ? [path, source.path] : [path])),
    ...outputs.map(({ path }) => path),
  ];
  return [...inputs, ...outputs].every(({ condition }) => condition === '') && !texts.some(isOfMachine);
}

/** Whether a path may hold variables of a machine: those of job and task are the same everywhere. */
function isOfMachine(path: string): boolean {
  return path.replaceAll('$JOB', '').replaceAll('$TASK', '').includes('$');
}

/** The last ready tasks of a group that no other provider has, and that nothing went wrong with; descending. */
function chooseTasks(job: BrokerJob, group: GroupSpan, others: readonly BrokerProvider[], countMax: number): number[] {
  const { ready } = group.queue;
  // A provider may also start tasks of its earlier leases that it has not confirmed to have dropped.
  const taken = others.flatMap(({ leases }) => leases.flatMap(({ tasksByJob }) => tasksByJob.get(job.jobId) ?? []));
  const chosen: number[] = [];
  let index = ready.findUpTo(group.firstTaskIndex + group.count - 1);
  while (index !== undefined && index >= group.firstTaskIndex && chosen.length < countMax) {
    if (isSound(job, index) && !taken.some((tasks) => tasks.has(index as number))) chosen.push(index);
    index = index === 0 ? undefined : ready.findUpTo(index - 1);
  }
  return chosen;
}
