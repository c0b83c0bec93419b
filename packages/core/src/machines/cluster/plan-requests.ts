import { NodePlan, NodeUse, RequestPlan, type NodeGrant, type NodePart, type QueuePlan } from '../../queue/index.ts';
import type { Instant, ProcessorCount } from '../../shared/index.ts';
import type { ClusterRequest, ClusterState } from './state.ts';

/** A plan of the same kind for the same nodes, without requests. @param processors of a cluster that has no nodes. */
export function renewPlan(
  { plan, nodesAway }: Pick<ClusterState, 'plan' | 'nodesAway'>,
  processors: ProcessorCount,
  at: Instant,
): QueuePlan {
  return plan.kind === 'nodes' ? new NodePlan(plan.nodes, nodesAway, at) : new RequestPlan(processors, at);
}

/** Adds a request to a plan, without a place. */
export function addToPlan(plan: QueuePlan, { id, order }: Pick<ClusterRequest, 'id' | 'order'>, rank?: number): void {
  const { width, walltime, slot: shape } = order;
  if (plan.kind === 'nodes') plan.add(id, { width, walltime, shape }, rank);
  else plan.add(id, width, walltime, rank);
}

/** Gives a request of a plan its place. */
export function placeInPlan(plan: QueuePlan, id: number, startsAt: Instant, parts: readonly NodePart[] = []): void {
  if (plan.kind === 'nodes') plan.place(id, startsAt, parts);
  else plan.place(id, startsAt);
}

/** What requests really hold of nodes, those that are ending included. Cost: O(running). */
export function findUse({ nodes, running }: NodePlan, { requests }: Pick<ClusterState, 'requests'>): NodeUse {
  const grants: NodeGrant[] = [];
  for (const id of running.keys()) grants.push(...(requests.get(id)?.grants ?? []));
  return new NodeUse(nodes, grants);
}

/** How many processes a request has: one for each node if it is in slots, else one for each processor. */
export function countProcesses({ order, grants }: Pick<ClusterRequest, 'order' | 'grants'>): number {
  return grants?.length ?? order.width;
}
