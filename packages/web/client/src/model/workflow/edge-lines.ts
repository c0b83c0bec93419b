import type { Workflow } from '../../../../src/schema/index.ts';
import { edgeId } from './edits.ts';
import { tasksById } from './graph.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';
import type { Area, Point } from './sight.ts';

type WorkflowEdge = Workflow['edges'][number];
export type EdgeLook = 'plain' | 'critical' | 'selected';

/** Where tasks are that are being dragged, by their id. */
export type Places = ReadonlyMap<string, Point>;

/**
 * The line of an edge: from the lower edge of one box to the upper one of another, with how far its bends reach down
 * and up, and to the side.
 */
interface EdgeLine {
  readonly start: Point;
  readonly end: Point;
  readonly bend: number;
  readonly aside: number;
}

/** What decides how edges are drawn. */
export interface EdgeView {
  readonly area: Area;
  readonly dragged: Places;
  /** Ids of edges, as {@link edgeId} makes them. */
  readonly critical: ReadonlySet<string>;
  readonly selected: ReadonlySet<string>;
}

/**
 * The lines of all edges that reach into an area, as the data of one SVG path for each look: one element for thousands
 * of edges. Cost: O(tasks + edges).
 */
export function edgePaths(
  { tasks, edges }: Pick<Workflow, 'tasks' | 'edges'>,
  { area, dragged, critical, selected }: EdgeView,
): Readonly<Record<EdgeLook, string>> & { readonly count: number } {
  const parts: Record<EdgeLook, string[]> = { plain: [], critical: [], selected: [] };
  const known = tasksById(tasks);
  for (const edge of edges) {
    const line = getLine(edge, known, dragged);
    if (line === undefined || !reachesInto(line, area)) continue;
    const id = critical.size + selected.size === 0 ? '' : edgeId(edge.from, edge.to);
    parts[selected.has(id) ? 'selected' : critical.has(id) ? 'critical' : 'plain'].push(getPath(line));
  }
  return {
    plain: parts.plain.join(''),
    critical: parts.critical.join(''),
    selected: parts.selected.join(''),
    count: parts.plain.length + parts.critical.length + parts.selected.length,
  };
}

/** The edge whose line is nearest to a point, no further than `reach`; undefined where none is. */
export function findEdgeAt(
  { tasks, edges }: Pick<Workflow, 'tasks' | 'edges'>,
  point: Point,
  reach: number,
): WorkflowEdge | undefined {
  const known = tasksById(tasks);
  const near: Area = { left: point.x - reach, right: point.x + reach, top: point.y - reach, bottom: point.y + reach };
  let [found, least]: [WorkflowEdge | undefined, number] = [undefined, reach];
  for (const edge of edges) {
    const line = getLine(edge, known, noPlaces);
    if (line === undefined || !reachesInto(line, near)) continue;
    const distance = distanceTo(line, point);
    if (distance <= least) [found, least] = [edge, distance];
  }
  return found;
}

const noPlaces: Places = new Map();
const leastBend = 30;
const stepsOfLine = 24;

function getLine({ from, to }: WorkflowEdge, known: ReadonlyMap<string, Point>, dragged: Places): EdgeLine | undefined {
  const [one, other] = [dragged.get(from) ?? known.get(from), dragged.get(to) ?? known.get(to)];
  if (one === undefined || other === undefined) return undefined;
  const [start, end] = [
    { x: one.x + nodeWidth / 2, y: one.y + nodeHeight },
    { x: other.x + nodeWidth / 2, y: other.y },
  ];
  // A line that leads up bends further out, and to the side of a box that is straight above it, so that it stands out
  // from the boxes that it passes.
  const fall = end.y - start.y;
  const aside = fall < 0 && Math.abs(end.x - start.x) < nodeWidth ? 1.5 * nodeWidth : 0;
  return {
    start,
    end,
    aside,
    bend: fall >= 2 * leastBend ? fall / 2 : leastBend + 4 * Math.sqrt(2 * leastBend - fall),
  };
}

function getPath({ start, end, bend, aside }: EdgeLine): string {
  return (
    `M${start.x} ${start.y}C${start.x + aside} ${start.y + bend} ${end.x + aside} ${end.y - bend} ${end.x} ` +
    `${end.y}`
  );
}

function reachesInto({ start, end, bend, aside }: EdgeLine, { left, top, right, bottom }: Area): boolean {
  const up = end.y - start.y < 2 * leastBend ? bend : 0;
  return (
    Math.min(start.x, end.x) <= right &&
    Math.max(start.x, end.x) + aside >= left &&
    Math.min(start.y, end.y) - up <= bottom &&
    Math.max(start.y, end.y) + up >= top
  );
}

function distanceTo(line: EdgeLine, point: Point): number {
  let least = Infinity;
  let last = line.start;
  for (let step = 1; step <= stepsOfLine; step += 1) {
    const next = getPoint(line, step / stepsOfLine);
    least = Math.min(least, distanceToSegment(point, last, next));
    last = next;
  }
  return least;
}

function getPoint({ start, end, bend, aside }: EdgeLine, along: number): Point {
  const rest = 1 - along;
  const [first, second, third, fourth] = [rest ** 3, 3 * rest ** 2 * along, 3 * rest * along ** 2, along ** 3];
  return {
    x: (first + second) * start.x + (third + fourth) * end.x + (second + third) * aside,
    y: first * start.y + second * (start.y + bend) + third * (end.y - bend) + fourth * end.y,
  };
}

function distanceToSegment(point: Point, start: Point, end: Point): number {
  const [wide, high] = [end.x - start.x, end.y - start.y];
  const length = wide ** 2 + high ** 2;
  const along =
    length === 0 ? 0 : Math.min(1, Math.max(0, ((point.x - start.x) * wide + (point.y - start.y) * high) / length));
  return Math.hypot(point.x - start.x - along * wide, point.y - start.y - along * high);
}
