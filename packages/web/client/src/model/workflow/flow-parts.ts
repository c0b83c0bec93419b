import type { WorkflowTask } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from './analysis.ts';
import { edgeId } from './edits.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';
import type { Point } from './sight.ts';

/** A box of the graph, as the graph library takes it. */
export interface FlowNode {
  readonly id: string;
  readonly type: 'task';
  readonly position: { x: number; y: number };
  readonly selected: boolean;
  readonly ariaLabel: string;
  readonly width: number;
  readonly height: number;
  readonly measured: { readonly width: number; readonly height: number };
  readonly handles: {
    readonly type: 'source' | 'target';
    readonly position: never;
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
  readonly data: {
    readonly id: string;
    readonly title: string;
    readonly more: string;
    readonly isCritical: boolean;
    readonly status: string;
  };
}

// All boxes are of one size, so that none has to be measured before its edges can be drawn.
const size = { width: nodeWidth, height: nodeHeight };
const shape = {
  ...size,
  measured: size,
  handles: [
    { type: 'target' as const, position: 'top' as never, x: nodeWidth / 2 - 5, y: -5, width: 10, height: 10 },
    {
      type: 'source' as const,
      position: 'bottom' as never,
      x: nodeWidth / 2 - 5,
      y: nodeHeight - 5,
      width: 10,
      height: 10,
    },
  ],
};

/** The parts of the drawing in addition to the tasks. */
export interface FlowView {
  readonly analysis: Pick<WorkflowAnalysis, 'bLevels' | 'criticalPath'>;
  readonly selectedTasks: ReadonlySet<string>;
  /** Places of tasks that are being dragged. */
  readonly dragged: ReadonlyMap<string, Point>;
  /** States of the run that is watched, by the id of the task. */
  readonly statuses: ReadonlyMap<string, string>;
}

/** All that the box of a task is made of. */
interface BoxParts {
  readonly task: WorkflowTask;
  readonly place: Point;
  readonly level: number | undefined;
  readonly isCritical: boolean;
  readonly isSelected: boolean;
  readonly status: string;
}

/**
 * Makes boxes again and again: those that look as before are the same objects as before, so that a change of one of
 * thousands draws one. Cost: O(tasks that are given).
 */
export class FlowParts {
  #known = new Map<string, BoxParts & { readonly node: FlowNode }>();
  #list: FlowNode[] = [];

  /** @returns the same list as before where nothing is another one. */
  nodesOf(tasks: readonly WorkflowTask[], { analysis, selectedTasks, dragged, statuses }: FlowView): FlowNode[] {
    const critical = criticalParts(analysis.criticalPath).tasks;
    const next = new Map<string, BoxParts & { readonly node: FlowNode }>();
    const list = tasks.map((task) => {
      const { id } = task;
      const parts: BoxParts = {
        task,
        place: dragged.get(id) ?? task,
        level: analysis.bLevels.get(id),
        isCritical: critical.has(id),
        isSelected: selectedTasks.has(id),
        status: statuses.get(id) ?? '',
      };
      const old = this.#known.get(id);
      const kept = old !== undefined && isAlike(old, parts) ? old : { ...parts, node: getNode(parts) };
      next.set(id, kept);
      return kept.node;
    });
    this.#known = next;
    if (list.length !== this.#list.length || list.some((node, index) => node !== this.#list[index])) this.#list = list;
    return this.#list;
  }
}

const partsOfPaths = new WeakMap<
  readonly string[],
  { readonly tasks: ReadonlySet<string>; readonly edges: ReadonlySet<string> }
>();

/** The tasks and the edges of a path, by their ids; the same sets for the same path. */
export function criticalParts(path: readonly string[]): {
  readonly tasks: ReadonlySet<string>;
  readonly edges: ReadonlySet<string>;
} {
  const known = partsOfPaths.get(path);
  if (known !== undefined) return known;
  const parts = {
    tasks: new Set(path),
    edges: new Set(path.slice(1).map((to, index) => edgeId(path[index] ?? '', to))),
  };
  partsOfPaths.set(path, parts);
  return parts;
}

function isAlike(one: BoxParts, other: BoxParts): boolean {
  return (
    one.task === other.task &&
    one.place.x === other.place.x &&
    one.place.y === other.place.y &&
    one.level === other.level &&
    one.isCritical === other.isCritical &&
    one.isSelected === other.isSelected &&
    one.status === other.status
  );
}

function getNode({ task, place, level, isCritical, isSelected, status }: BoxParts): FlowNode {
  const wide =
    task.processors_max > 1
      ? `, ${task.processors_min === task.processors_max ? '' : `${task.processors_min}–`}${task.processors_max} ` +
        'processors'
      : '';
  const seconds = sayShort(task.work / 1000);
  return {
    ...shape,
    id: task.id,
    type: 'task',
    position: { x: place.x, y: place.y },
    selected: isSelected,
    ariaLabel:
      `Task ${task.id}, ` +
      `${seconds}${wide}${level === undefined ? '' : `, b-level ${sayShort(level)}`}${isCritical ? ', on the critical path' : ''}${status === '' ? '' : `, ${status}`}`,
    data: {
      id: task.id,
      // What a task does says more than a number that a program gave it.
      title: task.kind || task.id,
      more: `${task.kind === '' || task.kind === task.id ? '' : `${task.id} · `}${seconds}${wide}${level === undefined ? '' : ` · b ${sayShort(level)}`}`,
      isCritical,
      status,
    },
  };
}

function sayShort(seconds: number): string {
  return seconds >= 7200
    ? `${(seconds / 3600).toFixed(1)} h`
    : seconds >= 100
      ? `${Math.round(seconds)} s`
      : `${Number(seconds.toFixed(1))} s`;
}

/**
 * Boxes as the data of one SVG path for each status, `critical` and `plain`: what thousands of tasks are drawn by where
 * nobody can read their names.
 */
export function boxPaths(
  tasks: readonly WorkflowTask[],
  { analysis, statuses, dragged }: FlowView,
): ReadonlyMap<string, string> {
  const critical = criticalParts(analysis.criticalPath).tasks;
  const paths = new Map<string, string[]>();
  for (const task of tasks) {
    const look = statuses.get(task.id) ?? (critical.has(task.id) ? 'critical' : 'plain');
    const { x, y } = dragged.get(task.id) ?? task;
    const path = `M${x} ${y}h${nodeWidth}v${nodeHeight}h${-nodeWidth}z`;
    const alike = paths.get(look);
    if (alike === undefined) paths.set(look, [path]);
    else alike.push(path);
  }
  return new Map([...paths].map(([look, parts]) => [look, parts.join('')]));
}
