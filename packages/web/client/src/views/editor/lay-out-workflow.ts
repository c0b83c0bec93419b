import type { Workflow } from '../../../../src/schema/index.ts';
import { askWorker, startWorker } from './ask-worker.ts';

/** Places for all tasks of a workflow, computed in a worker. */
export async function layOutWorkflow({
  tasks,
  edges,
}: Pick<Workflow, 'tasks' | 'edges'>): Promise<Map<string, { x: number; y: number }>> {
  const indexes = new Map(tasks.map(({ id }, index) => [id, index]));
  const pairs = edges.flatMap(({ from, to }) => {
    const [one, other] = [indexes.get(from), indexes.get(to)];
    return one === undefined || other === undefined ? [] : [[one, other] as const];
  });
  const worker = startWorker();
  const places = await askWorker(worker, { kind: 'layout', spec: { count: tasks.length, edges: pairs } }).finally(() =>
    worker.terminate(),
  );
  return new Map(
    tasks.map(({ id }, index) => [
      id,
      { x: Math.round(places[index]?.[0] ?? 0), y: Math.round(places[index]?.[1] ?? 0) },
    ]),
  );
}

/**
 * A workflow as it is, or laid out where it has no places of its own: its file has none, and all tasks are drawn at one
 * point.
 */
export async function placedWorkflow(workflow: Workflow): Promise<Workflow> {
  const { tasks } = workflow;
  const [first] = tasks;
  if (first === undefined || tasks.length === 1 || tasks.some(({ x, y }) => x !== first.x || y !== first.y))
    return workflow;
  const places = await layOutWorkflow(workflow);
  return { ...workflow, tasks: tasks.map((task) => ({ ...task, ...places.get(task.id) })) };
}
