import type { Bytes, TaskIndex } from '../shared/index.ts';
import { type BagMachine, type BagQueue, countStartable } from './bag.ts';
import { dispatchReady } from './dispatch-ready.ts';
import type { BagScheduler, SchedulingPort } from './scheduler.ts';

/** Ready tasks, and machines, that are compared with each other at a time. */
export const comparedMax = 64;

/**
 * Gives free processors the tasks whose inputs their storage holds, most bytes first; then tasks whose inputs no
 * machine holds, and only then tasks that would be better off on a busy machine. Replicas go to machines that have the
 * data. No processor idles to wait for a task.
 *
 * Cost: `comparedMax` squared for each window of free processors, in addition to that of a workqueue.
 *
 * @source Santos-Neto et al., "Exploiting replication and data reuse to efficiently schedule data-intensive
 *   applications on grids" (2004): the task with the largest storage affinity goes first to the processor that has it;
 *   afterwards tasks are replicated.
 * Departs from the source: tasks and machines are compared in windows, and only free processors are given tasks.
 */
export const storageAffinity: BagScheduler = {
  name: 'storage-affinity',
  replication: 'where-data-are',
  dispatch: dispatchByAffinity,
};

function dispatchByAffinity<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  port: SchedulingPort<Machine, Queue>,
): ReadonlySet<Machine> {
  const kept = new Set<Machine>();
  for (const queue of queues) {
    if (queue.readyCount === 0) continue;
    const open = machines.filter((machine) => !kept.has(machine) && port.matches(queue, machine));
    dispatchQueue(queue, open, port);
    // What suited no free processor, and what waits at machines.
    for (const machine of dispatchReady(open, [queue], port)) kept.add(machine);
  }
  return kept;
}

function dispatchQueue<Machine extends BagMachine, Queue extends BagQueue>(
  queue: Queue,
  machines: readonly Machine[],
  port: SchedulingPort<Machine, Queue>,
): void {
  const isFree = (machine: Machine): boolean => countStartable(machine, queue) > 0;
  const busy = machines.filter((machine) => !isFree(machine)).slice(0, comparedMax);
  const free = machines.filter(isFree);
  for (let from = 0; from < free.length; from += comparedMax) {
    const window = free.slice(from, from + comparedMax);
    const others = [...busy, ...free.slice(from + comparedMax)].slice(0, comparedMax);
    // A machine of many processors has room for more tasks than are compared at a time.
    while (window.some(isFree) && dispatchWindow(queue, { free: window.filter(isFree), others }, port)) continue;
  }
}

/** A task, with the machines that hold its inputs. */
interface ComparedTask<Machine> {
  readonly task: TaskIndex;
  readonly held: readonly { readonly machine: Machine; readonly bytes: Bytes }[];
  /** Most that a machine holds which cannot take it now. */
  readonly heldElsewhere: Bytes;
}

/** Gives free processors tasks of one window. @returns whether any was given. */
function dispatchWindow<Machine extends BagMachine, Queue extends BagQueue>(
  queue: Queue,
  { free, others }: { readonly free: readonly Machine[]; readonly others: readonly Machine[] },
  port: SchedulingPort<Machine, Queue>,
): boolean {
  const room = new Map(free.map((machine) => [machine, countStartable(machine, queue)]));
  const given = new Map<Machine, TaskIndex[]>();
  const give = (task: TaskIndex, machine: Machine): boolean => {
    const left = room.get(machine) ?? 0;
    if (left === 0) return false;
    room.set(machine, left - 1);
    given.set(machine, [...(given.get(machine) ?? []), task]);
    return true;
  };
  const compared = compare(queue, { free, others }, port);
  const left = new Set(compared);
  const pairs = compared
    .flatMap((row) => row.held.filter(({ bytes }) => bytes > 0).map((pair) => ({ row, ...pair })))
    .sort((one, other) => other.bytes - one.bytes);
  for (const { row, machine } of pairs) if (left.has(row) && give(row.task, machine)) left.delete(row);
  for (const row of [...left].sort((one, other) => one.heldElsewhere - other.heldElsewhere)) {
    for (const { machine } of row.held) if (give(row.task, machine)) break;
  }
  for (const [machine, tasks] of given) port.dispatchTasks(machine, queue, tasks);
  return given.size > 0;
}

function compare<Machine extends BagMachine, Queue extends BagQueue>(
  queue: Queue,
  { free, others }: { readonly free: readonly Machine[]; readonly others: readonly Machine[] },
  port: SchedulingPort<Machine, Queue>,
): ComparedTask<Machine>[] {
  return port.readyTasks(queue, 0, comparedMax).map((task) => ({
    task,
    held: free
      .filter((machine) => port.suits(queue, task, machine))
      .map((machine) => ({ machine, bytes: port.bytesHeld(queue, task, machine) })),
    heldElsewhere: Math.max(0, ...others.map((machine) => port.bytesHeld(queue, task, machine))),
  }));
}
