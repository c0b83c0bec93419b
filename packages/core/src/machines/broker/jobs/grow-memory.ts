import { getCapacity } from '../../../messages/index.ts';
import { countSlots, FreeResources, shapeSlot, type ResourceRequest } from '../../../resources/index.ts';
import { evaluate } from '../../../requirements/index.ts';
import { type Bytes, IndexSet, invariant, type TaskIndex } from '../../../shared/index.ts';
import { mayObtain } from '../machines/machine-pattern.ts';
import { leavePlace } from '../placement/placed-tasks.ts';
import { isOpenTo } from '../placing/matching.ts';
import { belongsTo } from '../reservations/reserved-place.ts';
import type { BrokerJob, BrokerReplica, BrokerState, OpenTask, TaskQueue } from '../state.ts';
import { getGroup } from './task-groups.ts';

/** The code of a task that used more memory than it may. */
export const memoryMaxCode = 'MUT_MEMORY_MAX';

/** Times that a task is given more memory; more are not needed from 1 MiB to 64 GiB by halves again. */
const growthsMax = 32;

/** What becomes of a task that used more memory than it asked for. */
export type MemoryGrowth =
  /** It runs again with that much; `count` is how often it was given more, this time included. */
  | { readonly kind: 'more'; readonly memory: Bytes; readonly count: number }
  /** No machine has more than it had, which is this much; it was given more so often. */
  | { readonly kind: 'no-more'; readonly memory: Bytes; readonly count: number };

/**
 * How much memory the task of a replica asks for next that was ended for using more than it had; undefined where its
 * job does not say that it should be given more, or limits memory otherwise.
 */
export function findMemoryGrowth(
  state: BrokerState,
  { job, task, resources }: BrokerReplica,
): MemoryGrowth | undefined {
  const { spec } = job;
  if (spec?.memoryGrowth === undefined || spec.limits.memoryMax > 0) return undefined;
  if (resources === undefined || resources.memory === 0) return undefined;
  const { memory: had = 0, count = 0 } = task.grown ?? {};
  // A replica that was placed before its sibling was ended for the same tells nothing more.
  if (had > resources.memory) return { kind: 'more', memory: had, count };
  const wanted = Math.ceil(resources.memory * spec.memoryGrowth);
  const memory = Math.min(wanted, findMostMemory(state, getGroup(job, task.index).queue, resources));
  return memory > resources.memory && count < growthsMax
    ? { kind: 'more', memory, count: count + 1 }
    : { kind: 'no-more', memory: resources.memory, count };
}

/** The most memory that a task can have with all else that it asks for; 0 where no machine is known that would do. */
function findMostMemory(state: BrokerState, queue: TaskQueue, request: ResourceRequest): Bytes {
  let most = 0;
  for (const { facts } of state.machines.values()) {
    const { memory } = getCapacity(facts);
    if (memory <= most || !belongsTo(queue.job, facts.reservation) || !isOpenTo(queue, facts)) continue;
    if (!queue.isGang && facts.processors < queue.processors) continue;
    if (!new FreeResources(getCapacity(facts)).fits({ ...request, memory })) continue;
    if (evaluate(queue.requirements, facts.attributes) === 'match') most = memory;
  }
  for (const provider of state.providers.values()) {
    const nodes = provider.resource?.resourceStatus.nodes;
    const known = nodes === undefined ? [provider.pattern?.capacity?.memory ?? 0] : nodes.map(({ memory }) => memory);
    for (const total of known) {
      const memory = nodes === undefined ? total : roundToSlot(queue, request, total);
      if (memory > most && mayObtain({ ...queue, resources: { ...request, memory } }, provider)) most = memory;
    }
  }
  return most;
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
  leavePlace(job, task.index);
  openGrownQueue(job, task.index, memory);
  task.grown = { memory, count: (grown?.count ?? 0) + 1 };
}

/** The queue of tasks of a group that ask for that much memory, opened where there is none. */
export function openGrownQueue(job: BrokerJob, index: TaskIndex, memory: Bytes): TaskQueue {
  const { queue } = getGroup(job, index);
  const known = job.queues.find(({ grownFrom, resources }) => grownFrom === queue && resources?.memory === memory);
  if (known !== undefined) return known;
  invariant(queue.resources, `task ${index} of job ${job.jobId} asks for no memory, and is given more`);
  const { requirements, noOp, processors, processorsMax, isGang, scheduler } = queue;
  const grown: TaskQueue = {
    job,
    requirements,
    noOp,
    processors,
    processorsMax,
    resources: { ...queue.resources, memory },
    isGang,
    scheduler,
    ready: new IndexSet(),
    heldBack: new IndexSet(),
    matches: new WeakMap(),
    source: undefined,
    grownFrom: queue,
    place: queue.place,
    get readyCount() {
      return this.ready.size - this.heldBack.size;
    },
  };
  job.queues = [...job.queues, grown];
  return grown;
}
