import type { Workflow, WorkflowTask } from '../../../../src/schema/index.ts';
import { findEdgeFault, freshTask } from './graph.ts';

type WorkflowEdge = Workflow['edges'][number];

/** What may be done to a workflow, as imperatives. */
export type WorkflowEdit =
  | { readonly kind: 'AddTask'; readonly id: string; readonly x: number; readonly y: number }
  | { readonly kind: 'ChangeTask'; readonly id: string; readonly change: Partial<Omit<WorkflowTask, 'id'>> }
  | { readonly kind: 'RenameTask'; readonly id: string; readonly newId: string }
  | { readonly kind: 'MoveTasks'; readonly places: ReadonlyMap<string, { readonly x: number; readonly y: number }> }
  | { readonly kind: 'AddEdge'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'ChangeEdge';
      readonly from: string;
      readonly to: string;
      readonly change: Partial<Pick<WorkflowEdge, 'data_bytes' | 'share'>>;
    }
  | {
      readonly kind: 'RemoveParts';
      readonly taskIds: ReadonlySet<string>;
      readonly edges: readonly { readonly from: string; readonly to: string }[];
    }
  | { readonly kind: 'ChangeWorkflow'; readonly change: Partial<Pick<Workflow, 'name' | 'outputs'>> }
  | { readonly kind: 'ReplaceWorkflow'; readonly workflow: Workflow };

/** What came of an edit: another workflow, or why there is none. */
export type EditResult = { readonly workflow: Workflow } | { readonly refusal: string };

/**
 * Does an edit. The workflow given stays as it is, and tasks that are not concerned stay the same objects. Cost:
 * O(tasks + edges).
 */
export function editWorkflow(workflow: Workflow, edit: WorkflowEdit): EditResult {
  switch (edit.kind) {
    case 'AddTask':
      return addTask(workflow, edit);
    case 'ChangeTask':
      return {
        workflow: {
          ...workflow,
          tasks: workflow.tasks.map((task) => (task.id === edit.id ? { ...task, ...edit.change } : task)),
        },
      };
    case 'RenameTask':
      return renameTask(workflow, edit);
    case 'MoveTasks':
      return { workflow: { ...workflow, tasks: workflow.tasks.map((task) => moved(task, edit.places)) } };
    case 'AddEdge':
      return addEdge(workflow, edit);
    case 'ChangeEdge':
      return {
        workflow: {
          ...workflow,
          edges: workflow.edges.map((edge) =>
            edge.from === edit.from && edge.to === edit.to ? { ...edge, ...edit.change } : edge,
          ),
        },
      };
    case 'RemoveParts':
      return { workflow: removeParts(workflow, edit) };
    case 'ChangeWorkflow':
      return { workflow: { ...workflow, ...edit.change } };
    case 'ReplaceWorkflow':
      return { workflow: edit.workflow };
  }
}

function addTask(
  workflow: Workflow,
  { id, x, y }: { readonly id: string; readonly x: number; readonly y: number },
): EditResult {
  if (id === '' || workflow.tasks.some((task) => task.id === id))
    return { refusal: id === '' ? 'A task needs a name.' : `There is a task ${id} already.` };
  return { workflow: { ...workflow, tasks: [...workflow.tasks, freshTask(id, x, y)] } };
}

function renameTask(workflow: Workflow, { id, newId }: { readonly id: string; readonly newId: string }): EditResult {
  if (newId === id) return { workflow };
  if (newId === '') return { refusal: 'A task needs a name.' };
  if (workflow.tasks.some((task) => task.id === newId)) return { refusal: `There is a task ${newId} already.` };
  return {
    workflow: {
      ...workflow,
      tasks: workflow.tasks.map((task) => (task.id === id ? { ...task, id: newId } : task)),
      edges: workflow.edges.map((edge) =>
        edge.from === id || edge.to === id
          ? { ...edge, from: edge.from === id ? newId : edge.from, to: edge.to === id ? newId : edge.to }
          : edge,
      ),
    },
  };
}

function moved(
  task: WorkflowTask,
  places: ReadonlyMap<string, { readonly x: number; readonly y: number }>,
): WorkflowTask {
  const place = places.get(task.id);
  return place === undefined || (place.x === task.x && place.y === task.y) ? task : { ...task, x: place.x, y: place.y };
}

function addEdge(workflow: Workflow, { from, to }: { readonly from: string; readonly to: string }): EditResult {
  const fault = findEdgeFault(workflow, from, to);
  if (fault !== undefined) return { refusal: fault.message };
  return { workflow: { ...workflow, edges: [...workflow.edges, { from, to, data_bytes: 0, share: 0 }] } };
}

function removeParts(
  workflow: Workflow,
  {
    taskIds,
    edges,
  }: {
    readonly taskIds: ReadonlySet<string>;
    readonly edges: readonly { readonly from: string; readonly to: string }[];
  },
): Workflow {
  const gone = new Set(edges.map(({ from, to }) => edgeId(from, to)));
  return {
    ...workflow,
    tasks: workflow.tasks.filter(({ id }) => !taskIds.has(id)),
    edges: workflow.edges.filter(
      ({ from, to }) => !taskIds.has(from) && !taskIds.has(to) && !gone.has(edgeId(from, to)),
    ),
  };
}

/** The name of an edge: there is one at most for each pair. */
export function edgeId(from: string, to: string): string {
  return `${from}\u0000${to}`;
}
