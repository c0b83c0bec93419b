import type { AlternativeRequest, JobSpec, TaskGroup } from '../../../messages/index.ts';
import { isEmptyRequest, keyOfRequest, type ResourceRequest } from '../../../resources/index.ts';
import { parseRequirements } from '../../../requirements/index.ts';
import { type Bytes, IndexSet, invariant, type ProcessorCount, type TaskIndex } from '../../../shared/index.ts';
import type { BrokerJob, GroupSpan, TaskQueue } from '../state.ts';
import { getRoom } from './serving-order.ts';

/** How many tasks a group has. */
export function countTasks(group: TaskGroup): number {
  return group.values.kind === 'range' ? group.values.count : group.values.values.length;
}

/** How many tasks groups have together. */
export function countAllTasks(groups: readonly TaskGroup[]): number {
  return groups.reduce((sum, group) => sum + countTasks(group), 0);
}

/**
 * Lays out over task indexes those of the spec's groups that have not been yet; groups with the same requirements share
 * a queue, which is empty if it is new. Cost: O(these groups).
 */
export function layOutGroups(job: BrokerJob, spec: JobSpec): void {
  const opened: TaskQueue[] = [];
  const last = job.groups.at(-1);
  let firstTaskIndex = last === undefined ? 0 : last.firstTaskIndex + last.count;
  for (let groupIndex = job.groups.length; groupIndex < spec.groups.length; groupIndex++) {
    const group = spec.groups[groupIndex] as TaskGroup;
    const { processors, processorsMax } = getWidths(job, group);
    const resources = getResources(spec, group);
    const request = `${processors} ${processorsMax} ${keyOfRequest(resources)}${keyOfAlternatives(group)}`;
    const key = `${group.noOp} ${request}\n${group.requirements}`;
    let queue = job.queuesByKind.get(key);
    if (queue === undefined) {
      opened.push((queue = createQueue(job, group, resources)));
      if (job.chosenMemory !== undefined) askForMemory(queue, job.chosenMemory);
      job.queuesByKind.set(key, queue);
    }
    const count = countTasks(group);
    job.groups.push({ groupIndex, firstTaskIndex, count, queue });
    firstTaskIndex += count;
  }
  if (opened.length === 0) return;
  const isOfGroup = ({ source, grownFrom }: TaskQueue): boolean => source === undefined && grownFrom === undefined;
  const parts = job.queues.filter((queue) => !isOfGroup(queue));
  job.queues = [...job.queues.filter(isOfGroup), ...opened, ...parts];
}

function createQueue(job: BrokerJob, group: TaskGroup, resources: ResourceRequest | undefined): TaskQueue {
  const requirements = parseRequirements(group.requirements);
  invariant(requirements.kind === 'requirements', `job ${job.jobId} was accepted with requirements that do not parse`);
  const { alternatives = [], expectedTime } = group;
  return openQueue({
    job,
    requirements,
    noOp: group.noOp,
    ...getWidths(job, group),
    resources,
    isGang: job.isGang,
    scheduler: job.scheduler,
    statedTime: alternatives.length === 0 ? undefined : expectedTime,
    others: alternatives,
    source: undefined,
    grownFrom: undefined,
    place: undefined,
  });
}

/** What is said of a queue when it is opened. */
export interface QueueOpening
  extends Pick<
    TaskQueue,
    | 'job'
    | 'requirements'
    | 'noOp'
    | 'processors'
    | 'processorsMax'
    | 'resources'
    | 'isGang'
    | 'scheduler'
    | 'statedTime'
    | 'source'
    | 'grownFrom'
    | 'place'
  > {
  /** What its tasks can do with instead. */
  readonly others: readonly AlternativeRequest[];
}

/** An empty queue, and one for each alternative, which have its ready tasks. */
export function openQueue({ others, ...said }: QueueOpening): TaskQueue {
  const ready = { ready: new IndexSet(), heldBack: new IndexSet() };
  const alternatives = others.map(({ processors, resources, expectedTime }, index) =>
    createReadyQueue({
      ...said,
      ...ready,
      processors,
      processorsMax: processors,
      resources: isEmptyRequest(resources) ? undefined : resources,
      statedTime: expectedTime,
      alternative: index + 1,
      alternatives: [],
    }),
  );
  return createReadyQueue({ ...said, ...ready, alternative: 0, alternatives });
}

function createReadyQueue(said: Omit<TaskQueue, 'matches' | 'grown' | 'readyCount'>): TaskQueue {
  return {
    ...said,
    matches: new WeakMap(),
    grown: new Map(),
    get readyCount() {
      return Math.min(this.ready.size - this.heldBack.size, getRoom(this.job));
    },
  };
}

function keyOfAlternatives({ alternatives = [], expectedTime }: TaskGroup): string {
  if (alternatives.length === 0) return '';
  const keys = alternatives.map(
    ({ processors, resources, expectedTime: time = '' }) => `${processors} ${keyOfRequest(resources)} ${time}`,
  );
  return ` ${expectedTime ?? ''}\n${keys.join('\n')}`;
}

