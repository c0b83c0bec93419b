import type { GpuDevice, Slot } from '../../resources/index.ts';
import { invariant, type Bytes } from '../../shared/index.ts';
import { mebibyte, type ClusterNode, type NodePart } from './cluster-node.ts';

/** What one process of a running request has of its node. */
export interface NodeGrant {
  /** Position of the node in the cluster. */
  readonly node: number;
  readonly nodeName: string;
  /** Numbers of processors, counted from 0 on the node. */
  readonly processorIds: readonly number[];
  readonly memory: Bytes;
  readonly gpus: readonly GpuDevice[];
}

/** What is in use on nodes: no processor and no device is given twice. */
export class NodeUse {
  readonly #nodes: readonly ClusterNode[];
  readonly #processors: Set<number>[];
  readonly #gpus: Set<string>[];
  readonly #memory: Bytes[];

  /** @throws {InvariantError} when the grants have something twice, or more than there is. */
  constructor(nodes: readonly ClusterNode[], grants: Iterable<NodeGrant>) {
    this.#nodes = nodes;
    this.#processors = nodes.map(() => new Set());
    this.#gpus = nodes.map(() => new Set());
    this.#memory = nodes.map(() => 0);
    for (const grant of grants) this.#take(grant);
  }

  /** What is free of a node. */
  getFree(index: number): { readonly processors: number; readonly memory: Bytes; readonly gpus: readonly GpuDevice[] } {
    const node = this.#nodes[index] as ClusterNode;
    return {
      processors: node.processors - (this.#processors[index]?.size ?? 0),
      memory: node.memory === 0 ? 0 : node.memory - (this.#memory[index] ?? 0),
      gpus: node.gpus.filter(({ id }) => this.#gpus[index]?.has(id) !== true),
    };
  }

  /**
   * Whether parts are really free, whatever the plan says: a request that has overrun its walltime still holds its own.
   */
  isFree(parts: readonly NodePart[]): boolean {
    return parts.every(({ node: index, processors, memory, gpus }) => {
      const free = this.getFree(index);
      const isKnown = (this.#nodes[index]?.memory ?? 0) > 0;
      return (
        processors <= free.processors &&
        (!isKnown || memory <= free.memory) &&
        Object.entries(gpus).every(([kind, count]) => count <= free.gpus.filter((gpu) => gpu.kind === kind).length)
      );
    });
  }

  /**
   * Gives processors and devices to the parts of a request that starts: a grant for each of its processes, which is one
   * for each node, or for each processor where it asked for nothing but those. @throws {InvariantError} when they are
   * not free.
   */
  assign(parts: readonly NodePart[], slot: Slot | undefined): NodeGrant[] {
    return parts.flatMap((part) => {
      const { gpus } = this.getFree(part.node);
      const chosen = Object.entries(part.gpus).flatMap(([kind, count]) =>
        gpus.filter((gpu) => gpu.kind === kind).slice(0, count),
      );
      const node = this.#nodes[part.node] as ClusterNode;
      const taken = this.#processors[part.node] as Set<number>;
      const free = Array.from({ length: node.processors }, (_, id) => id).filter((id) => !taken.has(id));
      const whole: NodeGrant = {
        node: part.node,
        nodeName: node.name,
        processorIds: free.slice(0, part.processors),
        memory: part.memory,
        gpus: chosen,
      };
      invariant(whole.processorIds.length === part.processors, `node ${node.name} has too few free processors`);
      this.#take(whole);
      return slot === undefined ? splitGrant(whole) : [whole];
    });
  }

  #take({ node: index, processorIds, memory, gpus }: NodeGrant): void {
    const node = this.#nodes[index];
    invariant(node !== undefined, `there is no node ${index}`);
    const processors = this.#processors[index] as Set<number>;
    for (const id of processorIds) {
      invariant(id < node.processors && !processors.has(id), () => `processor ${id} of ${node.name} is given twice`);
      processors.add(id);
    }
    const devices = this.#gpus[index] as Set<string>;
    for (const { id } of gpus) {
      invariant(
        node.gpus.some((gpu) => gpu.id === id) && !devices.has(id),
        () => `GPU ${id} of ${node.name} is given twice`,
      );
      devices.add(id);
    }
    const used = (this.#memory[index] ?? 0) + memory;
    invariant(
      node.memory === 0 || used <= node.memory,
      () => `${used} of ${node.memory} bytes of ${node.name} are given`,
    );
    this.#memory[index] = used;
  }
}

function splitGrant(grant: NodeGrant): NodeGrant[] {
  const memory = Math.floor(grant.memory / grant.processorIds.length / mebibyte) * mebibyte;
  return grant.processorIds.map((id) => ({ ...grant, processorIds: [id], memory }));
}
