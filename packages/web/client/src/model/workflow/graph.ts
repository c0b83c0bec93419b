import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';

import { nodeHeight, nodeWidth } from './node-size.ts';

type WorkflowEdge = Workflow['edges'][number];

/** Why an edge may not be drawn, as a sentence. */
export interface EdgeFault {
  readonly code: 'MUT_WORKFLOW_CYCLE' | 'MUT_WORKFLOW_DUPLICATE_EDGE' | 'MUT_WORKFLOW_UNKNOWN_TASK';
  readonly message: string;
}

/** A workflow without tasks. */
export const emptyWorkflow: Workflow = { name: 'workflow', tasks: [], edges: [], outputs: null };

/** A task as it is added: a second of work on one processor. */
export function freshTask(id: string, x: number, y: number): WorkflowTask {
  return {
    id,
    kind: '',
    work: 1000,
    exchange: 0,
    processors_min: 1,
    processors_max: 1,
    command: '',
    inputs: [],
    outputs: [],
    matrix: null,
    x,
    y,
  };
}

/** The first of `task-1`, `task-2`, ... that no task has. */
export function freeId({ tasks }: Workflow, stem = 'task'): string {
  const taken = new Set(tasks.map(({ id }) => id));
  let number = tasks.length + 1;
  while (taken.has(`${stem}-${number}`)) number += 1;
  return `${stem}-${number}`;
}

/** The place nearest to the right of a place, or in the rows below, where a box of a task hides no other one. */
export function freePlace(
  { tasks }: Pick<Workflow, 'tasks'>,
  { x, y }: { readonly x: number; readonly y: number },
): { readonly x: number; readonly y: number } {
  const gap = 24;
  const isFree = (place: { readonly x: number; readonly y: number }): boolean =>
    tasks.every(
      (task) => Math.abs(task.x - place.x) >= nodeWidth + gap / 2 || Math.abs(task.y - place.y) >= nodeHeight + gap / 2,
    );
  for (let tried = 0; tried <= tasks.length; tried += 1) {
    const place = { x: x + (tried % 4) * (nodeWidth + gap), y: y + Math.floor(tried / 4) * (nodeHeight + gap) };
    if (isFree(place)) return place;
  }
  return { x, y };
}

const idsOfLists = new WeakMap<Workflow['tasks'], ReadonlyMap<string, WorkflowTask>>();

/** The tasks of a list by their id; made once for each list, which is never changed. */
export function tasksById(tasks: Workflow['tasks']): ReadonlyMap<string, WorkflowTask> {
  const known = idsOfLists.get(tasks);
  if (known !== undefined) return known;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  idsOfLists.set(tasks, byId);
  return byId;
}

const nextOfLists = new WeakMap<readonly WorkflowEdge[], ReadonlyMap<string, readonly string[]>>();

/** What waits for each task, by its id; made once for each list, which is never changed. */
function nextById(edges: readonly WorkflowEdge[]): ReadonlyMap<string, readonly string[]> {
  const known = nextOfLists.get(edges);
  if (known !== undefined) return known;
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  }
  nextOfLists.set(edges, next);
  return next;
}

/**
 * What of an edge between two tasks is wrong: one of them is unknown, the pair has an edge, or a way leads back. Cost:
 * O(tasks + edges), for lists that were asked about before only what lies behind the edge.
 */
export function findEdgeFault({ tasks, edges }: Workflow, from: string, to: string): EdgeFault | undefined {
  const known = tasksById(tasks);
  const unknown = [from, to].find((id) => !known.has(id));
  if (unknown !== undefined) return { code: 'MUT_WORKFLOW_UNKNOWN_TASK', message: `There is no task ${unknown}.` };
  if (from === to) return { code: 'MUT_WORKFLOW_CYCLE', message: `${from} cannot wait for itself.` };
  if (nextById(edges).get(from)?.includes(to) === true)
    return { code: 'MUT_WORKFLOW_DUPLICATE_EDGE', message: `There is an edge from ${from} to ${to} already.` };
  const way = findWay(edges, to, from);
  if (way === undefined) return undefined;
  const shown = way.length > 6 ? [...way.slice(0, 3), '…', ...way.slice(-2)] : way;
  return {
    code: 'MUT_WORKFLOW_CYCLE',
    message: `${from} would wait for itself: ${shown.join(' → ')} is there already.`,
  };
}

/** The tasks on a way from one to another along the edges, the shortest; undefined where none leads there. */
export function findWay(edges: readonly WorkflowEdge[], from: string, to: string): string[] | undefined {
  const next = nextById(edges);
  const cameFrom = new Map<string, string>([[from, '']]);
  const open = [from];
  for (let index = 0; index < open.length; index += 1) {
    const at = open[index] as string;
    if (at === to) return wayBack(cameFrom, to);
    for (const after of next.get(at) ?? []) {
      if (cameFrom.has(after)) continue;
      cameFrom.set(after, at);
      open.push(after);
    }
  }
  return undefined;
}

function wayBack(cameFrom: ReadonlyMap<string, string>, to: string): string[] {
  const way: string[] = [];
  for (let at = to; at !== ''; at = cameFrom.get(at) ?? '') way.unshift(at);
  return way;
}
