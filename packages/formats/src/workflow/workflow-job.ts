import { CommandFault, escapeTemplate, fillNamed } from '@mutirao/core/bag';
import type { InputSpec, JobSpec, TaskEdge, TaskGroup } from '@mutirao/core/messages';
import { FormatError } from '../format-error.ts';
import { resolveLocalPath, resolveRemotePath } from '../jdf/paths.ts';
import { jobDefaults } from '../job-defaults.ts';
import { draftOf, referenceSpeed, type DocumentEdge, type DocumentTask, type WorkflowDocument, type WorkflowFile } from './workflow-document.ts';

/** How a workflow file becomes a job. */
export interface WorkflowJobOptions {
  /** Where the files of the whole are at home, absolute. */
  readonly directory: string;
  /** The command of tasks that have none; see {@link makeWorkflowJob}. */
  readonly taskCommand?: string | undefined;
}

/** A job that was made of a workflow file, and what is suspicious, a sentence each. */
export interface WorkflowJob {
  readonly job: JobSpec;
  readonly warnings: readonly string[];
}

/**
 * Makes a job of a workflow: a task group for each task, with its id as value. A file that a task writes and another one reads goes from the one to the other; the
 * rest is read from the folder of the whole and written there, and so is what the whole names as its outputs.
 *
 * In `taskCommand` these stand for what the file says of a task, as words for the shell: `{id}`, `{kind}`, `{seconds}`, `{dimension}`, `{inputs}`, `{outputs}`.
 * Each task has its own width; that of the job is the least of them.
 *
 * @throws {FormatError} MUT_WORKFLOW_NO_COMMAND for a task without a command; MUT_WORKFLOW_TWO_WRITERS where it is not clear whose file a task reads;
 * MUT_PATH_LEAVES_ROOT for a file that is not below its folder; what {@link draftOf} throws.
 */
export function makeWorkflowJob(document: WorkflowDocument, options: WorkflowJobOptions): WorkflowJob {
  const { tasks, name } = document;
  const readers = new Readers(document);
  const draft = draftOf({ ...document, edges: readers.edges });
  const indexOf = new Map(tasks.map(({ id }, index) => [id, index]));
  const groups = tasks.map((task) => groupOf(task, { document, options, readers, indexOf }));
  const processors = Math.min(...tasks.map(({ widthMin }) => widthMin));
  const edges = draft.edges.map(({ from, to, data = 0 }): TaskEdge => ({ from: indexOf.get(from) ?? -1, to: indexOf.get(to) ?? -1, ...(data > 0 ? { data: Math.ceil(data) } : {}) }));
  return {
    job: { ...jobDefaults, label: name, groups: groups.map((group, index) => ({ ...group, ...widthsOf(tasks[index], processors) })), processors, homeDirectory: options.directory, edges },
    warnings: document.warnings,
  };
}

/** What a task takes where that is not what all of them do. */
function widthsOf(task: DocumentTask | undefined, usual: number): Pick<TaskGroup, 'processors' | 'processorsMax'> {
  const { widthMin = usual, widthMax = usual } = task ?? {};
  return { ...(widthMin === usual ? {} : { processors: widthMin }), ...(widthMax === widthMin ? {} : { processorsMax: widthMax }) };
}

/** Who reads what others write. */
class Readers {
  /** Those of the document, and those from whom a task reads without one that says so. */
  readonly edges: readonly DocumentEdge[];
  /** By reader, and the name of the file. */
  readonly #writers = new Map<string, ReadonlyMap<string, string>>();
  readonly #read = new Set<string>();

  constructor({ tasks, edges, subject }: WorkflowDocument) {
    const writersOf = listWriters(tasks);
    const before = listBefore(edges);
    const added: DocumentEdge[] = [];
    for (const task of tasks) {
      const waitsFor = before.get(task.id) ?? new Set();
      const writers = new Map<string, string>();
      for (const { name } of task.inputs) {
        const writer = chooseWriter(task, { name, writers: writersOf.get(name) ?? [], waitsFor, subject });
        if (writer === undefined) continue;
        writers.set(name, writer);
        this.#read.add(keyOf(writer, name));
        if (!waitsFor.has(writer)) added.push({ from: writer, to: task.id, place: task.place });
        waitsFor.add(writer);
      }
      this.#writers.set(task.id, writers);
    }
    this.edges = [...edges, ...added];
  }

  /** Whose file a task reads; undefined for one of the whole. */
  writerOf(reader: string, file: string): string | undefined {
    return this.#writers.get(reader)?.get(file);
  }

