import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';
import type { WorkflowAnalysis } from './analysis.ts';
import { edgeId } from './edits.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';

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
  readonly handles: { readonly type: 'source' | 'target'; readonly position: never; readonly x: number; readonly y: number; readonly width: number; readonly height: number }[];
  readonly data: { readonly id: string; readonly more: string; readonly isCritical: boolean; readonly status: string };
}

/** A line of the graph. */
export interface FlowEdge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly selected: boolean;
  readonly className: string;
}

// All boxes are of one size, so that none has to be measured before its edges can be drawn.
const size = { width: nodeWidth, height: nodeHeight };
const shape = {
  ...size, measured: size,
  handles: [
    { type: 'target' as const, position: 'top' as never, x: nodeWidth / 2 - 5, y: -5, width: 10, height: 10 },
    { type: 'source' as const, position: 'bottom' as never, x: nodeWidth / 2 - 5, y: nodeHeight - 5, width: 10, height: 10 },
  ],
};

/** What is shown of a workflow beside itself. */
export interface FlowView {
  readonly analysis: WorkflowAnalysis;
  readonly selectedTasks: ReadonlySet<string>;
  readonly selectedEdges: ReadonlySet<string>;
  /** Places of tasks that are being dragged. */
  readonly dragged: ReadonlyMap<string, { x: number; y: number }>;
  /** States of the run that is watched, by the id of the task. */
  readonly statuses: ReadonlyMap<string, string>;
}

/**
 * Makes boxes and lines of a workflow again and again: those that look as before are the same objects as before, so that a change of one of thousands draws one. Cost: O(tasks + edges).
 */
export class FlowParts {
  #nodes = new Map<string, { readonly task: WorkflowTask; readonly node: FlowNode }>();
  #edges = new Map<string, FlowEdge>();
  #nodeList: FlowNode[] = [];
  #edgeList: FlowEdge[] = [];

  nodesOf({ tasks }: Workflow, view: FlowView): FlowNode[] {
    const critical = new Set(view.analysis.criticalPath);
    const known = this.#nodes;
    const next = new Map<string, { readonly task: WorkflowTask; readonly node: FlowNode }>();
    this.#nodeList = tasks.map((task) => {
      const node = nodeOf(task, { ...view, isCritical: critical.has(task.id) });
      const old = known.get(task.id);
      const kept = old !== undefined && looksAlike(old.node, node) ? old.node : node;
      next.set(task.id, { task, node: kept });
      return kept;
    });
    this.#nodes = next;
    return this.#nodeList;
  }

  edgesOf({ edges }: Workflow, { analysis, selectedEdges }: FlowView): FlowEdge[] {
    const path = analysis.criticalPath;
    const critical = new Set(path.slice(1).map((to, index) => edgeId(path[index] ?? '', to)));
    const next = new Map<string, FlowEdge>();
    const list = edges.map(({ from, to }) => {
      const id = edgeId(from, to);
      const made: FlowEdge = { id, source: from, target: to, selected: selectedEdges.has(id), className: critical.has(id) ? 'critical' : '' };
      const old = this.#edges.get(id);
      const kept = old !== undefined && old.selected === made.selected && old.className === made.className ? old : made;
      next.set(id, kept);
      return kept;
    });
    const isSame = list.length === this.#edgeList.length && list.every((edge, index) => edge === this.#edgeList[index]);
    this.#edges = next;
    if (!isSame) this.#edgeList = list;
    return this.#edgeList;
  }
}

function nodeOf(task: WorkflowTask, { analysis, selectedTasks, dragged, statuses, isCritical }: FlowView & { readonly isCritical: boolean }): FlowNode {
  const level = analysis.bLevels.get(task.id);
  const wide = task.processors_max > 1 ? `, ${task.processors_min === task.processors_max ? '' : `${task.processors_min}–`}${task.processors_max} processors` : '';
  const status = statuses.get(task.id) ?? '';
  const seconds = sayShort(task.work / 1000);
  return {
    ...shape, id: task.id, type: 'task', position: dragged.get(task.id) ?? { x: task.x, y: task.y }, selected: selectedTasks.has(task.id),
    ariaLabel: `Task ${task.id}, ${seconds}${wide}${level === undefined ? '' : `, b-level ${sayShort(level)}`}${isCritical ? ', on the critical path' : ''}${status === '' ? '' : `, ${status}`}`,
    data: { id: task.id, more: `${seconds}${wide}${level === undefined ? '' : ` · b ${sayShort(level)}`}`, isCritical, status },
  };
}

function sayShort(seconds: number): string {
  return seconds >= 7200 ? `${(seconds / 3600).toFixed(1)} h` : seconds >= 100 ? `${Math.round(seconds)} s` : `${Number(seconds.toFixed(1))} s`;
}

function looksAlike(one: FlowNode, other: FlowNode): boolean {
  return one.position.x === other.position.x && one.position.y === other.position.y && one.selected === other.selected && one.ariaLabel === other.ariaLabel;
}
