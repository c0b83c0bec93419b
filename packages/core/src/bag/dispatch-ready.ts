import {
  type BagMachine,
  type BagQueue,
  countStartable,
  freeProcessors,
  isBoundByProcessors,
  usableProcessors,
} from './bag.ts';
import { type HeldPart, type Kept, KeptPart, wholeMachine } from './keep-part.ts';

/** What dispatching needs to know and to do; `place` changes what machine and queue say of themselves. */
export interface DispatchPort<Machine extends BagMachine, Queue extends BagQueue> {
  matches(queue: Queue, machine: Machine): boolean;
  /** Replicas that may wait at the machine beyond those that it runs. */
  prefetchDepth(queue: Queue, machine: Machine): number;
  /** Dispatches up to `countMax` tasks of the queue on the machine, and says how many. */
  dispatch(machine: Machine, queue: Queue, countMax: number): number;
  /** The replicas that the machine holds, in the order of dispatching; left out if unknown. */
  listHeld?(machine: Machine): Iterable<HeldPart>;
  /**
   * What a queue's tasks can do with instead, in the order of preference: queues of the same ready tasks. Left out
   * where no task has alternatives.
   */
  listAlternatives?(queue: Queue): readonly Queue[];
  /**
   * Whether two queues are of one bag, all of whose tasks are wanted at once: nothing is kept for one of them from the
   * other. Left out where none are.
   */
  isOfSameBag?(one: Queue, other: Queue): boolean;
  /** How many tasks of a queue had better wait for a request before this alternative; left out for none. */
  countSoonerBefore?(queue: Queue, alternative: Queue, machines: readonly Machine[]): number;
}

/**
 * Hands ready tasks to machines as a workqueue does, in the order of their indexes: to every free processor first, and
 * the rest evenly to the queues of the machines.
 *
 * One visit per machine serves both, so that a machine gets one batch: a machine's queue is filled only with what the
 * free processors of the machines after it leave. If too few processors are free for the next task of an earlier queue,
 * they are kept for it: smaller tasks of later queues would take each one that comes free, and the wide task would
 * never run. If its processors are free and it waits for memory, GPUs or a named resource, later queues get the rest of
 * the machine (`KeptPart`). A task with alternatives takes the first request that fits, but waits for an earlier one
 * that another machine has free, or soon, as `countSoonerBefore` says. Alternatives never wait at a machine. Machines
 * that match none of the queues count for nothing. Cost: O(machines + tasks dispatched) where the first queue suits
 * them all, O(machines x queues) at most.
 *
 * @param queues in the order in which they are served.
 * @returns machines whose free processors are kept.
 */
export function dispatchReady<Machine extends BagMachine, Queue extends BagQueue>(
  machines: readonly Machine[],
  queues: readonly Queue[],
  port: DispatchPort<Machine, Queue>,
): Set<Machine> {
  const waiting = queues.filter(({ readyCount }) => readyCount > 0);
  // What matches none of them would count as room for tasks that it never runs, and nothing would wait at those that
  // do.
  const able = machines.filter((machine) => waiting.some((queue) => suitsAnyRequest(machine, queue, port)));
  const share: Share<Machine> = {
    able,
    ready: 0,
    freeLater: 0,
    machinesLeft: able.length,
    kept: new Set(),
    keptFor: new Map(),
    mayTake: new Map(),
    hasFirst: new Map(),
  };
  for (const queue of waiting) share.ready += queue.readyCount;
  for (const machine of able) share.freeLater += freeProcessors(machine);
  for (const machine of able) {
    if (share.ready === 0) break;
    share.freeLater -= freeProcessors(machine);
    fillMachine(machine, waiting, share, port);
    share.machinesLeft--;
  }
  if (share.mayTake.size > 0) takeLeftAlternatives(waiting, share, port);
  return share.kept;
}

function suitsAnyRequest<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queue: Queue,
  port: DispatchPort<Machine, Queue>,
): boolean {
  if (port.matches(queue, machine)) return true;
  return port.listAlternatives?.(queue).some((alternative) => port.matches(alternative, machine)) === true;
}

