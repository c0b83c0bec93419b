import { Graph, layout } from '@dagrejs/dagre';
import { nodeHeight, nodeWidth } from './node-size.ts';

/** A graph to lay out: the number of nodes, and pairs of indexes. */
export interface LayoutSpec {
  readonly count: number;
  readonly edges: readonly (readonly [number, number])[];
}

/** Where each task is to be, by its index: the corner above and left of it. */
export type LayoutPlaces = readonly (readonly [number, number])[];

/** Graphs of more edges than this are laid out by levels alone: a search for fewer crossings takes minutes there. */
const searchedMax = 2500;

/**
 * Lays a graph out in levels, from top to bottom. Cost: seconds for thousands of tasks, so it is called in a worker.
 */
export function layOut(spec: LayoutSpec): LayoutPlaces {
  const places = spec.count + spec.edges.length > searchedMax ? layOutByLevels(spec) : layOutWithDagre(spec);
  return wrapLevels(places);
}

/** Least tasks of a level that stand side by side. */
const rowMin = 8;
/** Width of a drawing, in heights of it, from which on its levels are wrapped. */
const wideMax = 2.5;
const [rowGap, levelGap, taskGap] = [28, 72, 24];

/**
 * Breaks levels of very many tasks into rows, in their order from left to right: a level of a thousand tasks in one
 * line is a hair. Levels of which none is too wide stay as they are.
 */
export function wrapLevels(places: LayoutPlaces): LayoutPlaces {
  const levels = [...Map.groupBy(places.keys(), (task) => Math.round(places[task]?.[1] ?? 0))]
    .sort(([one], [other]) => one - other)
    .map(([, tasks]) => tasks.sort((one, other) => (places[one]?.[0] ?? 0) - (places[other]?.[0] ?? 0)));
  const inRow = Math.max(rowMin, Math.ceil(Math.sqrt((wideMax * places.length * nodeHeight) / nodeWidth)));
  if (levels.every(({ length }) => length <= inRow)) return places;
  const wrapped: (readonly [number, number])[] = [...places];
  let y = 0;
  for (const level of levels) {
    for (let from = 0; from < level.length; from += inRow) {
      const row = level.slice(from, from + inRow);
      row.forEach((task, index) => {
        wrapped[task] = [(index - row.length / 2) * (nodeWidth + taskGap), y];
      });
      y += nodeHeight + (from + inRow < level.length ? rowGap : levelGap);
    }
  }
  return wrapped;
}

function layOutWithDagre({ count, edges }: LayoutSpec): LayoutPlaces {
  const graph = new Graph();
  // Drawn from below with edges the other way, so that each task comes as near to the top as it may: the library draws
  // its levels towards the ends.
  graph.setGraph({ rankdir: 'BT', nodesep: 28, ranksep: 64, ranker: 'longest-path' });
  graph.setDefaultEdgeLabel(() => ({}));
  for (let index = 0; index < count; index += 1) graph.setNode(String(index), { width: nodeWidth, height: nodeHeight });
  for (const [from, to] of edges) graph.setEdge(String(to), String(from));
  layout(graph);
  return Array.from({ length: count }, (_, index) => {
    const { x = 0, y = 0 } = graph.node(String(index)) as { x?: number; y?: number };
    return [x - nodeWidth / 2, y - nodeHeight / 2] as const;
  });
}

/**
 * Each task one level below the lowest that it waits for; within a level by the mean place of those above it, down and
 * up a few times.
 */
export function layOutByLevels({ count, edges }: LayoutSpec): LayoutPlaces {
  const above: number[][] = Array.from({ length: count }, () => []);
  const below: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    above[to]?.push(from);
    below[from]?.push(to);
  }
  const levels = listLevels({ above, below });
  const place = new Array<number>(count).fill(0);
  for (const level of levels)
    level.forEach((task, index) => {
      place[task] = index - level.length / 2;
    });
  const sweep = (level: number[], beside: readonly (readonly number[])[]): void => {
    const mean = new Map(level.map((task) => [task, meanPlace(beside[task] ?? [], place) ?? (place[task] as number)]));
    level.sort((one, other) => (mean.get(one) ?? 0) - (mean.get(other) ?? 0));
    level.forEach((task, index) => {
      place[task] = index - level.length / 2;
    });
  };
  for (let round = 0; round < 4; round += 1) {
    for (const level of levels) sweep(level, above);
    for (const level of levels.toReversed()) sweep(level, below);
  }
  const depth = new Array<number>(count).fill(0);
  levels.forEach((level, index) => {
    for (const task of level) depth[task] = index;
  });
  return place.map((across, task) => [across * (nodeWidth + 24), (depth[task] as number) * (nodeHeight + 72)] as const);
}

function meanPlace(tasks: readonly number[], place: readonly number[]): number | undefined {
  return tasks.length === 0 ? undefined : tasks.reduce((sum, task) => sum + (place[task] as number), 0) / tasks.length;
}

function listLevels({
  above,
  below,
}: {
  readonly above: readonly (readonly number[])[];
  readonly below: readonly (readonly number[])[];
}): number[][] {
  const waits = above.map(({ length }) => length);
  let level = waits.flatMap((count, task) => (count === 0 ? [task] : []));
  const levels: number[][] = [];
  while (level.length > 0) {
    levels.push(level);
    const next: number[] = [];
    for (const task of level)
      for (const after of below[task] ?? []) if ((waits[after] = (waits[after] as number) - 1) === 0) next.push(after);
    level = next;
  }
  return levels;
}
