import { type Duration, invariant, type TaskIndex } from '../shared/index.ts';
import { type BagMachine, type BagQueue, countStartable, freeProcessors } from './bag.ts';
import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler, SchedulingPort } from './scheduler.ts';

/** Tasks that are mapped together; those behind them are mapped after them. */
export const mappedTasksMax = 64;
/** Machines that a queue is mapped to, those with free processors first; the others wait for the next decision. */
export const mappedMachinesMax = 256;

/**
 * Maps the ready task that would end first to the machine where it does, and so on.
 *
 * Cost: O(`mappedTasksMax`^2 x `mappedMachinesMax`) for each window of tasks, since each assignment makes every
 * remaining task look at every machine again: half a million ends at most. There are enough windows for all free
 * processors.
 *
 * @source Maheswaran et al., "Dynamic mapping of a class of independent tasks onto heterogeneous computing systems"
 *   (1999), Min-min.
 * Departs from the source: tasks are mapped in windows, only those whose machine is free are dispatched, and the others
 * are mapped again at the next decision. Without estimates, and where tasks are so short that they wait at machines, it
 * is a workqueue.
 */
export const minMin: BagScheduler = {
  name: 'min-min',
  replication: 'none',
  dispatch: (machines, queues, port) => mapQueues(machines, queues, port, (best) => -best),
};

/**
 * Maps the ready task that loses most when its best machine goes to another.
 *
 * Cost: as min-min.
 *
 * @source Maheswaran et al. (1999), Sufferage: the difference between the second-earliest completion time of a task and
 * its earliest.
 * Departs from the source: as min-min does; and one task is mapped at a time, so that none is taken back from a
 * machine.
 */
export const sufferage: BagScheduler = {
  name: 'sufferage',
  replication: 'none',
  dispatch: (machines, queues, port) => mapQueues(machines, queues, port, (best, second) => second - best),
};

/**
 * How urgently a task needs a machine, from its earliest and second-earliest end (Infinity without a second machine).
 */
type Urgency = (best: Duration, second: Duration) => number;

function mapQueues<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  port: SchedulingPort<Machine, Queue>,
  urgency: Urgency,
): ReadonlySet<Machine> {
  const kept = new Set<Machine>();
  for (const queue of queues) {
    if (queue.readyCount === 0) continue;
    const open = machines.filter((machine) => !kept.has(machine) && port.matches(queue, machine));
    const mapping = isEstimated(queue, open, port) ? new Mapping(queue, open, port) : undefined;
    for (const machine of mapping?.run(urgency) ?? dispatchReady(open, [queue], port)) kept.add(machine);
  }
  return kept;
}

/** Whether there is anything to map by, and machines keep no queue of such tasks. */
function isEstimated<Machine extends BagMachine, Queue extends BagQueue>(
  queue: Queue,
  machines: readonly Machine[],
  port: SchedulingPort<Machine, Queue>,
): boolean {
  const [machine] = machines;
  const [task] = port.readyTasks(queue, 0, 1);
  if (machine === undefined || task === undefined || port.taskTime(queue, task, machine) === undefined) return false;
  return !machines.some((other) => port.prefetchDepth(queue, other) > 0);
}

/** A machine while tasks are mapped to it. */
interface Column<Machine> {
  readonly machine: Machine;
  /** In how long its dispatches are free, what was mapped to it included; ascending. */
  readonly waits: Duration[];
  readonly timeLeft: Duration;
  readonly placed: TaskIndex[];
}

/** A task while it is mapped. */
interface Row<Machine> {
  readonly task: TaskIndex;
  /** Run times by the columns' dispatches; Infinity where it may not go. */
  readonly times: readonly Duration[];
  best: Column<Machine> | undefined;
  bestEnd: Duration;
  secondEnd: Duration;
}

/** The mapping of one queue's tasks. */
class Mapping<Machine extends BagMachine, Queue extends BagQueue> {
  readonly #queue: Queue;
  readonly #port: SchedulingPort<Machine, Queue>;
  readonly #columns: readonly Column<Machine>[];
  readonly #kept = new Set<Machine>();