/** What is still to be shared out, while one machine after the other is served. */
interface Share<Machine> {
  /** All machines that are served. */
  readonly able: readonly Machine[];
  /** Ready tasks of all queues. */
  ready: number;
  /** Free processors of the machines that are served later. */
  freeLater: number;
  /** Machines to be served, the present one included. */
  machinesLeft: number;
  readonly kept: Set<Machine>;
  /** How many machines are kept for each queue. */
  readonly keptFor: Map<BagQueue, number>;
  /** How many tasks may still take an alternative, where that was asked. */
  readonly mayTake: Map<BagQueue, number>;
  /** Whether any machine would do for the first request of a queue, where that was asked. */
  readonly hasFirst: Map<BagQueue, boolean>;
}

function fillMachine<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queues: readonly Queue[],
  share: Share<Machine>,
  port: DispatchPort<Machine, Queue>,
): void {
  const filling: Filling<Queue> = { kept: undefined, keptFor: undefined };
  for (const queue of queues) if (queue.readyCount > 0) serveQueue(machine, queue, filling, { share, port });
}

/** What is kept of a machine while it is filled, and for which queue. */
interface Filling<Queue extends BagQueue> {
  kept: Kept | undefined;
  keptFor: Queue | undefined;
}

function serveQueue<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queue: Queue,
  filling: Filling<Queue>,
  { share, port }: Omit<Serving<Machine, Queue>, 'kept'>,
): void {
  const kept = findKept(filling, queue, port);
  if (kept?.freeBeside === 0) return;
  const isMatch = port.matches(queue, machine);
  if (isMatch) dispatchFirst(machine, queue, { share, port, kept });
  takeAlternatives(machine, queue, { share, port, kept });
  if (filling.kept !== undefined || queue.readyCount === 0) return;
  // What is left of an earlier queue waits for the machine, and nothing of another bag goes before it.
  filling.kept = keepForRequest(machine, { queue, isMatch }, share, port);
  filling.keptFor = queue;
}

/** What is kept of the machine from a queue: nothing, where it is kept for tasks of the same bag. */
function findKept<Machine extends BagMachine, Queue extends BagQueue>(
  { kept, keptFor }: Filling<Queue>,
  queue: Queue,
  port: DispatchPort<Machine, Queue>,
): Kept | undefined {
  if (kept === undefined || keptFor === undefined) return undefined;
  return port.isOfSameBag?.(keptFor, queue) === true ? undefined : kept;
}

/** What tasks are dispatched with, while one machine is served. */
interface Serving<Machine extends BagMachine, Queue extends BagQueue> {
  readonly share: Share<Machine>;
  readonly port: DispatchPort<Machine, Queue>;
  /** What is kept of the machine for an earlier queue. */
  readonly kept: Kept | undefined;
}

/** Has tasks of a queue start on the machine, or wait there, with what they ask for first. */
function dispatchFirst<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queue: Queue,
  { share, port, kept }: Serving<Machine, Queue>,
): void {
  const countMax =
    kept === undefined
      ? findQuota(machine, queue, share, port.prefetchDepth(queue, machine))
      : Math.min(queue.readyCount, kept.countBeside(queue));
  if (countMax > 0) share.ready -= port.dispatch(machine, queue, countMax);
}

const noQueues: readonly never[] = [];

/** Has tasks of a queue take alternatives that fit on the machine, but those that had better wait for another request. */
function takeAlternatives<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queue: Queue,
  { share, port, kept }: Serving<Machine, Queue>,
): void {
  for (const alternative of port.listAlternatives?.(queue) ?? noQueues) {
    if (queue.readyCount === 0) return;
    const fitting = port.matches(alternative, machine) ? countBeside(machine, alternative, kept) : 0;
    if (fitting === 0) continue;
    const mayTake = share.mayTake.get(alternative) ?? countTakers(queue, alternative, share, port);
    const count = Math.min(queue.readyCount, fitting, mayTake);
    const taken = count > 0 ? port.dispatch(machine, alternative, count) : 0;
    share.ready -= taken;
    share.mayTake.set(alternative, mayTake - taken);
  }
}

function countBeside(machine: BagMachine, queue: BagQueue, kept: Kept | undefined): number {
  return kept === undefined ? countStartable(machine, queue) : kept.countBeside(queue);
}

