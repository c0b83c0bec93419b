import type { LocatedValue } from '../located-value.ts';
import type { DocumentEdge, DocumentTask, WorkflowFile } from '../workflow-document.ts';

/** Tasks of a WfFormat file of any version. */
export interface WfTasks {
  readonly tasks: readonly DocumentTask[];
  readonly edges: readonly DocumentEdge[];
}

/** A text that may be missing or null. */
export function textOr(value: LocatedValue, fallback: string): string {
  return value.value === null ? fallback : value.text(fallback);
}

/** A number that may be missing or null. */
export function numberOr(value: LocatedValue, fallback: number): number {
  return value.value === null ? fallback : value.number(fallback);
}

/** A number of 0 or more that may be missing or null. @throws {FormatError} MUT_WORKFLOW_COST */
export function amountOr(value: LocatedValue, fallback: number): number {
  const amount = numberOr(value, fallback);
  if (amount < 0) throw value.fault('a number of 0 or more', 'MUT_WORKFLOW_COST');
  return amount;
}

/** Edges from the parents of a task and to its children. */
export function getEdges(row: LocatedValue, id: string, findTask: (reference: LocatedValue) => string): DocumentEdge[] {
  return [
    ...row
      .at('parents')
      .list()
      .map((parent) => ({ from: findTask(parent), to: id, place: () => parent.place() })),
    ...row
      .at('children')
      .list()
      .map((child) => ({ from: id, to: findTask(child), place: () => child.place() })),
  ];
}

/** Processors of a task; a part of one counts as a whole. @throws {FormatError} MUT_WORKFLOW_WIDTH */
export function getWidths(cores: LocatedValue | undefined): Pick<DocumentTask, 'widthMin' | 'widthMax'> {
  const count = cores === undefined ? 1 : numberOr(cores, 1);
  if (cores !== undefined && !(count > 0)) throw cores.fault('a number of processors above 0', 'MUT_WORKFLOW_WIDTH');
  return { widthMin: Math.ceil(count), widthMax: Math.ceil(count) };
}

/** Memory of a task. @param unit bytes of one. @throws {FormatError} MUT_WORKFLOW_COST */
export function findMemory(memory: LocatedValue | undefined, unit: number): Pick<DocumentTask, 'memory'> {
  const amount = memory === undefined ? 0 : amountOr(memory, 0);
  return amount === 0 ? {} : { memory: amount * unit };
}

/**
 * A file by its id. An id that is a path from the root, or a URL of another host, stands for a file below the folder of
 * the whole: nothing is fetched, and no run writes there.
 */
export function makeFile(name: string, bytes: number): WorkflowFile {
  const [, below] = /^(?:\/+|(?!file:)[a-z][a-z0-9+.-]*:\/\/)(.*)$/i.exec(name) ?? [];
  return below === undefined ? { name, bytes } : { name, bytes, home: below };
}

/** Files without those that are listed again. */
export function distinctFiles(files: readonly WorkflowFile[]): WorkflowFile[] {
  return [...new Map(files.map((file) => [file.name, file])).values()];
}
