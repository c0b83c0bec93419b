import { countStartable, freeProcessors, type SchedulingPort } from '../../../bag/index.ts';
import type { SchedulerName } from '../../../messages/index.ts';
import type { Bytes, ProcessorCount, TaskIndex } from '../../../shared/index.ts';
import { ReadyOrder } from '../workflow/ready-order.ts';
import { getRoom } from '../jobs/serving-order.ts';
import type { BrokerMachine, TaskQueue } from '../state.ts';
import { storageKey, findWriters } from '../results/stored-inputs.ts';
import type { Turn } from '../turn.ts';

/** The most ready tasks that are considered in a turn, of each queue. */
const comparedMax = 256;

/** Those that know nothing of data nor of times, so that to them one free processor is as good as another. */
const indifferent: ReadonlySet<SchedulerName> = new Set<SchedulerName>(['wqr', 'workqueue']);

type Port = SchedulingPort<BrokerMachine, TaskQueue>;

/**
 * Dispatches ready tasks of workflows on free machines that wrote their inputs, before the others are dispatched.
 *
 * It delays no other task: it only considers tasks that would all get one of the free processors now anyway, after
 * those of jobs before theirs. Cost: O(free machines + considered tasks), once a ready task of a workflow reads what
 * another wrote.
 */
export function dispatchWhereWritten(
  turn: Turn,
  machines: readonly BrokerMachine[],
  { queues, port }: { readonly queues: readonly TaskQueue[]; readonly port: Port },
): void {
  if (turn.state.stored.written.size === 0 || !queues.some(readsOutputs)) return;
  const free = machines.filter((machine) => freeProcessors(machine) > 0);
  const order = new ReadyOrder();
  let before: ProcessorCount = 0;
  for (const queue of queues) {
    if (readsOutputs(queue)) {
      const roomFor = countPlaces(free, queue, port) - Math.ceil(before / queue.processors);
      dispatchQueue(turn, free, {
        queue,
        port,
        tasks: firstOf(order.getTasks(queue), Math.min(roomFor, comparedMax, getRoom(queue.job))),
      });
    }
    before += queue.readyCount * queue.processors;
  }
}

function readsOutputs({ job: { dependencies }, scheduler }: TaskQueue): boolean {
  return dependencies !== undefined && dependencies.read.size > 0 && indifferent.has(scheduler);
}

/** Tasks of a queue that free processors could take now. */
function countPlaces(free: readonly BrokerMachine[], queue: TaskQueue, port: Port): number {
  let places = 0;
  for (const machine of free) if (port.matches(queue, machine)) places += countStartable(machine, queue);
  return places;
}

function firstOf(tasks: Iterable<TaskIndex>, countMax: number): TaskIndex[] {
  const first: TaskIndex[] = [];
  if (countMax <= 0) return first;
  for (const task of tasks) if (first.push(task) >= countMax) break;
  return first;
}

function dispatchQueue(
  turn: Turn,
  free: readonly BrokerMachine[],
  { queue, port, tasks }: { readonly queue: TaskQueue; readonly port: Port; readonly tasks: readonly TaskIndex[] },
): void {
  if (tasks.length === 0) return;
  const byStorage = groupByStorage(free);
  const given = new Map<BrokerMachine, TaskIndex[]>();
  const hasRoom = (machine: BrokerMachine): boolean =>
    countStartable(machine, queue) > (given.get(machine)?.length ?? 0);
  for (const task of tasks) {
    const holders = listHolders(turn, byStorage, { queue, task }).filter(
      (machine) => hasRoom(machine) && port.matches(queue, machine) && port.suits(queue, task, machine),
    );
    const best = findBest(holders, (machine) => port.bytesHeld(queue, task, machine));
    if (best !== undefined) given.set(best, [...(given.get(best) ?? []), task]);
  }
  for (const [machine, chosen] of given) port.dispatchTasks(machine, queue, chosen);
}

/** Machines that wrote what a task reads, and then those that may have it in common with them. */
function listHolders(
  turn: Turn,
  byStorage: ReadonlyMap<string, readonly BrokerMachine[]>,
  { queue, task }: { readonly queue: TaskQueue; readonly task: TaskIndex },
): BrokerMachine[] {
  const writers = findWriters(turn.state, queue.job, task);
  const wrote = new Set(writers.map(({ machineId }) => machineId));
  const holders = [...new Set(writers.map(({ storage }) => storage))].flatMap(
    (storage) => byStorage.get(storage) ?? [],
  );
  const isWriter = ({ facts }: BrokerMachine): boolean => wrote.has(facts.machineId);
  return [...holders.filter(isWriter), ...holders.filter((machine) => !isWriter(machine))];
}

/** The first of those that hold most; undefined if none holds anything. */
function findBest(
  machines: readonly BrokerMachine[],
  heldIn: (machine: BrokerMachine) => Bytes,
): BrokerMachine | undefined {
  let best: { readonly machine: BrokerMachine; readonly bytes: Bytes } | undefined;
  for (const machine of machines) {
    const bytes = heldIn(machine);
    if (bytes > (best?.bytes ?? 0)) best = { machine, bytes };
  }
  return best?.machine;
}

function groupByStorage(machines: readonly BrokerMachine[]): Map<string, BrokerMachine[]> {
  const groups = new Map<string, BrokerMachine[]>();
  for (const machine of machines) {
    const storage = storageKey(machine.provider.providerId, machine.facts);
    const group = groups.get(storage);
    if (group === undefined) groups.set(storage, [machine]);
    else group.push(machine);
  }
  return groups;
}
