import { keyOfSlot, shapeSlot, type Slot } from '../../../resources/index.ts';
import type { ProcessorCount } from '../../../shared/index.ts';
import type { BrokerProvider, TaskQueue } from '../state.ts';
import { requireWidth } from './require-units.ts';

/** What tasks need of one machine, as far as it decides what a provider is asked for. */
export interface TaskShape {
  /** The same for shapes that are the same. */
  readonly key: string;
  readonly processors: ProcessorCount;
  /** Undefined for one processor and nothing else, and for providers that are asked for processors alone. */
  readonly slot: Slot | undefined;
}

/** How many tasks there are of each shape, by its key. */
export type ShapeCounts = Map<string, { readonly shape: TaskShape; count: number }>;

const known = new WeakMap<TaskQueue, TaskShape>();

/** The shape of a queue's tasks. */
export function shapeOf(queue: TaskQueue): TaskShape {
  let shape = known.get(queue);
  if (shape === undefined) {
    const processors = requireWidth(queue);
    const slot = shapeSlot(processors, queue.resources);
    shape = { key: `${processors} ${keyOfSlot(slot)}`, processors, slot };
    known.set(queue, shape);
  }
  return shape;
}

/** A shape as one provider is asked for it: by processors alone where its manager does not know nodes. */
export function shapeFor(provider: BrokerProvider, shape: TaskShape): TaskShape {
  if (provider.resource?.resourceStatus.nodes !== undefined || shape.slot === undefined) return shape;
  return widthAlone(shape.processors);
}

/** Tasks of which nothing but the width counts. */
export function widthAlone(processors: ProcessorCount): TaskShape {
  return { key: `${processors} `, processors, slot: undefined };
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
  const [gpus, otherGpus] = [one.slot?.gpus ?? 0, other.slot?.gpus ?? 0];
  return gpus === otherGpus ? (one.slot?.memory ?? 0) < (other.slot?.memory ?? 0) : gpus < otherGpus;
}
