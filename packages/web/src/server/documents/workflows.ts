import { MutiraoError, isErrorCode } from '@mutirao/api/errors';
import { FormatError } from '@mutirao/formats';
import type { TextPlace, WorkflowDocument, WorkflowFile as DocumentFile } from '@mutirao/formats/workflow';

import type { Workflow, WorkflowFile } from '../../schema/index.ts';

/**
 * A workflow of the editor has no text: its tasks are numbered as lines in column 1, its edges in column 2, so that a
 * fault leads back to its part.
 */
const taskColumn = 1;
const edgeColumn = 2;
const subject = 'the workflow';

/** A workflow that was read, as the editor has it. */
export function workflowOfDocument({ name, tasks, edges, outputs, hasManyWriters }: WorkflowDocument): Workflow {
  return {
    name,
    outputs: outputs === undefined ? null : [...outputs],
    ...(hasManyWriters === true && { many_writers: true }),
    tasks: tasks.map(
      ({ id, kind, work, exchange, widthMin, widthMax, memory, command, inputs, outputs: written, matrix }) => ({
        id,
        kind,
        work,
        exchange,
        processors_min: widthMin,
        processors_max: widthMax,
        ...(memory !== undefined && { memory_bytes: memory }),
        command,
        inputs: inputs.map(copyFile),
        outputs: written.map(copyFile),
        matrix:
          matrix === undefined
            ? null
            : { operation: matrix.operation, dimension: matrix.dimension, parameters: matrix.parameters },
        x: matrix?.x ?? 0,
        y: matrix?.y ?? 0,
      }),
    ),
    edges: edges.map(({ from, to, data = 0, share = 0 }) => ({ from, to, data_bytes: data, share })),
  };
}

function copyFile({ name, bytes, home, comesHome }: DocumentFile): WorkflowFile {
  return {
    name,
    bytes,
    ...(home !== undefined && { home }),
    ...(comesHome !== undefined && { comes_home: comesHome }),
  };
}

function fileOf({ name, bytes, home, comes_home: comesHome }: WorkflowFile): DocumentFile {
  return { name, bytes, ...(home !== undefined && { home }), ...(comesHome !== undefined && { comesHome }) };
}

/** The same the other way. */
export function documentOfWorkflow({
  name,
  tasks,
  edges,
  outputs,
  many_writers: hasManyWriters = false,
}: Workflow): WorkflowDocument {
  return {
    name,
    subject,
    warnings: [],
    ...(outputs === null ? {} : { outputs }),
    ...(hasManyWriters && { hasManyWriters }),
    tasks: tasks.map((task, index) => ({
      id: task.id,
      kind: task.kind,
      work: task.work,
      exchange: task.exchange,
      widthMin: task.processors_min,
      widthMax: task.processors_max,
      command: task.command,
      inputs: task.inputs.map(fileOf),
      outputs: task.outputs.map(fileOf),
      ...(task.memory_bytes !== undefined && task.memory_bytes > 0 && { memory: task.memory_bytes }),
      ...(task.matrix === null ? {} : { matrix: { ...task.matrix, x: task.x, y: task.y } }),
      place: () => ({ line: index + 1, column: taskColumn }),
    })),
    edges: edges.map((edge, index) => ({
      from: edge.from,
      to: edge.to,
      data: edge.data_bytes,
      share: edge.share,
      place: () => ({ line: index + 1, column: edgeColumn }),
    })),
  };
}

/** The part of a workflow that a fault is about. */
export function partAt(
  { tasks, edges }: Workflow,
  { line, column }: TextPlace,
): { readonly task: string | null; readonly edge: { from: string; to: string } | null } {
  const edge = column === edgeColumn ? edges[line - 1] : undefined;
  return {
    task: column === taskColumn ? (tasks[line - 1]?.id ?? null) : null,
    edge: edge === undefined ? null : { from: edge.from, to: edge.to },
  };
}

/**
 * Does something with a workflow of the editor; what is wrong with it is said without the place, which would be none of
 * a text. @throws {MutiraoError}
 */
export function withoutPlaces<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    throw new MutiraoError(
      isErrorCode(error.code) ? error.code : 'MUT_BAD_REQUEST',
      `${error.problem.found}; expected ${error.problem.expected}`,
      { cause: error },
    );
  }
}
