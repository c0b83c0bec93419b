import type { Slot } from '../../resources/index.ts';
import { makePart, type ClusterNode, type NodeAmounts, type NodePart } from './cluster-node.ts';

/** What a node has free for the whole of a place, in amounts and in slots. */
export interface FreeNode {
  readonly index: number;
  readonly node: ClusterNode;
  readonly free: NodeAmounts;
  readonly slots: number;
}

/**
 * Chooses the nodes of a request of `count` slots, in the order of the cluster; undefined where they have too few.
 *
 * Nodes with GPUs are left to requests for GPUs as long as others are enough. The node with the fewest free slots that
 * holds all that is left is taken, else the one with the most: so requests are on few nodes, and wide holes stay whole.
 */
export function chooseParts(nodes: readonly FreeNode[], slot: Slot, count: number): NodePart[] | undefined {
  const able = nodes.filter(({ slots }) => slots > 0);
  const plain = slot.gpus > 0 ? able : able.filter(({ node }) => node.gpus.length === 0);
  const taken = takeSlots(plain, count) ?? takeSlots(able, count);
  return taken
    ?.sort((one, other) => one.from.index - other.from.index)
    .map(({ from, slots }) => makePart(from, slot, slots));
}

interface TakenSlots {
  readonly from: FreeNode;
  readonly slots: number;
}

function takeSlots(nodes: readonly FreeNode[], count: number): TakenSlots[] | undefined {
  const bySlots = [...nodes].sort((one, other) => other.slots - one.slots || one.index - other.index);
  const taken: TakenSlots[] = [];
  let left = count;
  while (left > 0) {
    const needed = left;
    const tightest = bySlots.findLast(({ slots }) => slots >= needed);
    const from = tightest ?? bySlots[0];
    if (from === undefined) return undefined;
    const slots = Math.min(needed, from.slots);
    taken.push({ from, slots });
    left -= slots;
    bySlots.splice(bySlots.indexOf(from), 1);
  }
  return taken;
}
