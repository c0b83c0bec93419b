import type { Demand } from '../../messages/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import { countEnded } from './end-jobs.ts';
import { splitDemand } from './split-demand.ts';
import type { BrokerJob, BrokerState } from './state.ts';
import { type Turn, wakeBy } from './turn.ts';
import { countRunsMissing } from './votes.ts';

/** Tells each connected provider what is wanted of it, where that changed and it was not told a moment ago. */
export function setDemands(turn: Turn): void {
  const { state, now } = turn;
  const total = totalDemand(state);
  const parts = splitDemand(turn, total);
  for (const provider of state.providers.values()) {
    if (!provider.isConnected) continue;
    const demand = { ...total, pendingTasks: parts.get(provider) ?? 0 };
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
    pendingTasks += countPending(job) + countRunsMissing(state, job);
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
