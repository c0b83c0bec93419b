import { cpop } from './cpop.ts';
import { heft } from './heft.ts';
import { hpts, ihpts } from './hpts.ts';
import { lastEndOf, type Schedule } from './schedule.ts';
import type { WorkflowScheduler } from './scheduling-problem.ts';

/** What `auto` chooses among, in the order in which equal ones are preferred. */
export const candidates: readonly WorkflowScheduler[] = [heft, cpop, ihpts, hpts];

/**
 * Schedules with each candidate and takes the schedule that ends first: the choice of the algorithm by context that moreira2009 names as future work (6.2).
 *
 * The choice is made anew at each decision, by what is planned then. Cost: that of all candidates.
 */
export const auto: WorkflowScheduler = {
  name: 'auto',
  schedule(problem) {
    let best: Schedule | undefined;
    for (const candidate of candidates) {
      const schedule = candidate.schedule(problem);
      if (best === undefined || lastEndOf(schedule) < lastEndOf(best)) best = schedule;
    }
    return { scheduler: `auto: ${best?.scheduler ?? ''}`, placements: best?.placements ?? [] };
  },
};

/** All algorithms by name, `auto` last. */
export const workflowSchedulers: readonly WorkflowScheduler[] = [...candidates, auto];
