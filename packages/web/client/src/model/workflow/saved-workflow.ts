import type { Workflow } from '../../../../src/schema/index.ts';
import { emptyWorkflow, freshTask } from './graph.ts';

const mark = 'mutirao-workflow-1';

/** A workflow as the editor saves it: all of it, with the places of its tasks. */
export function saveWorkflow(workflow: Workflow): string {
  return `${JSON.stringify({ format: mark, ...workflow }, null, 1)}\n`;
}

/** Reads what {@link saveWorkflow} wrote; undefined for any other text, which the gateway may know. Parts that are missing are those of a fresh task. */
export function readSavedWorkflow(text: string): Workflow | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  return workflowOfSaved(read);
}

/** The workflow of a document that {@link saveWorkflow} wrote; undefined for any other. */
export function workflowOfSaved(read: unknown): Workflow | undefined {
  if (!isRecord(read) || read.format !== mark || !Array.isArray(read.tasks) || !Array.isArray(read.edges)) return undefined;
  const tasks = read.tasks.filter(isRecord).filter(({ id }) => typeof id === 'string' && id !== '').map(readTask);
  const edges = read.edges.filter(isRecord).filter(({ from, to }) => typeof from === 'string' && typeof to === 'string').map((edge) => ({ from: String(edge.from), to: String(edge.to), data_bytes: numberOr(edge.data_bytes, 0), share: numberOr(edge.share, 0) }));
  return { ...emptyWorkflow, name: typeof read.name === 'string' ? read.name : 'workflow', tasks, edges, outputs: Array.isArray(read.outputs) ? read.outputs.map(String) : null };
}

function readTask(task: Record<string, unknown>): Workflow['tasks'][number] {
  const matrix = isRecord(task.matrix) ? { operation: textOf(task.matrix.operation), dimension: numberOr(task.matrix.dimension, 0), parameters: textOf(task.matrix.parameters) } : null;
  return {
    ...freshTask(String(task.id), numberOr(task.x, 0), numberOr(task.y, 0)), kind: textOf(task.kind), command: textOf(task.command), matrix, work: numberOr(task.work, 1000), exchange: numberOr(task.exchange, 0),
    processors_min: numberOr(task.processors_min, 1), processors_max: numberOr(task.processors_max, 1), inputs: readFilesOf(task.inputs), outputs: readFilesOf(task.outputs),
  };
}

function readFilesOf(value: unknown): Workflow['tasks'][number]['inputs'] {
  return Array.isArray(value) ? value.filter(isRecord).filter(({ name }) => typeof name === 'string').map(({ name, bytes }) => ({ name: String(name), bytes: numberOr(bytes, 0) })) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
