import { FormatError } from '../format-error.ts';
import type { DocumentEdge, DocumentTask, WorkflowDocument } from './workflow-document.ts';

/**
 * Whose version of a file each task reads.
 *
 * A task reads the version of the last task before it that writes the file. A file that one task writes makes its
 * readers wait for it, also without an edge that says so. What only tasks after the reader write, it reads from home. A
 * task that changes a file in place reads what was there before it.
 */
export class FileSources {
  /** Those of the document, and those from tasks whose files are read without an edge that says so. */
  readonly edges: readonly DocumentEdge[];
  /** By reader, and the name of the file. */
  readonly #writers = new Map<string, Map<string, string>>();
  readonly #read = new Set<string>();
  /** Versions that a later task of the same file replaces. */
  readonly #replaced = new Set<string>();

  /** @throws {FormatError} MUT_WORKFLOW_OUTPUT_CONFLICT where it is not clear whose file a task reads. */
  constructor(document: WorkflowDocument) {
    const { tasks } = document;
    const order = new Order(document);
    const writersOf = listWriters(tasks);
    const chooser = new Chooser(document, order);
    const others = ({ id }: DocumentTask, name: string): string[] =>
      (writersOf.get(name) ?? []).filter((writer) => writer !== id);
    // Those with one other writer first: the edges that they add say which of several writers is the last.
    for (const task of tasks) {
      for (const { name } of task.inputs) {
        const [writer, ...further] = others(task, name);
        if (writer !== undefined && further.length === 0) this.#note(task, name, chooser.only(task, name, writer));
      }
    }
    for (const task of tasks) {
      for (const { name } of task.inputs) {
        const writers = others(task, name);
        if (writers.length > 1) this.#note(task, name, chooser.getLast(task, name, writers));
      }
    }
    this.edges = order.edges;
    for (const [name, writers] of writersOf) if (writers.length > 1) this.#findReplaced(name, writers, order);
  }

  /** Whose file a task reads; undefined for one from home. */
  writerOf(reader: string, file: string): string | undefined {
    return this.#writers.get(reader)?.get(file);
  }

  isRead(writer: string, file: string): boolean {
    return this.#read.has(getKey(writer, file));
  }

  /** Whether a task that comes later writes the file, too. */
  isReplaced(writer: string, file: string): boolean {
    return this.#replaced.has(getKey(writer, file));
  }

  #note({ id }: DocumentTask, file: string, writer: string | undefined): void {
    if (writer === undefined) return;
    const writers = this.#writers.get(id) ?? new Map<string, string>();
    this.#writers.set(id, writers.set(file, writer));
    this.#read.add(getKey(writer, file));
  }

  #findReplaced(name: string, writers: readonly string[], order: Order): void {
    const before = order.before(writers);
    for (const writer of writers) if (before.has(writer)) this.#replaced.add(getKey(writer, name));
  }
}

/** Which task is before which, by the edges so far. */
class Order {
  readonly edges: DocumentEdge[];
  readonly #parents: Map<string, Set<string>>;

  constructor({ edges }: WorkflowDocument) {
    this.edges = [...edges];
    this.#parents = new Map();
    for (const { from, to } of edges) this.#addParent(to, from);
  }

  isParent(from: string, to: string): boolean {
    return this.#parents.get(to)?.has(from) === true;
  }

  /** All tasks before at least one of these. Cost: O(edges). */
  before(tasks: readonly string[]): ReadonlySet<string> {
    const found = new Set<string>();
    const open = [...tasks];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const parent of this.#parents.get(next) ?? []) {
        if (found.has(parent)) continue;
        found.add(parent);
        open.push(parent);
      }
    }
    return found;
  }

  add(from: string, task: DocumentTask): void {
    if (this.isParent(from, task.id)) return;
    this.edges.push({ from, to: task.id, place: task.place });
    this.#addParent(task.id, from);
  }

  #addParent(to: string, from: string): void {
    this.#parents.set(to, (this.#parents.get(to) ?? new Set()).add(from));
  }
}

class Chooser {
  readonly #order: Order;
  readonly #subject: string;
  /** Tasks that change a file in place. */
  readonly #changes: ReadonlySet<string>;

  constructor({ tasks, subject }: WorkflowDocument, order: Order) {
    this.#order = order;
    this.#subject = subject;
    this.#changes = new Set(
      tasks.flatMap(({ id, inputs, outputs }) => {
        const written = new Set(outputs.map(({ name }) => name));
        return inputs.filter(({ name }) => written.has(name)).map(({ name }) => getKey(id, name));
      }),
    );
  }

  /**
   * The writer of a file with one writer other than the reader; undefined if the reader gets the file from before it.
   */
  only(task: DocumentTask, file: string, writer: string): string | undefined {
    if (this.#order.isParent(writer, task.id) || this.#order.before([task.id]).has(writer))
      return this.#chosen(task, writer);
    if (this.#order.before([writer]).has(task.id)) return undefined;
    // Before the change, or after it? Nothing says.
    if (this.#changes.has(getKey(writer, file)))
      throw this.#unclear(
        task,
        file,
        `which ${writer} changes in place`,
        `an edge that says which of the two comes first`,
      );
    return this.#chosen(task, writer);
  }

  /** Of a file with several writers, the last one before the reader. */
  getLast(task: DocumentTask, file: string, writers: readonly string[]): string | undefined {
    const before = this.#order.before([task.id]);
    const earlier = writers.filter((writer) => before.has(writer));
    const chosen =
      earlier.length > 0
        ? this.#latest(earlier)
        : writers.filter((writer) => !this.#order.before([writer]).has(task.id));
    const [first] = chosen;
    if (first === undefined) return undefined;
    if (chosen.length > 1 || (earlier.length === 0 && this.#changes.has(getKey(first, file))))
      throw this.#unclear(
        task,
        file,
        `which ${chosen.slice(0, 3).join(' and ')}${chosen.length > 3 ? ` and ${chosen.length - 3} more` : ''} write`,
        'one task that writes it last',
      );
    return this.#chosen(task, first);
  }

  #latest(writers: readonly string[]): string[] {
    if (writers.length === 1) return [...writers];
    const before = writers.map((writer) => this.#order.before([writer]));
    return writers.filter((writer) => !before.some((earlier) => earlier.has(writer)));
  }

  #chosen(task: DocumentTask, writer: string): string {
    this.#order.add(writer, task);
    return writer;
  }

  #unclear(task: DocumentTask, file: string, why: string, expected: string): FormatError {
    return new FormatError({
      code: 'MUT_WORKFLOW_OUTPUT_CONFLICT',
      subject: this.#subject,
      ...task.place(),
      found: `the input ${file} of task ${task.id}, ${why}`,
      expected,
    });
  }
}

/** By file. */
function listWriters(tasks: readonly DocumentTask[]): Map<string, string[]> {
  const writers = new Map<string, string[]>();
  for (const { id, outputs } of tasks) {
    for (const name of new Set(outputs.map((file) => file.name))) {
      const known = writers.get(name);
      if (known === undefined) writers.set(name, [id]);
      else known.push(id);
    }
  }
  return writers;
}

function getKey(task: string, file: string): string {
  return JSON.stringify([task, file]);
}
