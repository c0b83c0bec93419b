import { type GpuShare, keyOfSlot, packSlot, plainSlot, shapeSlot, type Slot } from '../../../resources/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import type { BrokerProvider, TaskQueue } from '../state.ts';
import { requireWidth } from './require-units.ts';

/** The requirements of tasks on one machine, as far as they decide what a provider is asked for. */
export interface TaskShape {
  /** The same for shapes that are the same. */
  readonly key: string;
  readonly processors: ProcessorCount;
  /**
   * For one task, or for those that share a device. Undefined for one processor and nothing else, and for providers
   * that are asked for processors alone.
   */
  readonly slot: Slot | undefined;
  /** Of GPUs, for each task. */
  readonly share: GpuShare;
}

/** How many tasks there are of each shape, by its key. */
export type ShapeCounts = Map<string, { readonly shape: TaskShape; count: number }>;

const known = new WeakMap<TaskQueue, { readonly shape: TaskShape; readonly of: TaskQueue['resources'] }>();

/** The shape of a queue's tasks. */
export function shapeOf(queue: TaskQueue): TaskShape {
  const { resources } = queue;
  const last = known.get(queue);
  if (last !== undefined && last.of === resources) return last.shape;
  const processors = requireWidth(queue);
  const slot = shapeSlot(processors, resources);
  const share = resources?.gpus ?? 0;
  const shape = { key: `${processors} ${keyOfSlot(slot)} ${share}`, processors, slot, share };
  known.set(queue, { shape, of: resources });
  return shape;
}

/** A shape as one provider is asked for it: by processors alone where its manager does not know nodes. */
export function shapeFor(provider: BrokerProvider, shape: TaskShape): TaskShape {
  if (shape.slot === undefined) return shape;
  const nodes = provider.resource?.resourceStatus.nodes;
  return nodes === undefined
    ? widthAlone(shape.processors)
    : { ...shape, slot: packSlot(shape.slot, shape.share, nodes) };
}

/** Tasks of which nothing but the width counts. */
export function widthAlone(processors: ProcessorCount): TaskShape {
  return { key: `${processors}  0`, processors, slot: undefined, share: 0 };
}

/** Adds to what is counted of a shape. */
export function addShape(counts: ShapeCounts, shape: TaskShape, count: number): void {
  if (count <= 0) return;
  const counted = counts.get(shape.key);
  if (counted === undefined) counts.set(shape.key, { shape, count });
  else counted.count += count;
}

/** Whether one shape comes before another: the narrower, then the one with less. */
export function isSmaller(one: TaskShape, other: TaskShape): boolean {
  if (one.processors !== other.processors) return one.processors < other.processors;
  const [first, second] = [one.slot ?? plainSlot, other.slot ?? plainSlot];
  return first.gpus === second.gpus ? first.memory < second.memory : first.gpus < second.gpus;
}
