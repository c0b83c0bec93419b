import { cpop } from './cpop.ts';
import { heft } from './heft.ts';
import { hlfet } from './hlfet.ts';
import { hpts, ihpts } from './hpts.ts';
import type { Schedule } from './schedule.ts';
import type { SchedulingProblem, WorkflowScheduler } from './scheduling-problem.ts';

/** What `auto` chooses among, in the order in which equal ones are preferred. */
export const candidates: readonly WorkflowScheduler[] = [heft, cpop, ihpts, hpts];

/** The planners of a live grid. `hlfet` stands for having no plan, so that a plan is never worse than none. */
export const gridPlanners: readonly WorkflowScheduler[] = [heft, hlfet, cpop, ihpts, hpts];

/**
 * Schedules with each algorithm and takes the schedule that ends first, including the time after its tasks; of those
 * that leave tasks without a place, one that leaves the fewest.
 *
 * @param schedulers one or more; of equal ones the first is taken. Cost: that of all of them.
 */
export function chooseSchedule(problem: SchedulingProblem, schedulers: readonly WorkflowScheduler[]): Schedule {
  let best: { readonly schedule: Schedule; readonly worth: Worth } | undefined;
  for (const scheduler of schedulers) {
    const schedule = scheduler.schedule(problem);
    const worth = getWorth(problem, schedule);
    if (best === undefined || isBetter(worth, best.worth)) best = { schedule, worth };
  }
  return best?.schedule ?? { scheduler: '', placements: [] };
}

interface Worth {
  readonly unplacedCount: number;
  /** The last end of the placed tasks, with what comes after them. */
  readonly end: number;
}

function getWorth({ after }: SchedulingProblem, { placements }: Schedule): Worth {
  let [unplacedCount, last] = [0, -Infinity];
  for (const [task, { end }] of placements.entries()) {
    if (end === Infinity) unplacedCount += 1;
    else last = Math.max(last, end + (after?.[task] ?? 0));
  }
  return { unplacedCount, end: last };
}

function isBetter(one: Worth, other: Worth): boolean {
  return one.unplacedCount < other.unplacedCount || (one.unplacedCount === other.unplacedCount && one.end < other.end);
}

/**
 * Schedules with each candidate and takes the schedule that ends first: the choice of the algorithm by context that
 * moreira2009 names as future work (6.2).
 *
 * The choice is made again at each decision, by what is planned then. Cost: that of all candidates.
 */
export const auto: WorkflowScheduler = {
  name: 'auto',
  schedule(problem) {
    const { scheduler, placements } = chooseSchedule(problem, candidates);
    return { scheduler: `auto: ${scheduler}`, placements };
  },
};

/** All algorithms by name, `auto` last. */
export const workflowSchedulers: readonly WorkflowScheduler[] = [...candidates, auto];