function getWidths(
  job: BrokerJob,
  { processors = job.processors, processorsMax = processors }: TaskGroup,
): Pick<TaskQueue, 'processors' | 'processorsMax'> {
  return { processors, processorsMax };
}

/** What the tasks of a group hold in addition to processors; undefined for nothing, never an empty request. */
export function getResources(spec: JobSpec, { resources = spec.resources }: TaskGroup): ResourceRequest | undefined {
  return isEmptyRequest(resources) ? undefined : resources;
}

/** What a replica of a task group holds, by its first request or an alternative, without what was grown since. */
export function getRequest(
  spec: JobSpec,
  group: TaskGroup,
  alternative = 0,
): { readonly processors: ProcessorCount; readonly resources: ResourceRequest | undefined } {
  if (alternative === 0)
    return { processors: group.processors ?? spec.processors, resources: getResources(spec, group) };
  const other = group.alternatives?.[alternative - 1];
  invariant(other, `a group has no alternative ${alternative}`);
  return { processors: other.processors, resources: isEmptyRequest(other.resources) ? undefined : other.resources };
}

/** The queue of one of the requests of a queue's tasks: its own, or that of an alternative. */
export function getAlternative(queue: TaskQueue, alternative: number): TaskQueue {
  const found = alternative === 0 ? queue : queue.alternatives[alternative - 1];
  invariant(found, `tasks of job ${queue.job.jobId} have no alternative ${alternative}`);
  return found;
}

/** The requests of a queue's tasks, in the order of preference. */
export function listRequests(queue: TaskQueue): readonly TaskQueue[] {
  return queue.alternatives.length === 0 ? [queue] : [queue, ...queue.alternatives];
}

/**
 * What a task of a job which may still run tasks holds in addition to processors, by its first request or an
 * alternative. Cost: O(log groups).
 */
export function findResources(job: BrokerJob, index: TaskIndex, alternative = 0): ResourceRequest | undefined {
  return getAlternative(findWholeQueue(job, index), alternative).resources;
}

/**
 * The queue in which a task waits that is placed nowhere: of its group, or of what it asks for by now. Cost: O(log
 * groups).
 */
export function findWholeQueue(job: BrokerJob, index: TaskIndex): TaskQueue {
  const { queue } = getGroup(job, index);
  if (job.spec?.memoryGrowth === undefined) return queue;
  const grown = job.tasks.get(index)?.grown;
  if (grown === undefined) return queue;
  const found = queue.grown.get(grown.memory);
  invariant(found, `task ${index} of job ${job.jobId} asks for more memory than any of its queues`);
  return found;
}

/** Has the tasks of a queue ask for another amount of memory, where they ask for any. */
export function askForMemory(queue: TaskQueue, memory: Bytes): void {
  const { resources } = queue;
  if (!asksForMemory(resources)) return;
  queue.resources = { ...resources, memory };
  queue.matches = new WeakMap();
}

/** The memory of a task by its first request where that is not what its group says: never of one that asks for none. */
export function findOwnMemory(job: BrokerJob, index: TaskIndex): Bytes | undefined {
  const grown = job.tasks.get(index)?.grown?.memory;
  if (grown !== undefined || job.chosenMemory === undefined) return grown;
  return asksForMemory(getGroup(job, index).queue.resources) ? job.chosenMemory : undefined;
}

/** Whether a request is for an amount of memory. */
export function asksForMemory(request: ResourceRequest | undefined): request is ResourceRequest {
  return request !== undefined && request.memory > 0;
}

/** A request with another amount of memory; without one, and where it asks for none, as it is. */
export function withMemory(
  request: ResourceRequest | undefined,
  memory: Bytes | undefined,
): ResourceRequest | undefined {
  return memory === undefined || !asksForMemory(request) ? request : { ...request, memory };
}

/** Processors that a task of a job which may still run tasks holds at least. Cost: O(log groups). */
export function findWidth(job: BrokerJob, index: TaskIndex, alternative = 0): ProcessorCount {
  return getAlternative(getGroup(job, index).queue, alternative).processors;
}

/** The group that a task belongs to. Cost: O(log groups). */
export function getGroup(job: BrokerJob, index: TaskIndex): GroupSpan {
  let low = 0;
  let high = job.groups.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((job.groups[middle] as GroupSpan).firstTaskIndex <= index) low = middle;
    else high = middle - 1;
  }
  const group = job.groups[low];
  invariant(group !== undefined && index < group.firstTaskIndex + group.count, `job ${job.jobId} has no task ${index}`);
  return group;
}

/** The spec of a job that may still run tasks. */
export function getSpec(job: BrokerJob): JobSpec {
  invariant(job.spec, `the spec of job ${job.jobId} is gone`);
  return job.spec;
}

/** What a task group says. */
export function getTaskGroup(job: BrokerJob, groupIndex: number): TaskGroup {
  const group = getSpec(job).groups[groupIndex];
  invariant(group, `job ${job.jobId} has no group ${groupIndex}`);
  return group;
}
