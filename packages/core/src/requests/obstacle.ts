import type { ResourceLimits } from '../messages/index.ts';
import { describeExactTime, plural, type Duration, type ProcessorCount } from '../shared/index.ts';
import type { RequestFacts } from './heuristic.ts';

/** Request slots that are free: maxPR - |M^p|. */
export function getFreeSlots({ limits, pending }: RequestFacts): number {
  return limits.requestsMax - pending.length;
}

/** The tasks to ask processors for: |T^p|, and no more than have no place where that is known. */
export function tasksToPlace({ demand: { pendingTasks, unplacedTasks } }: RequestFacts): number {
  return Math.min(pendingTasks, unplacedTasks ?? pendingTasks);
}

/** Whether no more is to be asked for than those tasks need; the source does not know them, and fills every slot. */
export function isBounded({ demand }: RequestFacts): boolean {
  return demand.unplacedTasks !== undefined;
}

/** `3 pending tasks`, or `3 tasks without a place`. */
export function describeTasks(facts: RequestFacts): string {
  const {
    demand: { pendingTasks },
  } = facts;
  const count = tasksToPlace(facts);
  return count === pendingTasks ? plural(count, 'pending task') : `${plural(count, 'task')} without a place`;
}

/** Why nothing can be asked for, whatever the heuristic; undefined where something can. */
export function findObstacle(facts: RequestFacts): string | undefined {
  const { limits, demand, pending } = facts;
  if (demand.pendingTasks === 0) return 'No task is pending.';
  if (tasksToPlace(facts) === 0) return 'Every pending task has a place on what is there or asked for.';
  if (getFreeSlots(facts) <= 0)
    return `Every request slot is taken: ${limits.requestsMax} allowed, ${pending.length} pending.`;
  if (demand.processors > limits.widthMax) {
    return (
      `A task needs ${plural(demand.processors, 'processor')} and the resource gives at most ${limits.widthMax} ` +
      'to one request.'
    );
  }
  if (longestWalltime(limits) === 0) {
    return (
      `The longest walltime, ${describeExactTime(limits.walltimeMax)}, is below the resource's granularity of ` +
      `${describeExactTime(limits.walltimeGranularity)}.`
    );
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
