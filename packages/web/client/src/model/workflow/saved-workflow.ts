import type { Workflow } from '../../../../src/schema/index.ts';
import { emptyWorkflow, freshTask } from './graph.ts';

const mark = 'mutirao-workflow-1';

/** A workflow as the editor saves it: all of it, with the places of its tasks. */
export function saveWorkflow(workflow: Workflow): string {
  return `${JSON.stringify({ format: mark, ...workflow }, null, 1)}\n`;
}

/** What came of reading a saved file: a workflow, or why there is none. */
export type ReadResult = { readonly workflow: Workflow } | { readonly refusal: string };

/**
 * Reads what {@link saveWorkflow} wrote; undefined for any other text, which the gateway may know. Parts that are
 * missing or odd are those of a fresh task; a damaged file is refused, with the place.
 */
export function readSavedWorkflow(text: string): ReadResult | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (error) {
    return text.includes(`"${mark}"`)
      ? { refusal: `The file is damaged: ${error instanceof Error ? error.message : String(error)}.` }
      : undefined;
  }
  const workflow = workflowOfSaved(read);
  if (workflow === undefined)
    return isRecord(read) && read.format === mark
      ? { refusal: 'The file is damaged: it has no list of tasks, or none of edges.' }
      : undefined;
  const twice = findNameTwice(workflow);
  return twice === undefined
    ? { workflow }
    : {
        refusal: `The file is damaged: its tasks ${twice.first + 1} and ${twice.second + 1} are both called ${twice.id}.`,
      };
}

function findNameTwice({
  tasks,
}: Workflow): { readonly id: string; readonly first: number; readonly second: number } | undefined {
  const seen = new Map<string, number>();
  for (const [second, { id }] of tasks.entries()) {
    const first = seen.get(id);
    if (first !== undefined) return { id, first, second };
    seen.set(id, second);
  }
  return undefined;
}

/** The workflow of a document that {@link saveWorkflow} wrote; undefined for any other. */
export function workflowOfSaved(read: unknown): Workflow | undefined {
  if (!isRecord(read) || read.format !== mark || !Array.isArray(read.tasks) || !Array.isArray(read.edges))
    return undefined;
  const tasks = read.tasks
    .filter(isRecord)
    .filter(({ id }) => typeof id === 'string' && id !== '')
    .map(readTask);
  const edges = read.edges
    .filter(isRecord)
    .filter(({ from, to }) => typeof from === 'string' && typeof to === 'string')
    .map((edge) => ({
      from: String(edge.from),
      to: String(edge.to),
      data_bytes: amountOr(edge.data_bytes, 0),
      share: amountOr(edge.share, 0),
    }));
  return {
    ...emptyWorkflow,
    name: typeof read.name === 'string' ? read.name : 'workflow',
    tasks,
    edges,
    outputs: Array.isArray(read.outputs) ? read.outputs.map(String) : null,
    ...(read.many_writers === true && { many_writers: true }),
  };
}

function readTask(task: Record<string, unknown>): Workflow['tasks'][number] {
  const matrix = isRecord(task.matrix)
    ? {
        operation: findText(task.matrix.operation),
        dimension: Math.round(amountOr(task.matrix.dimension, 0)),
        parameters: findText(task.matrix.parameters),
      }
    : null;
  return {
    ...freshTask(String(task.id), numberOr(task.x, 0), numberOr(task.y, 0)),
    kind: findText(task.kind),
    command: findText(task.command),
    matrix,
    work: amountOr(task.work, 1000),
    exchange: amountOr(task.exchange, 0),
    ...readWidth(task),
    ...(amountOr(task.memory_bytes, 0) > 0 && { memory_bytes: amountOr(task.memory_bytes, 0) }),
    inputs: readFilesOf(task.inputs),
    outputs: readFilesOf(task.outputs),
  };
}

function readFilesOf(value: unknown): Workflow['tasks'][number]['inputs'] {
  return Array.isArray(value)
    ? value
        .filter(isRecord)
        .filter(({ name }) => typeof name === 'string')
        .map(readFile)
    : [];
}

function readFile({
  name,
  bytes,
  home,
  comes_home: comesHome,
}: Record<string, unknown>): Workflow['tasks'][number]['inputs'][number] {
  return {
    name: String(name),
    bytes: amountOr(bytes, 0),
    ...(typeof home === 'string' && home !== '' && { home }),
    ...(typeof comesHome === 'boolean' && { comes_home: comesHome }),
  };
}

function readWidth(task: Record<string, unknown>): { processors_min: number; processors_max: number } {
  const least = Math.max(1, Math.round(amountOr(task.processors_min, 1)));
  return { processors_min: least, processors_max: Math.max(least, Math.round(amountOr(task.processors_max, 1))) };
}

/** A number of 0 or more. */
function amountOr(value: unknown, otherwise: number): number {
  const number = numberOr(value, otherwise);
  return number < 0 ? otherwise : number;
}

function findText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
