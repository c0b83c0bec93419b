import type { ResourceLimits } from '../messages/index.ts';
import type { Reason } from '../reasons/index.ts';
import type { Duration, ProcessorCount } from '../shared/index.ts';
import type { RequestFacts } from './heuristic.ts';

/** Request slots that are free: maxPR - |M^p|. */
export function getFreeSlots({ limits, pending }: RequestFacts): number {
  return limits.requestsMax - pending.length;
}

/** The tasks to ask processors for: |T^p|, and no more than have no place where that is known. */
export function tasksWithoutSlot({ demand: { pendingTasks, unplacedTasks } }: RequestFacts): number {
  return Math.min(pendingTasks, unplacedTasks ?? pendingTasks);
}

/**
 * Whether requests are limited to what those tasks need; the source does not know their number, and fills every slot.
 */
export function isBounded({ demand }: RequestFacts): boolean {
  return demand.unplacedTasks !== undefined;
}

/** Why nothing can be requested with any heuristic; undefined if something can. */
export function findObstacle(facts: RequestFacts): Reason | undefined {
  const { limits, demand, pending } = facts;
  if (demand.pendingTasks === 0) return { code: 'no-pending-tasks' };
  if (tasksWithoutSlot(facts) === 0) return { code: 'all-tasks-have-slots' };
  if (getFreeSlots(facts) <= 0)
    return { code: 'request-slots-taken', slots: limits.requestsMax, pendingRequests: pending.length };
  if (demand.processors > limits.widthMax) {
    return {
      code: 'task-too-wide',
      taskProcessors: demand.processors,
      requestProcessorsMax: limits.widthMax,
    };
  }
  if (longestWalltime(limits) === 0) {
    return {
      code: 'walltime-below-granularity',
      walltimeMsMax: limits.walltimeMax,
      granularityMs: limits.walltimeGranularity,
    };
  }
  return undefined;
}

/** maxT_r, as a whole number of grains. */
export function longestWalltime({ walltimeMax, walltimeGranularity }: ResourceLimits): Duration {
  return Math.floor(walltimeMax / walltimeGranularity) * walltimeGranularity;
}

/** Tasks that the widest request runs at once; 1 or more where there is no obstacle. */
export function getLanesMax({ limits, demand }: RequestFacts): number {
  return lanesIn(limits.widthMax, demand.processors);
}

/** Tasks of `perTask` processors that run at once on `width`. */
export function lanesIn(width: ProcessorCount, perTask: ProcessorCount): number {
  return Math.floor(width / perTask);
}
