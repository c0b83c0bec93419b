import { getCapacity, type MachineFacts } from '../../../messages/index.ts';
import {
  countSlots,
  FreeResources,
  isSameCapacity,
  largerCapacity,
  shapeSlot,
  type NodeShape,
  type Slot,
} from '../../../resources/index.ts';
import { readAttribute, evaluate, type Expression, type Requirements } from '../../../requirements/index.ts';
import { mayUse } from '../site-selection/assigned-tasks.ts';
import type { Bytes } from '../../../shared/index.ts';
import type { BrokerProvider, MachinePattern, TaskQueue } from '../state.ts';

/** The pattern of machines among which is one more. */
export function addToPattern(
  pattern: MachinePattern | undefined,
  facts: MachineFacts,
  slot: Slot | undefined,
): MachinePattern {
  const added = addFacts(pattern, facts);
  const { memoryRefused: known, ...others } = added;
  const memoryRefused = judgeMemory(known, facts, slot);
  if (memoryRefused === known) return added;
  return memoryRefused === undefined ? others : { ...others, memoryRefused };
}

/**
 * The least memory of a slot that machines did not have though it was requested. A machine that has as much again ends
 * that: limits were changed.
 */
function judgeMemory(known: Bytes | undefined, facts: MachineFacts, slot: Slot | undefined): Bytes | undefined {
  const given = getCapacity(facts).memory;
  if (slot === undefined || slot.memory === 0 || given === 0) return known;
  const requested = slot.memory * Math.max(1, Math.floor(facts.processors / slot.processors));
  if (given < requested) return Math.min(slot.memory, known ?? Infinity);
  return known !== undefined && slot.memory >= known ? undefined : known;
}

function addFacts(pattern: MachinePattern | undefined, facts: MachineFacts): MachinePattern {
  const { processors, attributes } = facts;
  const own = getCapacity(facts);
  if (pattern === undefined) return { processors, capacity: own, attributes, varying: [] };
  const capacity = largerCapacity(pattern.capacity ?? own, own);
  const alike = Object.entries(pattern.attributes).filter(([name, value]) => attributes[name] === value);
  const varying = new Set(pattern.varying);
  const known = Object.fromEntries(alike);
  for (const name of [...Object.keys(pattern.attributes), ...Object.keys(attributes)])
    if (!(name in known)) varying.add(name);
  const isLarger = processors > pattern.processors || !isSameCapacity(capacity, pattern.capacity);
  if (varying.size === pattern.varying.length && !isLarger) return pattern;
  return {
    ...pattern,
    processors: Math.max(processors, pattern.processors),
    capacity,
    attributes: known,
    varying: [...varying],
  };
}

/**
 * Whether a machine that the provider may obtain could run the queue's tasks, judging by its earlier machines, and they
 * are not assigned elsewhere.
 *
 * Before the first machine, only its name as the attribute `site` is known, and unknown attributes count as matching.
 * Later that holds only for attributes in which its machines differ: what none of them ever stated the next one will
 * not state either.
 */
export function mayMatch(
  queue: Pick<TaskQueue, 'processors' | 'resources' | 'isGang' | 'requirements' | 'place'>,
  provider: BrokerProvider,
): boolean {
  return mayUse(queue, provider) && mayObtain(queue, provider);
}

/** The same, wherever the tasks are placed. */
export function mayObtain(
  queue: Pick<TaskQueue, 'processors' | 'resources' | 'isGang' | 'requirements'>,
  provider: BrokerProvider,
): boolean {
  if (provider.isRemoved) return false;
  const { requirements } = queue;
  const { providerId, pattern, resource } = provider;
  const nodes = resource?.resourceStatus.nodes;
  if (!(nodes === undefined ? haveHad(queue, pattern) : haveSlot(queue, nodes, pattern))) return false;
  if (pattern === undefined) return evaluate(requirements, { site: providerId }) !== 'no match';
  const result = evaluate(requirements, pattern.attributes);
  return result === 'match' || (result === 'undefined' && namesAny(requirements, pattern.varying));
}

type Needs = Pick<TaskQueue, 'processors' | 'resources' | 'isGang'>;

/** Whether earlier machines had what a task needs; before any was seen, that is hoped for. */
function haveHad({ processors, resources, isGang }: Needs, pattern: MachinePattern | undefined): boolean {
  if (pattern === undefined) return true;
  return (isGang || processors <= pattern.processors) && !lacksEver(resources, pattern);
}

/** Whether a node has what a task needs. Named resources are not known of nodes, only of earlier machines. */
function haveSlot(
  { processors, resources, isGang }: Needs,
  nodes: readonly NodeShape[],
  pattern: MachinePattern | undefined,
): boolean {
  const slot = shapeSlot(isGang ? 1 : processors, resources);
  if (slot !== undefined && (countSlots(nodes, slot) === 0 || slot.memory >= (pattern?.memoryRefused ?? Infinity)))
    return false;
  if (resources === undefined || pattern === undefined) return true;
  return !lacksEver({ ...resources, memory: 0, gpus: 0 }, pattern);
}

/** What earlier releases did not write down is hoped for. */
function lacksEver(resources: TaskQueue['resources'], { capacity }: MachinePattern): boolean {
  return resources !== undefined && capacity !== undefined && !new FreeResources(capacity).fits(resources);
}

function namesAny({ expression }: Requirements, names: readonly string[]): boolean {
  if (expression === undefined || names.length === 0) return false;
  const wanted = new Set(names.map((name) => name.toLowerCase()));
  return asksFor(expression, (name) => wanted.has(name));
}

function asksFor(expression: Expression, isOne: (name: string) => boolean): boolean {
  switch (expression.kind) {
    case 'not':
      return asksFor(expression.part, isOne);
    case 'all':
    case 'any':
      return expression.parts.some((part) => asksFor(part, isOne));
    default:
      return isOne(readAttribute(expression));
  }
}
