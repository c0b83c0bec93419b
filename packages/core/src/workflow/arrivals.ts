import { invariant, type Instant, type ProcessorCount } from '../shared/index.ts';
import { isSamePlace, type CostModel } from './cost-model.ts';
import { sortByCapacity } from './measures.ts';
import { getLastEnd, type Placement, type Schedule } from './schedule.ts';
import { freshProblem, type WorkflowScheduler } from './scheduling-problem.ts';
import { listEdges, sortTasks, type Workflow, type WorkflowEdge } from './workflow.ts';

/** A job that arrives while others run. */
export interface Arrival {
  readonly workflow: Workflow;
  readonly at: Instant;
}

/** The machines that jobs arrive at, and how they are scheduled. */
export interface ArrivalSetup {
  readonly scheduler: WorkflowScheduler;
  readonly processorCount: ProcessorCount;
  /** Costs of the tasks of a workflow on these machines. */
  readonly costsOf: (workflow: Workflow) => CostModel;
}

/** What became of all jobs: their joined workflow, and when its tasks ran. */
export interface ArrivalResult {
  readonly workflow: Workflow;
  readonly schedule: Schedule;
}

/**
 * Joins workflows to the main one, in which no edge leads from one to another; tasks and edges keep their order. An
 * entry task for all, which the source draws, is not
 * needed: nothing waits for it.
 */
export function joinWorkflows(workflows: readonly Workflow[]): Workflow {
  const tasks = workflows.flatMap((workflow) => workflow.tasks);
  let offset = 0;
  const edges = workflows.flatMap((workflow) => {
    const before = offset;
    offset += workflow.tasks.length;
    return workflow.edges.map((edge) => ({ ...edge, from: edge.from + before, to: edge.to + before }));
  });
  const lists = listEdges(tasks.length, edges);
  return { tasks, edges, ...lists, order: sortTasks({ edges, ...lists }) };
}

/**
 * Runs the dynamic method over jobs that arrive, with tasks that take their expected time.
 *
 * In batch mode, all tasks that have not begun are scheduled again with each arrival; in immediate mode only the
 * newcomer is, around the promised ones. Running tasks stay.
 *
 * @param arrivals by instant, ascending.
 * @source moreira2009, 3.1 and 2.2.2. Departs from the source: it does not say where the data of an ended task is when
 *   its receiver is planned again; here it is where the receiver was planned before, and must be transferred again to
 *   any other place.
 */
export function scheduleArrivals(
  arrivals: readonly Arrival[],
  mode: 'batch' | 'immediate',
  setup: ArrivalSetup,
): ArrivalResult {
  let plan: Plan = { placements: [], since: [] };
  let [workflow, made] = [joinWorkflows([]), setup.scheduler.name];
  for (const [index, { at }] of arrivals.entries()) {
    const present = arrivals.slice(0, index + 1);
    workflow = joinWorkflows(present.map((arrival) => arrival.workflow));
    const fixed = workflow.tasks.map((_, task) => {
      const placement = plan.placements[task];
      return placement !== undefined && (mode === 'immediate' || placement.start < at) ? placement : undefined;
    });
    const releasedAt = present.flatMap((arrival) => arrival.workflow.tasks.map(() => arrival.at));
    const costs = sentAlready(setup.costsOf(workflow), workflow, plan, at);
    const problem = { ...freshProblem(workflow, costs, setup.processorCount), now: at, releasedAt, fixed };
    const { placements, scheduler } = setup.scheduler.schedule(problem);
    plan = {
      placements,
      since: placements.map(({ processors }, task) =>
        isSamePlace(plan.placements[task]?.processors ?? [], processors) ? (plan.since[task] as Instant) : at,
      ),
    };
    made = scheduler;
  }
  return { workflow, schedule: { scheduler: made, placements: plan.placements } };
}

/** Where tasks were planned to run when the next job arrived, and since when. */
interface Plan {
  readonly placements: readonly Placement[];
  /** By index of the task: since when its inputs are sent to its planned place. */
  readonly since: readonly Instant[];
}

/**
 * Costs at an instant: the data of ended tasks was sent to the planned place of the receiver; to another place it is
 * sent from this instant on.
 */
function sentAlready(costs: CostModel, { edges }: Workflow, { placements, since }: Plan, now: Instant): CostModel {
  return {
    ...costs,
    transfer: (edge, sender, receivers) => {
      const { to } = edges[edge] as WorkflowEdge;
      const time = costs.transfer(edge, sender, receivers);
      const planned = placements[to];
      const isThere = planned !== undefined && (receivers.length === 0 || isSamePlace(planned.processors, receivers));
      return time === 0 ? 0 : time + Math.max(0, (isThere ? (since[to] as Instant) : now) - sender.end);
    },
  };
}

/**
 * Gives each job `width` processors for itself until its last task has ended, first come, first served: those that are
 * free first, of equal ones the fastest. With one processor this is moreira2009's 1J-1P.
 *
 * @param width at most the number of processors. @param arrivals by instant, ascending.
 * @source moreira2009, 5.3, the approaches that the dynamic method is compared with.
 */
export function scheduleExclusively(
  arrivals: readonly Arrival[],
  width: ProcessorCount,
  setup: ArrivalSetup,
): ArrivalResult {
  const { processorCount, scheduler, costsOf } = setup;
  invariant(width >= 1 && width <= processorCount, `${width} of ${processorCount} processors for each job`);
  const freeAt = new Array<Instant>(processorCount).fill(0);
  const placements: Placement[] = [];
  for (const { workflow, at } of arrivals) {
    const problem = freshProblem(workflow, costsOf(workflow), processorCount);
    const first = sortByCapacity(problem.costs, processorCount).sort(
      (one, other) => Math.max(at, freeAt[one] as number) - Math.max(at, freeAt[other] as number),
    );
    const chosen = first.slice(0, width);
    const now = chosen.reduce((latest, processor) => Math.max(latest, freeAt[processor] as number), at);
    const availableFrom = freeAt.map((_, processor) => (chosen.includes(processor) ? now : Infinity));
    const schedule = scheduler.schedule({ ...problem, now, availableFrom, releasedAt: workflow.tasks.map(() => at) });
    for (const processor of chosen) freeAt[processor] = getLastEnd(schedule);
    const offset = placements.length;
    placements.push(
      ...schedule.placements.map((placement) => ({
        ...placement,
        task: placement.task + offset,
        reason: {
          ...placement.reason,
          behind: placement.reason.behind === undefined ? undefined : placement.reason.behind + offset,
        },
      })),
    );
  }
  return {
    workflow: joinWorkflows(arrivals.map(({ workflow }) => workflow)),
    schedule: { scheduler: `${scheduler.name} on ${width}`, placements },
  };
}