/** How many tasks of a queue have nothing better to wait for than an alternative. */
function countTakers<Machine extends BagMachine, Queue extends BagQueue>(
  queue: Queue,
  alternative: Queue,
  { able }: Share<Machine>,
  port: DispatchPort<Machine, Queue>,
): number {
  return queue.readyCount - (port.countSoonerBefore?.(queue, alternative, able) ?? 0);
}

/** What others have taken of what tasks with alternatives would have waited for, these wait for no longer. */
function takeLeftAlternatives<Machine extends BagMachine, Queue extends BagQueue>(
  queues: readonly Queue[],
  share: Share<Machine>,
  port: DispatchPort<Machine, Queue>,
): void {
  share.mayTake.clear();
  const left = queues.filter(
    (queue) => queue.readyCount > 0 && (port.listAlternatives?.(queue) ?? noQueues).length > 0,
  );
  for (const queue of left)
    for (const machine of share.able)
      if (!share.kept.has(machine)) takeAlternatives(machine, queue, { share, port, kept: undefined });
}

/** What a queue's next task waits for at a machine: its first request, or where that runs nowhere, an alternative. */
function keepForRequest<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  { queue, isMatch }: { readonly queue: Queue; readonly isMatch: boolean },
  share: Share<Machine>,
  port: DispatchPort<Machine, Queue>,
): Kept | undefined {
  if (isMatch) return keepFor(machine, queue, share, port);
  const alternatives = port.listAlternatives?.(queue) ?? noQueues;
  if (alternatives.length === 0) return undefined;
  let hasFirst = share.hasFirst.get(queue);
  if (hasFirst === undefined)
    share.hasFirst.set(queue, (hasFirst = share.able.some((other) => port.matches(queue, other))));
  const wanted = hasFirst ? undefined : alternatives.find((alternative) => port.matches(alternative, machine));
  return wanted === undefined ? undefined : keepFor(machine, wanted, share, port);
}

/** Keeps the machine, or a part of it, for the rest of a queue; undefined if nothing needs to be kept. */
function keepFor<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  queue: Queue,
  share: Share<Machine>,
  port: DispatchPort<Machine, Queue>,
): Kept | undefined {
  if (freeProcessors(machine) > 0 && !mustKeep(machine, queue, share)) return undefined;
  return keepPart(machine, queue, port);
}

/** Keeps what the queue's next task needs of the machine; all of its free processors where these are too few. */
function keepPart<Machine extends BagMachine, Queue extends BagQueue>(
  machine: Machine,
  { processors, resources }: BagQueue,
  port: DispatchPort<Machine, Queue>,
): Kept {
  return resources === undefined || freeProcessors(machine) < processors
    ? wholeMachine
    : new KeptPart(machine, { processors, resources }, port.listHeld?.(machine) ?? []);
}

/** Whether too little is free on the machine for the queue's next task, which no other machine is kept for. */
function mustKeep<Machine extends BagMachine>(
  machine: Machine,
  queue: BagQueue,
  { kept, keptFor }: Share<Machine>,
): boolean {
  const keptCount = keptFor.get(queue) ?? 0;
  if (countStartable(machine, queue) > 0 || keptCount >= queue.readyCount) return false;
  kept.add(machine);
  keptFor.set(queue, keptCount + 1);
  return true;
}

/** How many tasks of the queue the machine should get now. */
function findQuota(machine: BagMachine, queue: BagQueue, share: Share<unknown>, depth: number): number {
  const slots = countStartable(machine, queue);
  // A task that waits for something other than processors must not keep the tasks behind it from free ones.
  if (slots < Math.floor(freeProcessors(machine) / queue.processors) || !isBoundByProcessors(machine, queue))
    return slots;
  const capacity = usableProcessors(machine) + depth * queue.processors;
  const room = Math.floor((capacity - machine.heldProcessors) / queue.processors) - slots;
  const spare = share.ready - slots - Math.ceil(share.freeLater / queue.processors);
  if (room <= 0 || spare <= 0) return slots;
  return slots + Math.min(room, Math.ceil(spare / share.machinesLeft));
}