  isRead(writer: string, file: string): boolean {
    return this.#read.has(keyOf(writer, file));
  }
}

/** By file. */
function listWriters(tasks: readonly DocumentTask[]): Map<string, string[]> {
  const writers = new Map<string, string[]>();
  for (const { id, outputs } of tasks) for (const { name } of outputs) writers.set(name, [...writers.get(name) ?? [], id]);
  return writers;
}

/** By task: those that it waits for. */
function listBefore(edges: readonly DocumentEdge[]): Map<string, Set<string>> {
  const before = new Map<string, Set<string>>();
  for (const { from, to } of edges) before.set(to, (before.get(to) ?? new Set()).add(from));
  return before;
}

function keyOf(task: string, file: string): string {
  return JSON.stringify([task, file]);
}

interface ReadFile {
  readonly name: string;
  readonly writers: readonly string[];
  readonly waitsFor: ReadonlySet<string>;
  readonly subject: string;
}

/** The one that the task waits for anyway, where several write the file. A task that changes a file in place reads what was there before it. */
function chooseWriter(task: DocumentTask, { name, writers, waitsFor, subject }: ReadFile): string | undefined {
  const others = writers.filter((writer) => writer !== task.id);
  const near = others.filter((writer) => waitsFor.has(writer));
  const chosen = near.length > 0 ? near : others;
  if (chosen.length <= 1) return chosen[0];
  throw new FormatError({ code: 'MUT_WORKFLOW_TWO_WRITERS', subject, ...task.place(), found: `the input ${name} of task ${task.id}, which ${chosen.join(' and ')} write`, expected: 'one task that writes it' });
}

interface GroupParts {
  readonly document: WorkflowDocument;
  readonly options: WorkflowJobOptions;
  readonly readers: Readers;
  readonly indexOf: ReadonlyMap<string, number>;
}

function groupOf(task: DocumentTask, { document, options, readers, indexOf }: GroupParts): TaskGroup {
  const { subject, outputs: wanted = [] } = document;
  const { directory } = options;
  const remote = ({ name }: WorkflowFile) => remotePathOf(name, task, subject);
  const inputs = task.inputs.map((file): InputSpec => {
    const writer = readers.writerOf(task.id, file.name);
    const place = remote(file);
    const source = writer === undefined ? { kind: 'path' as const, path: resolveLocalPath(file.name, directory) } : { kind: 'output' as const, taskIndex: indexOf.get(writer) ?? -1, path: place.path };
    return { ...place, source, condition: '' };
  });
  const outputs = task.outputs.map((file) => {
    const staysAway = readers.isRead(task.id, file.name) && !wanted.includes(file.name);
    return { ...remote(file), localPath: staysAway ? '' : resolveLocalPath(file.name, directory), condition: '' };
  });
  const expectedTime = Math.ceil((task.work * 1000) / referenceSpeed);
  return {
    values: { kind: 'list', values: [task.id] }, command: escapeTemplate(commandOf(task, subject, options.taskCommand)), noOp: false, inputs, outputs, check: '', requirements: '',
    ...(expectedTime === 0 ? {} : { expectedTime }),
  };
}

function remotePathOf(name: string, task: DocumentTask, subject: string): Pick<InputSpec, 'root' | 'path'> {
  const found = resolveRemotePath(name, 'playpen');
  if (found.kind === 'path') return { root: found.root, path: found.path };
  throw new FormatError({ code: found.code, subject, ...task.place(), found: `the file ${name} of task ${task.id}`, expected: found.expected });
}

function commandOf(task: DocumentTask, subject: string, template: string | undefined): string {
  if (task.command.trim() !== '') return task.command;
  if (template === undefined) {
    throw new FormatError({ code: 'MUT_WORKFLOW_NO_COMMAND', subject, ...task.place(), found: `task ${task.id} without a command`, expected: 'a command for each task, or --task-command for those that have none' });
  }
  const namesOf = (files: readonly WorkflowFile[]): string[] => files.map(({ name }) => name);
  const parts = new Map<string, string | readonly string[]>([
    ['id', task.id], ['kind', task.kind], ['seconds', String(task.work / referenceSpeed)], ['dimension', String(task.matrix?.dimension ?? 0)],
    ['inputs', namesOf(task.inputs)], ['outputs', namesOf(task.outputs)],
  ]);
  try {
    return fillNamed(template, parts);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    throw new FormatError({ code: 'MUT_BAD_REQUEST', subject, ...task.place(), found: `${error.message} (task ${task.id})`, expected: '--task-command with its placeholders elsewhere' });
  }
}
