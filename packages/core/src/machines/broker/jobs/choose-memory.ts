import { emptyRequest } from '../../../resources/index.ts';
import type { Bytes } from '../../../shared/index.ts';
import type { BrokerJob, BrokerState } from '../state.ts';
import { bytesOfMemoryUnits } from '../times/observe-memory.ts';
import { commit, type Turn } from '../turn.ts';
import { findMostMemory } from './grow-memory.ts';
import { asksForMemory } from './task-groups.ts';

/** Tasks that must have ended well before their memory is chosen by what they used. */
export const measuredMin = 5;
/** The share of them that would have had enough. */
export const enoughShare = 0.95;
/** Beyond what that share used, since samples miss some, in parts of it. */
const margin = 1.1;
const step: Bytes = 64 * 2 ** 20;

/**
 * Chooses what the tasks of jobs ask for whose memory is chosen by what earlier ones used: at first what their spec
 * says to start with, and from `measuredMin` good ends on what `enoughShare` of them used at most, with a margin;
 * never more than a machine has. It falls only by a quarter or more, so that requests do not change with every end.
 *
 * Cost: O(machines) for each such job, in turns in which a replica ended or a machine may have come.
 */
export function chooseMemories(turn: Turn): void {
  const { state, now } = turn;
  if (!turn.mayChangeDemand && !turn.changes.some(({ kind }) => kind === 'ReplicasEnded')) return;
  for (const job of state.openJobs.values()) {
    const present = getAsked(job);
    if (present === undefined) continue;
    const memory = chooseMemory(state, job);
    if (memory > present || memory <= 0.75 * present)
      commit(turn, { kind: 'MemoryChosen', jobId: job.jobId, memory, at: now });
  }
}

/** What tasks of a job ask for now, that were not given more; undefined where that is not chosen for them. */
export function getAsked({ spec, status, queues, chosenMemory }: BrokerJob): Bytes | undefined {
  if (spec?.memoryAuto !== true || status !== 'running') return undefined;
  return chosenMemory ?? queues.find(({ resources }) => asksForMemory(resources))?.resources?.memory;
}

/** By what the job's tasks used, or else by what its spec says. */
function chooseMemory(state: BrokerState, job: BrokerJob): Bytes {
  const groups = job.groups.filter(({ queue }) => asksForMemory(queue.resources));
  const queues = [...new Set(groups.map(({ queue }) => queue))];
  const possible = queues.map((queue) => findMostMemory(state, queue, queue.resources ?? emptyRequest));
  const most = Math.min(Infinity, ...possible.filter((memory) => memory > 0));
  return Math.min(findEnough(job) ?? findStart(job), most);
}

/** The most that the job's spec says to start with. */
function findStart({ spec }: BrokerJob): Bytes {
  return spec === undefined
    ? 0
    : spec.groups.reduce((most, group) => Math.max(most, (group.resources ?? spec.resources)?.memory ?? 0), 0);
}

/** What nearly all tasks of a job use at most; undefined before enough of them were measured. */
function findEnough({ memoryPeaks }: BrokerJob): Bytes | undefined {
  if (memoryPeaks.count < measuredMin) return undefined;
  const used = memoryPeaks.quantile(enoughShare) ?? memoryPeaks.longest;
  return Math.max(step, Math.ceil((bytesOfMemoryUnits(used) * margin) / step) * step);
}
