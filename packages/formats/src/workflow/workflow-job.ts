import { sayReason } from '@mutirao/api/sentences';
import { CommandFault, escapeTemplate, fillNamed } from '@mutirao/core/bag';
import type { InputSpec, JobSpec, TaskEdge, TaskGroup } from '@mutirao/core/messages';
import { emptyRequest, isEmptyRequest, type ResourceRequest } from '@mutirao/core/resources';
import { FormatError } from '../format-error.ts';
import { resolveLocalPath, resolveRemotePath } from '../jdf/paths.ts';
import { jobDefaults } from '../job-defaults.ts';
import { FileSources } from './file-sources.ts';
import {
  getDraft,
  referenceSpeed,
  type DocumentTask,
  type WorkflowDocument,
  type WorkflowFile,
} from './workflow-document.ts';

/** How a workflow file becomes a job. */
export interface WorkflowJobOptions {
  /** Where the files of the whole are at home, absolute. */
  readonly directory: string;
  /** The command of tasks that have none, or of all; see {@link makeWorkflowJob}. */
  readonly taskCommand?: string | undefined;
  /** Whether that replaces commands of the file. */
  readonly replacesCommands?: boolean | undefined;
}

/** A job that was made of a workflow file, and what is suspicious, a sentence each. */
export interface WorkflowJob {
  readonly job: JobSpec;
  readonly warnings: readonly string[];
}

/**
 * Makes a job of a workflow: a task group for each task, with its id as value. A file that a task writes and another
 * one reads goes from the one to the other; the
 * rest is read from the folder of the whole and written there, and so is what the whole names as its outputs.
 *
 * `taskCommand` is for tasks without a command. Where each has one, or where `replacesCommands` says so, it takes the
 * place of all of them; then no task asks for the memory and the GPUs that its own program took.
 * In it these stand for what the file says of a task, as words for the shell: `{id}`, `{kind}`, `{seconds}`,
 * `{dimension}`, `{inputs}`, `{outputs}`.
 * Each task has its own width; that of the job is the least of them.
 *
 * @throws {FormatError} MUT_WORKFLOW_NO_COMMAND for a task without a command; MUT_WORKFLOW_OUTPUT_CONFLICT where it is not
 * clear whose file a task reads;
 * MUT_WORKFLOW_UNSUPPORTED for an input at a URL; MUT_PATH_LEAVES_ROOT for a file that is not below its folder; what
 * {@link getDraft} throws.
 */
export function makeWorkflowJob(document: WorkflowDocument, options: WorkflowJobOptions): WorkflowJob {
  const { tasks, name } = document;
  const sources = new FileSources(document);
  const draft = getDraft({ ...document, edges: sources.edges });
  const commands = new Commands(document, options);
  const indexOf = new Map(tasks.map(({ id }, index) => [id, index]));
  const groups = tasks.map((task) => groupOf(task, { document, options, sources, indexOf, commands }));
  const processors = Math.min(...tasks.map(({ widthMin }) => widthMin));
  const edges = draft.edges.map(
    ({ from, to, data = 0 }): TaskEdge => ({
      from: indexOf.get(from) ?? -1,
      to: indexOf.get(to) ?? -1,
      ...(data > 0 ? { data: Math.ceil(data) } : {}),
    }),
  );
  return {
    job: {
      ...jobDefaults,
      label: name,
      groups: groups.map((group, index) => ({ ...group, ...getWidths(tasks[index], processors) })),
      processors,
      homeDirectory: options.directory,
      edges,
    },
    warnings: [...document.warnings, ...commands.warnings()],
  };
}

/** What a task takes where that is not what all of them do. */
function getWidths(task: DocumentTask | undefined, usual: number): Pick<TaskGroup, 'processors' | 'processorsMax'> {
  const { widthMin = usual, widthMax = usual } = task ?? {};
  return {
    ...(widthMin === usual ? {} : { processors: widthMin }),
    ...(widthMax === widthMin ? {} : { processorsMax: widthMax }),
  };
}

interface GroupParts {
  readonly document: WorkflowDocument;
  readonly options: WorkflowJobOptions;
  readonly sources: FileSources;
  readonly indexOf: ReadonlyMap<string, number>;
  readonly commands: Commands;
}

