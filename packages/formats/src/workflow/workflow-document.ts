import { sayReason } from '@mutirao/api/sentences';
import type { AlternativeRequest } from '@mutirao/core/messages';
import { findWorkflowFault, type EdgeDraft, type WorkflowDraft } from '@mutirao/core/workflow';
import { FormatError } from '../format-error.ts';
import type { GpuRequest } from '../values/resources.ts';

/** A place in a text, both counted from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A file that a task reads or writes. What a task changes in place is among its inputs and its outputs. */
export interface WorkflowFile {
  readonly name: string;
  readonly bytes: number;
  /**
   * Its place at home, absolute or below the folder of the whole; left out where that is its name. A URL of another
   * host cannot be read.
   */
  readonly home?: string;
  /** Of an output, whether it comes home; left out, it does where no task reads it. */
  readonly comesHome?: boolean;
}

/** A task as a file describes it. */
export interface DocumentTask {
  readonly id: string;
  /** What kind of task it is: a program's name, or an operation. */
  readonly kind: string;
  /** Mflop; run times are counted at {@link referenceSpeed}. */
  readonly work: number;
  readonly exchange: number;
  readonly widthMin: number;
  readonly widthMax: number;
  /** Bytes of memory that it takes; left out where nobody says. */
  readonly memory?: number;
  /** GPUs that it takes; left out where nobody says. */
  readonly gpus?: GpuRequest;
  /** Amounts of counted resources that it takes, by name; left out where nobody says. */
  readonly named?: Readonly<Record<string, number>>;
  /** What it can do with instead, in the order of preference; left out for nothing else. */
  readonly alternatives?: readonly AlternativeRequest[];
  /** A line for the shell; empty where the file has none. */
  readonly command: string;
  readonly inputs: readonly WorkflowFile[];
  readonly outputs: readonly WorkflowFile[];
  /** Of the XML of moreira2009: the dimension of its matrix, further parameters, and where an editor draws it. */
  readonly matrix?: {
    readonly operation: string;
    readonly dimension: number;
    readonly parameters: string;
    readonly x: number;
    readonly y: number;
  };
  readonly place: () => TextPlace;
}

/** An edge as a file describes it. */
export interface DocumentEdge {
  readonly from: string;
  readonly to: string;
  /** Data that is sent in addition to the files that one writes and the other reads. */
  readonly data?: number;
  readonly share?: number;
  readonly place: () => TextPlace;
}

/** A workflow as a file describes it, with the places of its parts, so that an error can name its place. */
export interface WorkflowDocument {
  readonly name: string;
  /** The file as the user named it. */
  readonly subject: string;
  readonly tasks: readonly DocumentTask[];
  readonly edges: readonly DocumentEdge[];
  /** Files that the whole is made for, also where tasks read them; left out, those that no task reads. */
  readonly outputs?: readonly string[];
  /** What is odd in the file and was put right, a sentence each. */
  readonly warnings: readonly string[];
  /**
   * Whether several tasks may write one file, as in profiled instances; what a reader gets is then what the task before
   * it wrote.
   */
  readonly hasManyWriters?: boolean;
}

/** Speed of the reference processor of run times in files, in Mflop/s: a second of run time is this much work. */
export const referenceSpeed = 1000;

/** Edges without those that are named a second time, which Pegasus and WfCommons allow. */
export function distinctEdges(edges: readonly DocumentEdge[]): DocumentEdge[] {
  const seen = new Set<string>();
  return edges.filter(({ from, to }) => {
    const key = JSON.stringify([from, to]);
    return !seen.has(key) && seen.add(key).size > 0;
  });
}

/** Says of an output of a task whether it comes home. Cost: O(files), once. */
export function isComingHome({
  tasks,
  outputs = [],
}: WorkflowDocument): (task: DocumentTask, file: WorkflowFile) => boolean {
  const readers = Map.groupBy(
    tasks.flatMap(({ id, inputs }) => inputs.map(({ name }) => ({ id, name }))),
    ({ name }) => name,
  );
  return ({ id }, { name, comesHome }) =>
    comesHome ?? (outputs.includes(name) || (readers.get(name) ?? []).every((reader) => reader.id === id));
}

/**
 * Checks a document and makes a draft of it: the data of an edge is what its task writes and the other one reads, in
 * the writer's sizes.
 *
 * @throws {FormatError} with the code of what is wrong and the place of the task or the edge.
 */
export function getDraft(document: WorkflowDocument): WorkflowDraft {
  const { tasks, edges, subject } = document;
  refuseManyWriters(document);
  const written = new Map(
    tasks.map(({ id, outputs }) => [id, new Map(outputs.map(({ name, bytes }) => [name, bytes]))]),
  );
  const read = new Map(tasks.map(({ id, inputs }) => [id, inputs]));
  const drafts: EdgeDraft[] = edges.map(({ from, to, data = 0, share = 0 }) => {
    const sent = (read.get(to) ?? []).reduce((sum, { name }) => sum + (written.get(from)?.get(name) ?? 0), 0);
    return { from, to, data: data + sent, share };
  });
  const draft = {
    tasks: tasks.map(({ id, work, exchange, widthMin, widthMax }) => ({ id, work, exchange, widthMin, widthMax })),
    edges: drafts,
  };
  const fault = findWorkflowFault(draft);
  if (fault === undefined) return draft;
  const part = fault.taskIndex !== undefined ? tasks[fault.taskIndex] : edges[fault.edgeIndex ?? -1];
  throw new FormatError({
    code: fault.code,
    subject,
    ...(part?.place() ?? { line: 1, column: 1 }),
    found: sayReason(fault.fault),
    expected: 'a workflow that can run',
  });
}

/** @throws {FormatError} MUT_WORKFLOW_OUTPUT_CONFLICT */
function refuseManyWriters({ tasks, subject, hasManyWriters = false }: WorkflowDocument): void {
  const writers = new Map<string, string>();
  for (const { id, outputs, place } of hasManyWriters ? [] : tasks) {
    for (const { name } of outputs) {
      const other = writers.get(name);
      if (other !== undefined && other !== id) {
        throw new FormatError({
          code: 'MUT_WORKFLOW_OUTPUT_CONFLICT',
          subject,
          ...place(),
          found: `the file ${name} as an output of both ${other} and ${id}`,
          expected: 'one writer of each file',
        });
      }
      writers.set(name, id);
    }
  }
}
