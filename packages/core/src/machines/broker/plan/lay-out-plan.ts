import type { Reason } from '../../../reasons/index.ts';
import { type Duration, type Instant, invariant, type TaskIndex } from '../../../shared/index.ts';
import type { Placement, Schedule } from '../../../workflow/index.ts';
import type { Grounds } from './plan-grounds.ts';
import type { PlanWindow, WindowTask } from './plan-window.ts';
import { canBePlanned } from './planned-times.ts';
import type { BrokerJob, BrokerMachine, BrokerState, GridPlan, PlannedTask, TaskQueue } from '../state.ts';
import type { Turn } from '../turn.ts';

/**
 * Planning must take only a small share of the broker's time: an offer costs about a microsecond with each algorithm,
 * and this time passes for each of them before the next plan.
 */
const restPerOffer: Duration = 0.02;

/** What a schedule was made of. */
export interface Drawn {
  readonly window: PlanWindow;
  readonly grounds: Grounds;
  readonly because: Reason;
}

/** Writes a schedule down as a plan that can be followed and explained. Cost: O(tasks log tasks). */
export function layOutPlan(turn: Turn, drawn: Drawn, schedule: Schedule): GridPlan {
  const {
    window,
    grounds: { machines, columns },
    because,
  } = drawn;
  const lists: PlanLists = { lanes: new Map(), tasks: new Map(), unplaced: new Map(), ends: new Map() };
  for (const [place, task] of window.tasks.entries()) {
    const end = task.runs?.end ?? addTask({ drawn, lists }, { task, placement: schedule.placements[place] });
    if (end < Infinity) lists.ends.set(task.job, Math.max(lists.ends.get(task.job) ?? 0, end + wayAfter(turn, task)));
  }
  for (const lane of lists.lanes.values()) lane.sort((one, other) => one.start - other.start);
  let leftCount = 0;
  for (const lane of lists.lanes.values()) leftCount += lane.length;
  return {
    ...lists,
    madeAt: turn.now,
    because,
    scheduler: schedule.scheduler,
    machines,
    queues: plannedQueues(turn.state),
    leftCount,
    leftMin: window.isPartial ? Math.floor(leftCount / 2) : 0,
    notBefore: Math.ceil(turn.now + window.tasks.length * columns.length * restPerOffer),
  };
}

interface PlanLists {
  readonly lanes: Map<BrokerMachine, PlannedTask[]>;
  readonly tasks: Map<BrokerJob, Map<TaskIndex, PlannedTask>>;
  readonly unplaced: Map<BrokerJob, Set<TaskIndex>>;
  readonly ends: Map<BrokerJob, Instant>;
}

/** Notes the place of a task that has not begun; answers when it ends, Infinity without a place. */
function addTask(
  { drawn, lists }: { readonly drawn: Drawn; readonly lists: PlanLists },
  { task, placement }: { readonly task: WindowTask; readonly placement: Placement | undefined },
): Instant {
  const { job, index } = task;
  if (placement === undefined || placement.end === Infinity) {
    lists.unplaced.set(job, (lists.unplaced.get(job) ?? new Set()).add(index));
    return Infinity;
  }
  const planned = describe(drawn, placement);
  const lane = lists.lanes.get(planned.machine) ?? [];
  lists.lanes.set(planned.machine, lane);
  lane.push(planned);
  const tasks = lists.tasks.get(job) ?? new Map<TaskIndex, PlannedTask>();
  lists.tasks.set(job, tasks.set(index, planned));
  return placement.end;
}

function plannedQueues(state: BrokerState): Set<TaskQueue> {
  const queues = new Set<TaskQueue>();
  for (const job of state.openJobs.values())
    for (const queue of job.queues) if (canBePlanned(state, queue)) queues.add(queue);
  return queues;
}

/** What comes after a task beyond the window. */
function wayAfter({ now }: Turn, { job, after, runs }: WindowTask): Duration {
  return runs === undefined ? Math.max(0, after - Math.max(0, now - job.submittedAt)) : 0;
}

function describe(
  { window: { tasks }, grounds: { columns, machines } }: Drawn,
  { task, processors, start, end, reason }: Placement,
): PlannedTask {
  const machineAt = (processor: number | undefined): BrokerMachine => {
    const machine = machines[columns[processor ?? -1]?.host ?? -1];
    invariant(machine !== undefined, `a task is planned on processor ${processor ?? -1}, which is none`);
    return machine;
  };
  const { queue, index } = tasks[task] as WindowTask;
  const behind = reason.behind === undefined ? undefined : tasks[reason.behind];
  const { runnerUp } = reason;
  return {
    queue,
    index,
    machine: machineAt(processors[0]),
    start,
    end,
    rule: reason.rule,
    heldBy: reason.heldBy,
    behind,
    runnerUp:
      runnerUp === undefined || runnerUp.end === Infinity
        ? undefined
        : { machine: machineAt(runnerUp.processor), end: runnerUp.end },
  };
}