  constructor(queue: Queue, machines: readonly Machine[], port: SchedulingPort<Machine, Queue>) {
    this.#queue = queue;
    this.#port = port;
    const isFree = (machine: Machine): boolean => countStartable(machine, queue) > 0;
    const free = machines.filter(isFree).slice(0, mappedMachinesMax);
    const busy = machines.filter((machine) => !isFree(machine)).slice(0, mappedMachinesMax - free.length);
    this.#columns = [...free, ...busy].map((machine) => ({
      machine,
      waits: [...port.waits(queue, machine)],
      timeLeft: port.timeLeft(queue, machine),
      placed: [],
    }));
  }

  /**
   * Maps window after window while a place is free. @returns machines that are kept for a task that is too wide for
   * what is free there.
   */
  run(urgency: Urgency): ReadonlySet<Machine> {
    let from = 0;
    while (this.#hasFreeSlot()) {
      const tasks = this.#port.readyTasks(this.#queue, from, mappedTasksMax);
      const last = tasks.at(-1);
      if (last === undefined) break;
      this.#mapWindow(tasks, urgency);
      from = last + 1;
    }
    for (const { machine, placed } of this.#columns)
      if (placed.length > 0) this.#port.dispatchTasks(machine, this.#queue, placed);
    return this.#kept;
  }

  #hasFreeSlot(): boolean {
    return this.#columns.some(({ waits }) => waits[0] === 0);
  }

  #mapWindow(tasks: readonly TaskIndex[], urgency: Urgency): void {
    const rows = tasks.map((task) => this.#openRow(task));
    while (rows.length > 0 && this.#hasFreeSlot()) {
      let first = rows[0] as Row<Machine>;
      for (const row of rows) if (isMoreUrgent(row, first, urgency)) first = row;
      rows.splice(rows.indexOf(first), 1);
      if (first.best === undefined) continue;
      this.#assign(first.best, first);
      for (const row of rows) this.#findBest(row);
    }
    if (this.#hasFreeSlot()) this.#port.lookAgain(this.#queue);
  }

  #openRow(task: TaskIndex): Row<Machine> {
    const times = this.#columns.map(({ machine }) => this.#timeOn(machine, task));
    const row: Row<Machine> = { task, times, best: undefined, bestEnd: Infinity, secondEnd: Infinity };
    this.#findBest(row);
    return row;
  }

  #timeOn(machine: Machine, task: TaskIndex): Duration {
    return this.#port.suits(this.#queue, task, machine)
      ? (this.#port.taskTime(this.#queue, task, machine) ?? Infinity)
      : Infinity;
  }

  #findBest(row: Row<Machine>): void {
    [row.best, row.bestEnd, row.secondEnd] = [undefined, Infinity, Infinity];
    for (const [index, column] of this.#columns.entries()) {
      const end = endAt(column, row.times[index] as Duration);
      if (end < row.bestEnd) {
        row.secondEnd = row.bestEnd;
        row.bestEnd = end;
        row.best = column;
      } else if (end < row.secondEnd) row.secondEnd = end;
    }
  }

  /** Takes the machine's first place for the task. */
  #assign(column: Column<Machine>, { task, bestEnd }: Row<Machine>): void {
    const wait = column.waits.shift();
    invariant(wait !== undefined, `task ${task} is mapped to a machine without a place`);
    const at = column.waits.findIndex((other) => other > bestEnd);
    column.waits.splice(at === -1 ? column.waits.length : at, 0, bestEnd);
    if (wait === 0) column.placed.push(task);
    else if (freeProcessors(column.machine) > 0 && countStartable(column.machine, this.#queue) === 0)
      this.#kept.add(column.machine);
  }
}

/**
 * When a task would end there. One that is not dispatched now must have time enough left; of free dispatches remaining
 * times were asked before.
 */
function endAt({ waits, timeLeft }: Column<unknown>, time: Duration): Duration {
  const wait = waits[0] ?? Infinity;
  return wait > 0 && wait + time > timeLeft ? Infinity : wait + time;
}

function isMoreUrgent(row: Row<unknown>, first: Row<unknown>, urgency: Urgency): boolean {
  if (row.best === undefined || first.best === undefined) return row.best !== undefined && first.best === undefined;
  const [one, other] = [urgency(row.bestEnd, row.secondEnd), urgency(first.bestEnd, first.secondEnd)];
  return one > other || (one === other && row.bestEnd < first.bestEnd);
}
