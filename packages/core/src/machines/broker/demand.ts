import type { AllocationRequest, Demand } from '../../messages/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import { countEnded } from './end-jobs.ts';
import type { BrokerJob, BrokerProvider, BrokerState } from './state.ts';
import { type Turn, wakeBy } from './turn.ts';

/** Tells each connected provider what is wanted of it, where that changed and it was not told a moment ago. */
export function setDemands(turn: Turn): void {
  const { state, now } = turn;
  const total = totalDemand(state);
  for (const provider of state.providers.values()) {
    if (!provider.isConnected) continue;
    const demand = { ...total, pendingTasks: pendingFor(state, provider, total) };
    if (provider.demand !== undefined && isSameDemand(provider.demand, demand)) continue;
    const due = provider.demandAt + state.options.demandInterval;
    if (provider.demand !== undefined && isBothOrNeither(provider.demand, demand) && due > now) {
      wakeBy(turn, due);
      continue;
    }
    provider.demand = demand;
    provider.demandAt = now;
    turn.commands.push({ kind: 'SetDemand', providerId: provider.providerId, demand });
  }
}

/** Demand from nothing to something, or back, is told at once. */
function isBothOrNeither(one: Demand, other: Demand): boolean {
  return (one.pendingTasks === 0) === (other.pendingTasks === 0);
}

function isSameDemand(one: Demand, other: Demand): boolean {
  return one.pendingTasks === other.pendingTasks && one.processors === other.processors && one.taskTimeMax === other.taskTimeMax
    && one.taskTimeMean === other.taskTimeMean && one.deadline === other.deadline && one.userId === other.userId;
}

/**
 * What the open jobs want of all providers together.
 *
 * A demand speaks of tasks of one width: those of the narrowest are told, so that a job of wide tasks makes nobody ask for more
 * of what the narrow ones need; the wide ones are told when those are done.
 */
export function totalDemand(state: BrokerState): Demand {
  let pendingTasks = 0;
  const processors = narrowestWidth(state);
  let deadline: Instant | undefined;
  let userId = '';
  const times = { count: 0, sum: 0, longest: 0 };
  for (const job of state.openJobs.values()) {
    if (job.processors !== processors) continue;
    pendingTasks += countPending(job);
    if (job.deadline !== undefined) deadline = Math.min(deadline ?? job.deadline, job.deadline);
    if (userId === '') ({ userId } = job);
    times.count += job.times.count;
    times.sum += job.times.sum;
    times.longest = Math.max(times.longest, job.times.longest);
  }
  return {
    pendingTasks, processors, deadline, userId,
    taskTimeMax: times.count === 0 ? undefined : times.longest,
    taskTimeMean: times.count === 0 ? undefined : Math.ceil(times.sum / times.count),
  };
}

/** Processors that a task of the narrowest job wants; 1 where no job wants a machine. */
function narrowestWidth(state: BrokerState): ProcessorCount {
  let narrowest = Infinity;
  for (const job of state.openJobs.values()) if (countPending(job) > 0) narrowest = Math.min(narrowest, job.processors);
  return narrowest === Infinity ? 1 : narrowest;
}

/** Tasks of a job that want a machine: those of a cancelled one only have to be stopped. */
function countPending(job: BrokerJob): number {
  return job.status === 'running' ? job.taskCount - countEnded(job) : 0;
}

/**
 * What is left for one provider when what the others have and will have does its part.
 *
 * Others' machines count, and their queued requests as far as this broker heard of them before any of this one's: were all counted,
 * two providers would take turns in giving way to each other. Not the instants decide that they state: were a new request, by a clock
 * that was set, before one that waits, its provider would give it up and ask again without end. A provider's demand covers the tasks
 * that it runs.
 */
function pendingFor(state: BrokerState, provider: BrokerProvider, total: Demand): number {
  if (total.pendingTasks === 0) return 0;
  const ownFirst = firstWaiting(state, provider);
  let elsewhere = 0;
  for (const other of state.providers.values()) {
    if (other !== provider) elsewhere += coverOf(state, other, { before: ownFirst, processors: total.processors });
  }
  return Math.max(Math.min(countRunning(provider), total.pendingTasks), total.pendingTasks - elsewhere);
}

/** Replicas that provide for open tasks on the provider's machines, at most one per slot. */
function countRunning(provider: BrokerProvider): number {
  let running = 0;
  for (const machine of provider.machines.values()) {
    for (const replica of machine.replicas.values()) if (replica.status !== 'aborting') running++;
  }
  return running;
}

/** A provider's first request that waits, or is about to, in the order in which this broker heard of them; undefined without one. */
function firstWaiting(state: BrokerState, { providerId }: BrokerProvider): AllocationRequest | undefined {
  for (const request of state.requests.values()) {
    if (request.providerId === providerId && (isQueued(request) || request.status === 'submitting')) return request;
  }
  return undefined;
}

function isQueued(request: AllocationRequest): boolean {
  return request.status === 'queued';
}

/**
 * Tasks that a provider's machines and running requests can hold at once, and its requests that are queued before that place.
 *
 * One that is away gets nothing new, so it covers no more than what runs there: its machines may never come back.
 */
function coverOf(
  state: BrokerState, provider: BrokerProvider, { before, processors }: { readonly before: AllocationRequest | undefined; readonly processors: number },
): number {
  if (!provider.isConnected) return countRunning(provider);
  let held = 0;
  for (const machine of provider.machines.values()) {
    if (machine.facts.requestId === '') held += Math.floor(machine.processors / processors);
  }
  let isBefore = true;
  for (const request of state.requests.values()) {
    if (request === before) isBefore = false;
    if (request.providerId !== provider.providerId) continue;
    const counts = request.status === 'running' || (isQueued(request) && isBefore);
    if (counts) held += Math.floor(request.width / processors);
  }
  return held;
}
