import { expandPathVariables, parseTemplate, renderPath } from '../../../bag/index.ts';
import type { Content, InputSpec, MachineFacts, Values } from '../../../messages/index.ts';
import type { Bytes, ProviderId, TaskIndex } from '../../../shared/index.ts';
import type { GetInput } from '../inputs.ts';
import type { BrokerJob, BrokerMachine, BrokerState, Success, TaskQueue } from '../state.ts';
import type { StoredContents, WrittenContents } from './stored-contents.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';

/** Contents that are remembered of a storage, and files at home whose contents are remembered; the oldest go first. */
const storedMax = 100_000;
/** Storages that are remembered; likewise. */
const storagesMax = 10_000;

/** Remembers what was sent to a machine. */
export function noteStaged(
  { machines, stored }: BrokerState,
  { machineId, sources, contents }: GetInput<'InputsStaged'>,
): void {
  for (const source of sources) keepBounded(stored.sources, storedMax, [source.path, source.contents]);
  const machine = machines.get(machineId);
  if (machine === undefined || contents.length === 0) return;
  keepIn(stored, storageKey(machine.provider.providerId, machine.facts), contents);
}

/** Remembers what a success, whose result is taken, wrote for other tasks: its machine keeps that. */
export function noteWritten({ machines, stored }: BrokerState, success: Success): void {
  const { job, task, machineId } = success;
  const contents = writtenFor(job.dependencies?.read.get(task.index), success);
  const machine = machines.get(machineId);
  if (contents.size === 0 || machine === undefined) return;
  const key = storageKey(machine.provider.providerId, machine.facts);
  keepIn(stored, key, [...contents.values()].flat());
  keepBounded(stored.written, storedMax, [writtenKey(job, task.index), { machineId, storage: key, contents }]);
}

/** By the path of the output. @param read paths of those that others read. */
function writtenFor(read: ReadonlySet<string> | undefined, { ending, outputSpecs }: Success): Map<string, Content[]> {
  const contents = new Map<string, Content[]>();
  if (read === undefined) return contents;
  for (const { outputIndex, content } of ending.outputs) {
    const path = outputSpecs[outputIndex]?.path ?? '';
    if (read.has(path)) contents.set(path, [...(contents.get(path) ?? []), content]);
  }
  return contents;
}

function keepIn({ storages }: StoredContents, key: string, contents: readonly Content[]): void {
  const storage = storages.get(key) ?? new Map<string, Bytes>();
  keepBounded(storages, storagesMax, [key, storage]);
  for (const { sha256, size } of contents) keepBounded(storage, storedMax, [sha256, size]);
}

function writtenKey({ jobId }: BrokerJob, task: TaskIndex): string {
  return `${jobId} ${task}`;
}

/** The known contents that a task reads and others wrote: by which machines, and in which storages. */
export function findWriters({ stored }: BrokerState, job: BrokerJob, task: TaskIndex): WrittenContents[] {
  return listInputs(job, task).flatMap(({ source }) => {
    const written = source.kind === 'output' ? stored.written.get(writtenKey(job, source.taskIndex)) : undefined;
    return written === undefined ? [] : [written];
  });
}

function listInputs(job: BrokerJob, task: TaskIndex): readonly InputSpec[] {
  return getTaskGroup(job, getGroup(job, task).groupIndex).inputs;
}

/** Sets an entry, the newest now, and drops the oldest where there are too many. */
function keepBounded<Value>(map: Map<string, Value>, sizeMax: number, [key, value]: readonly [string, Value]): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > sizeMax) map.delete(map.keys().next().value as string);
}

/**
 * Agents of one host and provider have the user's folder in common; of a machine that does not say its host, the
 * machine has one.
 */
export function storageKey(providerId: ProviderId, { machineId, attributes: { hostname } }: MachineFacts): string {
  return hostname === undefined ? machineId : `${providerId}\n${hostname}`;
}

/**
 * Makes the function that counts how many bytes of a task's inputs a machine's storage holds. It caches what it finds
 * out of tasks, so it is for one turn.
 */
export function bytesHeldIn({
  stored,
}: BrokerState): (queue: TaskQueue, task: TaskIndex, machine: BrokerMachine) => Bytes {
  const known = new Map<TaskQueue, Map<TaskIndex, readonly Content[]>>();
  return (queue, task, machine) => {
    const storage = stored.storages.get(storageKey(machine.provider.providerId, machine.facts));
    if (storage === undefined) return 0;
    let ofQueue = known.get(queue);
    if (ofQueue === undefined) known.set(queue, (ofQueue = new Map()));
    let contents = ofQueue.get(task);
    if (contents === undefined) ofQueue.set(task, (contents = listContents(stored, queue, task)));
    let held = 0;
    for (const { sha256 } of contents) held += storage.get(sha256) ?? 0;
    return held;
  };
}

/** The contents of a task's inputs as far as they are known; of a path that depends on the machine they are not. */
function listContents({ sources, written }: StoredContents, { job }: TaskQueue, task: TaskIndex): readonly Content[] {
  const group = getGroup(job, task);
  const { inputs, values } = getTaskGroup(job, group.groupIndex);
  const at = {
    task,
    value: valueAt(values, task - group.firstTaskIndex),
    variables: [
      ['JOB', String(job.jobId)],
      ['TASK', String(task)],
    ] as const,
  };
  return inputs.flatMap(({ source }) => {
    switch (source.kind) {
      case 'content':
        return [source.content];
      case 'path':
        return sources.get(pathFor(source, at)) ?? [];
      case 'output':
        return written.get(writtenKey(job, source.taskIndex))?.contents.get(source.path) ?? [];
    }
  });
}

type PathSource = Extract<InputSpec['source'], { kind: 'path' }>;

function pathFor(
  { path }: PathSource,
  {
    task,
    value,
    variables,
  }: { readonly task: TaskIndex; readonly value: string; readonly variables: readonly (readonly [string, string])[] },
): string {
  if (!path.includes('{') && !path.includes('$')) return path;
  const template = parseTemplate(path);
  return renderPath(template, value, task, (part) => expandPathVariables(part, variables));
}

function valueAt(values: Values, position: number): string {
  return values.kind === 'range' ? String(values.first + position * values.step) : (values.values[position] ?? '');
}
