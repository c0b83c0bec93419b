import { getCapacity } from '../../../messages/index.ts';
import { countSlots, FreeResources, shapeSlot, type ResourceRequest } from '../../../resources/index.ts';
import { evaluate } from '../../../requirements/index.ts';
import { type Bytes, invariant, type TaskIndex } from '../../../shared/index.ts';
import { mayObtain } from '../machines/machine-pattern.ts';
import { unassignTask } from '../site-selection/assigned-tasks.ts';
import { isOpenTo } from '../dispatch/matching.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type {
  BrokerJob,
  BrokerMachine,
  BrokerProvider,
  BrokerReplica,
  BrokerState,
  OpenTask,
  TaskQueue,
} from '../state.ts';
import { isQuarantined } from '../trust/trust-records.ts';
import { asksForMemory, getGroup, openQueue } from './task-groups.ts';

/** The code of a task that used more memory than it may. */
export const memoryMaxCode = 'MUT_MEMORY_MAX';
/** That, and the code of one that ended as its machine had no memory left. */
export const memoryCodes: ReadonlySet<string> = new Set([memoryMaxCode, 'MUT_OUT_OF_MEMORY']);

/** Times that a task is given more memory; more are not needed from 1 MiB to 64 GiB by halves again. */
const growthsMax = 32;

/** What becomes of a task that used more memory than it asked for. */
export type MemoryGrowth =
  /** It runs again with that much; `count` is how often it was given more, this time included. */
  | { readonly kind: 'more'; readonly memory: Bytes; readonly count: number }
  /** No machine has more than it had, which is this much; it was given more so often. */
  | { readonly kind: 'no-more'; readonly memory: Bytes; readonly count: number };

/**
 * How much memory a task requests next after its replica was ended for exceeding its memory; undefined if the end is a
 * failure like any other: its job does not ask for more memory on a retry, or no larger machine is known and a provider
 * has still to report its resource. Cost: O(machines + kinds of nodes).
 */
export function findMemoryGrowth(
  state: BrokerState,
  { job, task, resources }: BrokerReplica,
): MemoryGrowth | undefined {
  const growth = getGrowth(job);
  if (growth === undefined || !asksForMemory(resources)) return undefined;
  const { memory: had = 0, count = 0 } = task.grown ?? {};
  // A replica that was placed before its sibling ended for lack of memory adds no information.
  if (had > resources.memory) return { kind: 'more', memory: had, count };
  const wanted = growFrom(resources.memory, growth, job);
  const memory = Math.min(wanted, findMostMemory(state, getGroup(job, task.index).queue, resources));
  if (memory > resources.memory && count < growthsMax) return { kind: 'more', memory, count: count + 1 };
  return mayLearnMore(state) ? undefined : { kind: 'no-more', memory: resources.memory, count };
}

/** No less than tasks of its job request by now. */
function growFrom(memory: Bytes, growth: number, { chosenMemory = 0 }: BrokerJob): Bytes {
  return Math.max(Math.ceil(memory * growth), chosenMemory);
}

/** Whether a provider has still to say what its resource has. */
function mayLearnMore({ providers }: BrokerState): boolean {
  return [...providers.values()].some(
    ({ isConnected, isSynced, resourceAwaitedUntil }) =>
      !isConnected || !isSynced || resourceAwaitedUntil !== undefined,
  );
}

/** The factor of a job whose tasks are given more memory; undefined where its limit bounds memory. */
function getGrowth({ spec }: BrokerJob): number | undefined {
  return spec !== undefined && spec.limits.memoryMax === 0 ? spec.memoryGrowth : undefined;
}

/** The most memory that a task can have with all else that it asks for; 0 where no machine is known that would do. */
export function findMostMemory(state: BrokerState, queue: TaskQueue, request: ResourceRequest): Bytes {
  let most = 0;
  for (const machine of state.machines.values()) {
    const { facts } = machine;
    const { memory } = getCapacity(facts);
    if (memory > most && !isQuarantined(state, machine) && wouldRun(facts, queue, { ...request, memory }))
      most = memory;
  }
  for (const provider of state.providers.values()) {
    for (const memory of listObtainable(provider, queue, request))
      if (memory > most && mayObtain({ ...queue, resources: { ...request, memory } }, provider)) most = memory;
  }
  return most;
}

/** Whether a machine that nothing runs on would run a task of the queue that asks for that. */
function wouldRun(facts: BrokerMachine['facts'], queue: TaskQueue, request: ResourceRequest): boolean {
  return (
    belongsTo(queue.job, facts.reservation) &&
    isOpenTo(queue, facts) &&
    (queue.isGang ? facts.takesGangs === true : facts.processors >= queue.processors) &&
    new FreeResources(getCapacity(facts)).fits(request) &&
    evaluate(queue.requirements, facts.attributes) === 'match'
  );
}

/** The memory that a task could have on each kind of machine that the provider may obtain. */
function listObtainable(
  { resource, pattern }: BrokerProvider,
  queue: TaskQueue,
  request: ResourceRequest,
): readonly Bytes[] {
  const nodes = resource?.resourceStatus.nodes;
  if (nodes === undefined) return [pattern?.capacity?.memory ?? 0];
  return nodes.map(({ memory }) => roundToSlot(queue, request, memory));
}

/** The most that a slot of a node with that much memory has: slots are asked for in steps. */
function roundToSlot({ isGang, processors }: TaskQueue, request: ResourceRequest, total: Bytes): Bytes {
  const width = isGang ? 1 : processors;
  const node = { count: 1, processors: width, memory: total, gpus: {} };
  const step = shapeSlot(width, { ...request, memory: 1, gpus: 0 })?.memory ?? 1;
  for (let memory = total - (total % step); memory > 0; memory -= step) {
    const slot = shapeSlot(width, { ...request, memory, gpus: 0 });
    if (slot !== undefined && countSlots([node], slot) > 0) return memory;
  }
  return 0;
}

/** Lets a task ask for that much from now on; it has no place any more, which was chosen for less. */
export function growMemory(job: BrokerJob, task: OpenTask, memory: Bytes): void {
  const { grown } = task;
  if (grown !== undefined && grown.memory >= memory) return;
  unassignTask(job, task.index);
  openGrownQueue(job, task.index, memory);
  task.grown = { memory, count: (grown?.count ?? 0) + 1 };
}

/** The queue of tasks of a group that ask for that much memory, opened where there is none. */
export function openGrownQueue(job: BrokerJob, index: TaskIndex, memory: Bytes): TaskQueue {
  const { queue } = getGroup(job, index);
  const known = queue.grown.get(memory);
  if (known !== undefined) return known;
  invariant(queue.resources, `task ${index} of job ${job.jobId} asks for no memory, and is given more`);
  const grown = openQueue({
    ...queue,
    resources: { ...queue.resources, memory },
    others: queue.alternatives.map(({ processors, resources, statedTime }) => ({
      processors,
      // One that asks for as much anyway, or for no memory, stays as it is.
      ...(resources === undefined ? {} : { resources: growTo(resources, memory) }),
      ...(statedTime === undefined ? {} : { expectedTime: statedTime }),
    })),
    grownFrom: queue,
  });
  queue.grown.set(memory, grown);
  job.queues = [...job.queues, grown];
  return grown;
}

function growTo(request: ResourceRequest, memory: Bytes): ResourceRequest {
  return request.memory === 0 ? request : { ...request, memory: Math.max(request.memory, memory) };
}
