import { type BagMachine, type BagQueue, countStartable, type HeldPart, dispatchReady } from '@mutirao/core/bag';
import { type Assignment, FreeResources, type ResourceCapacity, type ResourceRequest } from '@mutirao/core/resources';
import { Prng } from '@mutirao/core/shared';
import { median, option, plain, report } from './harness.ts';

// How well the workqueue packs tasks that ask for processors, memory and GPUs: makespans of generated mixes over a lower
// bound that no schedule can beat, compared with first fit and best fit, which keep nothing for tasks that do not fit.
// All of them see the tasks in the same order and no run times. --mixes N, --nodes N and --tasks N size it.
const mixCount = option('mixes', 200);
const nodeCount = option('nodes', 16);
const taskCount = option('tasks', 600);

const capacity: ResourceCapacity = {
  memory: 64,
  gpus: ['0', '1', '2', '3'].map((id) => ({ id, kind: '' })),
  named: {},
};
const bare: ResourceCapacity = { memory: 64, gpus: [], named: {} };
const processors = 16;

interface Queue extends BagQueue {
  readyCount: number;
  readonly times: number[];
}

interface Held extends HeldPart {
  readonly end: number;
}

interface Node extends BagMachine {
  heldProcessors: number;
  readonly resources: FreeResources;
  readonly held: Set<Held>;
}

/** Classes of equal requests, in the order of their submission. */
function drawMix(rng: Prng): Queue[] {
  const classCount = 4 + rng.below(8);
  return Array.from({ length: classCount }, (): Queue => {
    const gpus = [0, 0, 0, 500, 1000, 2000][rng.below(6)] ?? 0;
    const request: ResourceRequest = { memory: [0, 1, 4, 8, 16, 40][rng.below(6)] ?? 0, gpus, named: {} };
    const mean = 60 + rng.below(600);
    const times = Array.from({ length: Math.ceil(taskCount / classCount) }, () =>
      Math.ceil(mean * (0.5 + rng.fraction())),
    );
    return {
      readyCount: times.length,
      processors: [1, 1, 2, 4, 8, 16][rng.below(6)] ?? 1,
      resources: request.memory + request.gpus === 0 ? undefined : request,
      scheduler: 'workqueue',
      times,
    };
  });
}

function openNodes(): Node[] {
  return Array.from({ length: nodeCount }, (_, index) => ({
    processors,
    heldProcessors: 0,
    resources: new FreeResources(index % 4 === 0 ? capacity : bare),
    held: new Set(),
  }));
}

type Place = (nodes: readonly Node[], queues: readonly Queue[], start: (node: Node, queue: Queue) => void) => void;

const ours: Place = (nodes, queues, start) => {
  dispatchReady<Node, Queue>(nodes, queues, {
    matches: ({ resources }, node) => resources === undefined || node.resources.countFittingAtAll(resources) > 0,
    prefetchDepth: () => 0,
    listHeld: ({ held }) => held,
    dispatch: (node, queue, countMax) => {
      const count = Math.min(countMax, queue.readyCount);
      for (let index = 0; index < count; index++) start(node, queue);
      return count;
    },
  });
};

const firstFit: Place = (nodes, queues, start) => {
  for (const queue of queues)
    for (const node of nodes) while (queue.readyCount > 0 && countStartable(node, queue) > 0) start(node, queue);
};

/** The fullest node that has room. */
const bestFit: Place = (nodes, queues, start) => {
  for (const queue of queues) {
    while (queue.readyCount > 0) {
      const open = nodes.filter((node) => countStartable(node, queue) > 0);
      const best = open.reduce<Node | undefined>(
        (tightest, node) =>
          tightest !== undefined && tightest.heldProcessors >= node.heldProcessors ? tightest : node,
        undefined,
      );
      if (best === undefined) break;
      start(best, queue);
    }
  }
};

