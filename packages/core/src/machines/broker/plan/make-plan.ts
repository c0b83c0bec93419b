import type { Reason } from '../../../reasons/index.ts';
import type { Duration, Instant } from '../../../shared/index.ts';
import {
  chooseSchedule,
  type CostModel,
  gridPlanners,
  listEdges,
  type Placement,
  type SchedulingProblem,
  type Workflow,
} from '../../../workflow/index.ts';
import { avoidedUntil } from '../dispatch/avoidance.ts';
import { matchesQueue } from '../dispatch/matching.ts';
import { chooseWindow, type PlanWindow, type WindowTask } from './plan-window.ts';
import { layOutPlan } from './lay-out-plan.ts';
import { type Column, type Grounds, layGrounds } from './plan-grounds.ts';
import { keepsAway } from '../times/remaining-time.ts';
import type { BrokerMachine, GridPlan, TaskQueue } from '../state.ts';
import type { Turn } from '../turn.ts';

/** Limits the tasks that are planned in detail: offers of a processor to a task in all, and tasks in the window. */
const offersMax = 40_000;
const windowMin = 64;
const windowMax = 1024;
/**
 * What a message takes before its first byte, and bytes that are sent in a millisecond (1 Gbit/s), between machines.
 */
const startUp: Duration = 10;
const bytesPerMilli = 125_000;

/**
 * Plans all tasks that have not begun, of all jobs under a plan, on the present machines; running tasks stay until
 * their expected end.
 *
 * The tasks that come next are planned in detail, by each algorithm of `gridPlanners`, and the best plan is taken; the
 * rest counts by how long it still takes. Cost: O(`offersMax` x algorithms), whatever the number of tasks, and that of
 * choosing the window.
 *
 * @source moreira2009, 3.1: batch mode.
 */
export function makePlan(turn: Turn, machines: readonly BrokerMachine[], because: Reason): GridPlan {
  const { state, now } = turn;
  const { planning } = state;
  const grounds = layGrounds(planning, machines, now);
  const countMax = Math.max(
    windowMin,
    Math.min(windowMax, Math.floor(offersMax / Math.max(1, grounds.columns.length))),
  );
  const suits = new Suitability(turn, machines);
  const window = chooseWindow({ state, now, countMax, hasMachine: (queue) => suits.hasMachine(queue, grounds) });
  const schedule =
    grounds.columns.length === 0
      ? { scheduler: '', placements: [] }
      : chooseSchedule(getProblem(turn, window, { grounds, suits }), gridPlanners);
  return layOutPlan(turn, { window, grounds, because }, schedule);
}

/** Which machines tasks may go to. */
class Suitability {
  readonly #turn: Turn;
  readonly #machines: readonly BrokerMachine[];
  readonly #matches = new Map<TaskQueue, readonly boolean[]>();

  constructor(turn: Turn, machines: readonly BrokerMachine[]) {
    this.#turn = turn;
    this.#machines = machines;
  }

  hasMachine(queue: TaskQueue, { columns }: Grounds): boolean {
    const counts = new Map<number, number>();
    for (const { host } of columns) counts.set(host, (counts.get(host) ?? 0) + 1);
    return this.matchesOf(queue).some((isMatch, host) => isMatch && (counts.get(host) ?? 0) >= queue.processors);
  }

  matchesOf(queue: TaskQueue): readonly boolean[] {
    let matches = this.#matches.get(queue);
    if (matches === undefined)
      this.#matches.set(
        queue,
        (matches = this.#machines.map(
          (machine) => matchesQueue(queue, machine) && !keepsAway(this.#turn, queue, machine),
        )),
      );
    return matches;
  }

  /** The place of the machine that the task keeps away from; -1 where there is none. */
  avoidedBy({ job, queue, index }: WindowTask): number {
    const task = job.tasks.get(index);
    if (task === undefined || task.avoidMachineId === '') return -1;
    return this.#machines.findIndex((machine) => avoidedUntil(this.#turn, machine, { queue, task }) !== undefined);
  }
}

function getProblem(
  { now }: Turn,
  { tasks, edges }: PlanWindow,
  { grounds, suits }: { readonly grounds: Grounds; readonly suits: Suitability },
): SchedulingProblem {
  const { columns, machines } = grounds;
  const workflow: Workflow = {
    tasks: tasks.map(({ queue, index, time }) => ({
      id: String(index),
      work: time,
      exchange: 0,
      widthMin: queue.processors,
      widthMax: queue.processors,
    })),
    edges: edges.map((edge) => ({ ...edge, share: 0 })),
    ...listEdges(tasks.length, edges),
    order: tasks.map((_, place) => place),
  };
  return {
    workflow,
    costs: costsOf({ tasks, edges }, grounds, suits),
    now,
    availableFrom: columns.map(({ freeAt }) => freeAt),
    releasedAt: tasks.map(() => now),
    fixed: tasks.map((task, place) => getFixed(task, { place, columns, now })),
    after: tasks.map(({ after }) => after),
    availableUntil: columns.map(({ host }) => machines[host]?.facts.until ?? Infinity),
    machineOf: columns.map(({ host }) => host),
  };
}

function getFixed(
  { runs }: WindowTask,
  { place, columns, now }: { readonly place: number; readonly columns: readonly Column[]; readonly now: Instant },
): Placement | undefined {
  if (runs === undefined) return undefined;
  const processors = columns.flatMap(({ replica }, column) =>
    replica !== undefined && replica === runs.replica ? [column] : [],
  );
  return {
    task: place,
    processors,
    start: now,
    end: runs.end,
    reason: { rule: 'fixed', heldBy: 'arrival', behind: undefined, runnerUp: undefined },
  };
}

/** Times by machine; a task takes for ever where it may not go, or on processors of two machines. */
function costsOf(
  { tasks, edges }: Pick<PlanWindow, 'tasks' | 'edges'>,
  { columns, factors, machines }: Grounds,
  suits: Suitability,
): CostModel {
  const hosts = columns.map(({ host }) => host);
  const matches = tasks.map(({ queue, runs }) => (runs === undefined ? suits.matchesOf(queue) : []));
  const avoided = tasks.map((task) => (task.runs === undefined ? suits.avoidedBy(task) : -1));
  const runsOn = tasks.map(({ runs }) => (runs?.machine === undefined ? -1 : machines.indexOf(runs.machine)));
  const meanFactor = hosts.reduce((sum, host) => sum + (factors[host] as number), 0) / hosts.length;
  const getHost = (processors: readonly number[]): number => hosts[processors[0] as number] ?? -1;
  const transfers = edges.map(({ data }) => (data === 0 ? 0 : startUp + data / bytesPerMilli));
  return {
    time: (task, processors) => {
      const host = getHost(processors);
      if (matches[task]?.[host] !== true || avoided[task] === host) return Infinity;
      for (let at = 1; at < processors.length; at++) if (hosts[processors[at] as number] !== host) return Infinity;
      return Math.ceil((tasks[task] as WindowTask).time * (factors[host] as number));
    },
    transfer: (edge, sender, receivers) => {
      const time = transfers[edge] as number;
      if (time === 0) return 0;
      const from =
        sender.processors.length > 0 ? getHost(sender.processors) : runsOn[(edges[edge] as { from: number }).from];
      return from === getHost(receivers) ? 0 : time;
    },
    meanTime: (task) => (tasks[task] as WindowTask).time * meanFactor,
    meanTransfer: (edge) => transfers[edge] as number,
    capacity: (processor) => 1 / (factors[hosts[processor] as number] as number),
  };
}
