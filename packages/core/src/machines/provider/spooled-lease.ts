import { getCapacity, type LeaseOutline, type LeaseOutlineGroup, type MachineFacts } from '../../messages/index.ts';
import { evaluate, parseRequirements } from '../../requirements/index.ts';
import { FreeResources } from '../../resources/index.ts';
import {
  type Bytes,
  type IndexRange,
  invariant,
  type Instant,
  type MachineId,
  type ProcessorCount,
  type ReplicaId,
} from '../../shared/index.ts';

/** A lease in the spool: which replicas started is promised state, which could start is seen. */
export interface SpooledLease {
  readonly outline: LeaseOutline;
  /** Those that were started, and on which machine. */
  readonly started: Map<ReplicaId, MachineId>;
  /** How many of them are of each group. */
  readonly startedCounts: number[];
  /** Seen: those whose inputs are here. */
  readonly stocked: Set<ReplicaId>;
}

/** A report that is kept for a broker that is away; its body is in the spool. */
export interface KeptReport {
  readonly sequence: number;
  readonly endedReplicaIds: readonly ReplicaId[];
  readonly bytes: Bytes;
}

/** Reports of one run of an agent, which may be gone. */
export interface EnrolledMachine {
  readonly facts: MachineFacts;
  readonly brokerId: string;
  /** In the order of their sequences; not empty. */
  readonly reports: KeptReport[];
  /** Seen: connection of the broker on which it was reported as gone; 0 when it was not. */
  reportedConnectionId: number;
}

/** What reports of a machine are kept under: a restarted agent is another one. */
export function keptKey({ machineId, incarnation }: Pick<MachineFacts, 'machineId' | 'incarnation'>): string {
  return `${machineId}\n${incarnation}`;
}

/** The lease of that outline, of which nothing was started. */
export function openLease(outline: LeaseOutline): SpooledLease {
  return { outline, started: new Map(), startedCounts: outline.groups.map(() => 0), stocked: new Set() };
}

/**
 * The same lease with the outline of a repeated grant: replicas missing from it cannot start, and the others stay as
 * they are.
 */
export function reReportLease({ started, stocked }: SpooledLease, outline: LeaseOutline): SpooledLease {
  const lease = openLease(outline);
  for (const [replicaId, machineId] of started)
    if (isLeased(lease, replicaId)) dispatchLeased(lease, replicaId, machineId);
  for (const replicaId of stocked) lease.stocked.add(replicaId);
  return lease;
}

/**
 * The same lease without some of its replicas; costs as many steps as replicas times ranges. Takes over what is known
 * of the others.
 */
export function revokedLease(lease: SpooledLease, replicaIds: readonly ReplicaId[]): SpooledLease {
  const { outline, started, startedCounts, stocked } = lease;
  for (const replicaId of replicaIds) {
    if (started.has(replicaId)) dispatchLeased(lease, replicaId, undefined);
    stocked.delete(replicaId);
  }
  const groups = outline.groups.map((group) => ({
    ...group,
    replicas: replicaIds.reduce(withoutIndex, group.replicas),
  }));
  return { outline: { ...outline, groups }, started, startedCounts, stocked };
}

function withoutIndex(ranges: readonly IndexRange[], index: number): readonly IndexRange[] {
  const at = ranges.findIndex(({ first, count }) => index >= first && index < first + count);
  const range = ranges[at];
  if (range === undefined) return ranges;
  const { first, count } = range;
  const parts = [
    { first, count: index - first },
    { first: index + 1, count: first + count - index - 1 },
  ].filter((part) => part.count > 0);
  return ranges.toSpliced(at, 1, ...parts);
}

/** Notes that a replica of the lease runs on a machine; undefined for on none. */
export function dispatchLeased(lease: SpooledLease, replicaId: ReplicaId, machineId: MachineId | undefined): void {
  const index = findGroup(lease.outline, replicaId);
  invariant(index >= 0, `replica ${replicaId} is not of lease ${lease.outline.sequence}`);
  const before = lease.started.size;
  if (machineId === undefined) lease.started.delete(replicaId);
  else lease.started.set(replicaId, machineId);
  lease.startedCounts[index] = (lease.startedCounts[index] ?? 0) + lease.started.size - before;
}

/** What the lease says of a replica; undefined for one that is not of it. */
export function findLeasedGroup({ outline }: SpooledLease, replicaId: ReplicaId): LeaseOutlineGroup | undefined {
  return outline.groups[findGroup(outline, replicaId)];
}

/** Whether a replica is of the lease. */
export function isLeased({ outline }: SpooledLease, replicaId: ReplicaId): boolean {
  return findGroup(outline, replicaId) >= 0;
}

function findGroup({ groups }: LeaseOutline, replicaId: ReplicaId): number {
  return groups.findIndex(({ replicas }) =>
    replicas.some(({ first, count }) => replicaId >= first && replicaId < first + count),
  );
}

/** What a machine has for replicas of a lease. */
export interface LeaseRoom {
  readonly processors: ProcessorCount;
  /** The other free resources, which chosen replicas take; undefined if they are unknown. */
  readonly resources: FreeResources | undefined;
  readonly now: Instant;
}

/** The first replicas of the lease that a machine can be given, with all that each holds. */
export function chooseLeased(lease: SpooledLease, facts: MachineFacts, room: LeaseRoom): ReplicaId[] {
  const chosen: ReplicaId[] = [];
  let left = room.processors;
  for (const group of lease.outline.groups) {
    if (left < group.processors || !suits(group, facts, room.now)) continue;
    for (const id of listStartable(lease, group)) {
      if (left < group.processors || !takes(room, group)) break;
      chosen.push(id);
      left -= group.processors;
    }
  }
  return chosen;
}

/** Replicas of a group that were not started and whose inputs are here, in their order. */
function* listStartable(
  { started, stocked }: SpooledLease,
  { replicas, hasInputs }: LeaseOutlineGroup,
): Iterable<ReplicaId> {
  for (const { first, count } of replicas) {
    for (let id = first; id < first + count; id++) if (!started.has(id) && (!hasInputs || stocked.has(id))) yield id;
  }
}

/** Takes what a replica needs in addition to processors. @returns false where too little is free. */
function takes({ resources: free }: LeaseRoom, { resources }: LeaseOutlineGroup): boolean {
  return resources === undefined || free?.take(resources) !== undefined;
}

/**
 * What a machine's replicas leave of its memory, GPUs and named resources. Undefined if it holds a replica that is not
 * of the lease, whose resources are unknown here.
 */
export function findFreeResources(
  { outline }: SpooledLease,
  facts: MachineFacts,
  held: Iterable<ReplicaId>,
): FreeResources | undefined {
  const free = new FreeResources(getCapacity(facts));
  for (const replicaId of held) {
    const group = outline.groups[findGroup(outline, replicaId)];
    if (group === undefined) return undefined;
    if (group.resources !== undefined) free.takeUpTo(group.resources);
  }
  return free;
}

function suits({ processors, requirements, taskTime }: LeaseOutlineGroup, facts: MachineFacts, now: Instant): boolean {
  if (processors > facts.processors || (facts.until !== undefined && facts.until < now + Math.max(1, taskTime)))
    return false;
  if (requirements === '') return true;
  const parsed = parseRequirements(requirements);
  return parsed.kind === 'requirements' && evaluate(parsed, facts.attributes) === 'match';
}

/** Processors that a leased replica holds; 1 for one that is not of the lease. */
export function listProcessors(lease: SpooledLease | undefined, replicaId: ReplicaId): ProcessorCount {
  return lease?.outline.groups[findGroup(lease.outline, replicaId)]?.processors ?? 1;
}