function makespanOf(queues: readonly Queue[], dispatch: Place): number {
  const left = queues.map((queue) => ({ ...queue, times: [...queue.times] }));
  const nodes = openNodes();
  let now = 0;
  const start = (node: Node, queue: Queue): void => {
    const assignment: Assignment | undefined = queue.resources && node.resources.take(queue.resources);
    if (queue.resources !== undefined && assignment === undefined) throw new Error('a task is placed and does not fit');
    node.heldProcessors += queue.processors;
    queue.readyCount--;
    node.held.add({ processors: queue.processors, assignment, end: now + (queue.times.pop() ?? 0) });
  };
  for (;;) {
    dispatch(nodes, left, start);
    const next = Math.min(...nodes.flatMap(({ held }) => [...held].map(({ end }) => end)));
    if (next === Infinity) break;
    now = next;
    for (const node of nodes) {
      for (const one of node.held) {
        if (one.end > now) continue;
        node.held.delete(one);
        node.heldProcessors -= one.processors;
        if (one.assignment !== undefined) node.resources.release(one.assignment);
      }
    }
  }
  if (left.some(({ readyCount }) => readyCount > 0)) throw new Error('a task was never placed');
  return now;
}

/**
 * The longest task; for each resource all that is asked of it over all that there is; and the tasks of each class, and
 * those that take more than half of a node, over as many as run at once on the nodes that could run them.
 */
function lowerBound(queues: readonly Queue[]): number {
  const gpuNodes = Math.ceil(nodeCount / 4);
  const [all, ofGpus] = [queues, queues.filter(({ resources }) => (resources?.gpus ?? 0) > 0)];
  const work = (some: readonly Queue[], needOf: (queue: Queue) => number): number =>
    some.reduce((sum, queue) => sum + needOf(queue) * queue.times.reduce((total, time) => total + time, 0), 0);
  const memoryOf = ({ resources }: Queue): number => resources?.memory ?? 0;
  const longOf = (times: readonly number[]): number => times.reduce((sum, time) => sum + time, 0);
  const nodes = openNodes();
  const perClass = queues.map(
    (queue) => longOf(queue.times) / nodes.reduce((sum, node) => sum + countAlone(queue, node), 0),
  );
  const halves = queues.filter((queue) => queue.processors > processors / 2);
  const heavy = queues.filter((queue) => memoryOf(queue) > capacity.memory / 2);
  return Math.max(
    ...perClass,
    longOf(halves.flatMap(({ times }) => times)) / nodeCount,
    longOf(heavy.flatMap(({ times }) => times)) / nodeCount,
    ...queues.flatMap(({ times }) => times),
    work(all, (queue) => queue.processors) / (nodeCount * processors),
    work(all, memoryOf) / (nodeCount * capacity.memory),
    work(ofGpus, (queue) => queue.processors) / (gpuNodes * processors),
    work(ofGpus, memoryOf) / (gpuNodes * capacity.memory),
    work(ofGpus, ({ resources }) => (resources?.gpus ?? 0) / 1000) / (gpuNodes * capacity.gpus.length),
  );
}

/** Tasks of a class that a node runs at once, if nothing else runs there. */
function countAlone(queue: Queue, node: Node): number {
  const byProcessors = Math.floor(processors / queue.processors);
  return queue.resources === undefined
    ? byProcessors
    : Math.min(byProcessors, node.resources.countFittingAtAll(queue.resources));
}

const ratios = new Map<string, number[]>();
const rng = new Prng('resource packing');
for (let index = 0; index < mixCount; index++) {
  const mix = drawMix(rng.fork(String(index)));
  const least = lowerBound(mix);
  for (const [name, place] of Object.entries({ workqueue: ours, 'first fit': firstFit, 'best fit': bestFit }))
    ratios.set(name, [...(ratios.get(name) ?? []), makespanOf(mix, place) / least]);
}
report(
  'resource packing',
  [...ratios].flatMap(([name, values]) => [
    plain(`${name}: makespan over the lower bound, median of ${mixCount}`, median(values), ''),
    plain(`${name}: mean`, values.reduce((sum, value) => sum + value, 0) / values.length, ''),
    plain(`${name}: largest`, Math.max(...values), ''),
  ]),
);