function groupOf(task: DocumentTask, { document, options, sources, indexOf, commands }: GroupParts): TaskGroup {
  const { subject, outputs: wanted = [] } = document;
  const { directory } = options;
  const inputs = task.inputs.map((file): InputSpec => {
    const writer = sources.writerOf(task.id, file.name);
    const place = getRemotePath(file, task, subject);
    const source =
      writer === undefined
        ? { kind: 'path' as const, path: getHomePath(file, { task, subject, directory }) }
        : { kind: 'output' as const, taskIndex: indexOf.get(writer) ?? -1, path: place.path };
    return { ...place, source, condition: '' };
  });
  const outputs = task.outputs.map((file) => {
    const comesHome =
      !sources.isReplaced(task.id, file.name) &&
      (file.comesHome ?? (!sources.isRead(task.id, file.name) || wanted.includes(file.name)));
    return {
      ...getRemotePath(file, task, subject),
      localPath: comesHome ? getHomePath(file, { task, subject, directory }) : '',
      condition: '',
    };
  });
  const expectedTime = Math.ceil((task.work * 1000) / referenceSpeed);
  const { command, resources, alternatives } = commands.of(task);
  return {
    values: { kind: 'list', values: [task.id] },
    command: escapeTemplate(command),
    noOp: false,
    inputs,
    outputs,
    check: '',
    requirements: '',
    ...(isEmptyRequest(resources) ? {} : { resources }),
    ...(expectedTime === 0 ? {} : { expectedTime }),
    ...(alternatives.length === 0 ? {} : { alternatives }),
  };
}

/** The name of a file in the folder of a task: a path from the root, and a URL of a file, without what makes it one. */
function getPlaypenName(name: string): string {
  return name.replace(/^file:\/\//, '').replace(/^\/+/, '');
}

function getRemotePath({ name }: WorkflowFile, task: DocumentTask, subject: string): Pick<InputSpec, 'root' | 'path'> {
  const found = resolveRemotePath(getPlaypenName(name), 'playpen');
  if (found.kind === 'path') return { root: found.root, path: found.path };
  throw new FormatError({
    code: found.code,
    subject,
    ...task.place(),
    found: `the file ${name} of task ${task.id}`,
    expected: found.expected,
  });
}

function getHomePath(
  { name, home = name }: WorkflowFile,
  { task, subject, directory }: { readonly task: DocumentTask; readonly subject: string; readonly directory: string },
): string {
  const path = home.replace(/^file:\/\//, '');
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) return resolveLocalPath(path, directory);
  throw new FormatError({
    code: 'MUT_WORKFLOW_UNSUPPORTED',
    subject,
    ...task.place(),
    found: `the file ${name} of task ${task.id} at ${path}`,
    expected: 'a file at home: fetch it first, and give its path',
  });
}

interface TaskCommand extends Required<Pick<TaskGroup, 'alternatives'>> {
  readonly command: string;
  readonly resources: ResourceRequest;
}

/** The commands of tasks, and what is put in their place. */
class Commands {
  readonly #subject: string;
  readonly #template: string | undefined;
  readonly #replacesAll: boolean;
  readonly #replacesUnasked: boolean;

  constructor({ tasks, subject }: WorkflowDocument, { taskCommand, replacesCommands = false }: WorkflowJobOptions) {
    this.#subject = subject;
    this.#template = taskCommand;
    this.#replacesUnasked =
      taskCommand !== undefined && !replacesCommands && tasks.every(({ command }) => command.trim() !== '');
    this.#replacesAll = taskCommand !== undefined && (replacesCommands || this.#replacesUnasked);
  }

  /**
   * The command of a task, and what it asks for in addition to processors. @throws {FormatError} MUT_WORKFLOW_NO_COMMAND;
   * MUT_BAD_REQUEST
   */
  of(task: DocumentTask): TaskCommand {
    const { id, command, memory = 0, gpus, named = {}, alternatives = [] } = task;
    if (command.trim() !== '' && !this.#replacesAll)
      return { command, resources: { ...emptyRequest, memory: Math.ceil(memory), ...gpus, named }, alternatives };
    if (this.#template !== undefined)
      return { command: fillFor(task, this.#template, this.#subject), resources: emptyRequest, alternatives: [] };
    throw new FormatError({
      code: 'MUT_WORKFLOW_NO_COMMAND',
      subject: this.#subject,
      ...task.place(),
      found: `task ${id} without a command`,
      expected: 'a command for each task, or --task-command for those that have none',
    });
  }

  warnings(): string[] {
    return this.#replacesUnasked
      ? ['every task of the file has a command; --task-command runs in the place of all of them']
      : [];
  }
}

function fillFor(task: DocumentTask, template: string, subject: string): string {
  const namesOf = (files: readonly WorkflowFile[]): string[] => files.map(({ name }) => getPlaypenName(name));
  const parts = new Map<string, string | readonly string[]>([
    ['id', task.id],
    ['kind', task.kind],
    ['seconds', String(task.work / referenceSpeed)],
    ['dimension', String(task.matrix?.dimension ?? 0)],
    ['inputs', namesOf(task.inputs)],
    ['outputs', namesOf(task.outputs)],
  ]);
  try {
    return fillNamed(template, parts);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    throw new FormatError({
      code: 'MUT_BAD_REQUEST',
      subject,
      ...task.place(),
      found: `${sayReason(error.reason)} (task ${task.id})`,
      expected: '--task-command with its placeholders elsewhere',
    });
  }
}
