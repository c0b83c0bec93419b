import { escapeTemplate } from '@mutirao/core/bag';
import { gangWidthName } from '@mutirao/core/requirements';
import type { InputSpec, JobSpec, OutputSpec, TaskGroup } from '@mutirao/core/messages';
import { invariant } from '@mutirao/core/shared';
import { FormatError } from '../format-error.ts';
import { jobDefaults } from '../job-defaults.ts';
import { splitWidth } from './conditions.ts';
import type { Definitions, JdfDocument, Transfer } from './document.ts';
import { parseDocument } from './parse-document.ts';
import { JdfReader, type Warning } from './reader.ts';
import { collectRequest } from './requests.ts';

/** Where a job file is. */
export interface JdfPlace {
  /** Its name, for messages. */
  readonly file: string;
  /** Its folder, absolute: relative local paths begin there, and `check` runs there. */
  readonly directory: string;
}

/** A job file that was read. */
export interface JdfJob {
  readonly job: JobSpec;
  /** In the order of the file. */
  readonly warnings: readonly Warning[];
}

/** What came of reading a job file: a job, or all that is wrong with it. */
export interface JdfReading extends Pick<JdfJob, 'warnings'> {
  /** Undefined where something is wrong. */
  readonly job: JobSpec | undefined;
  /**
   * In the order of the file, each at another place. MUT_JDF_SYNTAX, MUT_JDF_DIALECT, MUT_JDF_NO_TASK,
   * MUT_JDF_NO_REMOTE or MUT_PATH_LEAVES_ROOT.
   */
  readonly faults: readonly FormatError[];
  /** Whether the reader stopped at too many errors, so that there may be more. */
  readonly isCut: boolean;
}

/**
 * Reads a job file (JDF) of OurGrid 3 to 4.2, with the relaxations of docs/reference/jdf.md.
 *
 * Each task becomes a task group; equal tasks in a row become one group of several. Sections of the job are the
 * defaults of its tasks, replaced as a whole. Braces are escaped, since `{}` means nothing in JDF; `$JOB`, `$TASK` and
 * the like stay in the paths. `num_procs == N` in the requirements makes each task a gang of N processors. Cost:
 * linear.
 *
 * @throws {FormatError} for the first thing that is wrong; the others are its `further`.
 */
export function parseJdf(text: string, place: JdfPlace): JdfJob {
  const {
    job,
    warnings,
    faults: [first, ...further],
    isCut,
  } = readJdf(text, place);
  if (first !== undefined) throw new FormatError(first.problem, { further, isCut });
  invariant(job !== undefined, 'a job file is either read or refused');
  return { job, warnings };
}

/**
 * As `parseJdf`, but returns errors as values. It skips text that is not understood, up to the next known beginning,
 * and does not count it as left out.
 */
export function readJdf(text: string, place: JdfPlace): JdfReading {
  const reader = new JdfReader(text, place.file);
  const document = reader.attempt(() => parseDocument(reader, place.directory));
  const job = document === undefined ? undefined : makeJob(reader, document, place);
  const faults = reader.faults.toSorted(
    ({ problem: one }, { problem: other }) => one.line - other.line || one.column - other.column,
  );
  return { job: faults.length === 0 ? job : undefined, faults, isCut: reader.isCut(), warnings: reader.warnings };
}

function makeJob(reader: JdfReader, document: JdfDocument, { directory }: JdfPlace): JobSpec {
  if (document.tasks.length === 0)
    reader.report(reader.error({ code: 'MUT_JDF_NO_TASK', expected: 'at least one "task:"' }, reader.text.length));
  const groups = mergeEqual(document.tasks.map((task) => makeGroup(reader, document, task)));
  const siteSelection = document['site-selection'] === undefined ? {} : { siteSelection: document['site-selection'] };
  return {
    ...jobDefaults,
    ...findGang(reader, document),
    ...siteSelection,
    label: document.label ?? '',
    groups,
    homeDirectory: directory,
  };
}

/** Whether a section of a task, or of its job, could not be read. */
function isUnread(section: 'remote' | 'requirements', task: Definitions, job: Definitions): boolean {
  return task.unread.has(section) || job.unread.has(section);
}

/** What `num_procs` makes of the job: all of its tasks are as wide. */
function findGang(
  reader: JdfReader,
  { job, tasks }: JdfDocument,
): Partial<Pick<JobSpec, 'processors' | 'gang' | 'replicasMax'>> {
  let first: number | undefined;
  for (const task of tasks) {
    if (isUnread('requirements', task, job)) continue;
    const { requirements = '', cpus } = withDefaults(task, job);
    const { count } = splitWidth(requirements);
    first ??= count;
    const report = (found: string, expected: string): void =>
      reader.report(reader.error({ found, expected }, task.offset));
    if (count > 1 && cpus !== undefined) report(`"cpus:" with ${gangWidthName}`, 'only one of them in a job');
    if (count !== first)
      report(`tasks with ${gangWidthName} of ${first} and of ${count}`, 'the same in all tasks of the job');
  }
  return first === undefined || first === 1 ? {} : { processors: first, gang: true, replicasMax: 1 };
}

function makeGroup(reader: JdfReader, { job }: JdfDocument, task: Definitions): Omit<TaskGroup, 'values'> {
  const defined = withDefaults(task, job);
  const { remote = '', init = [], final = [], check = '', requirements = '' } = defined;
  if (task.remote === undefined && job.remote === undefined && !isUnread('remote', task, job)) {
    const expected = 'one in the task, or in the job before its first task';
    reader.report(
      reader.error({ code: 'MUT_JDF_NO_REMOTE', found: 'a task without "remote:"', expected }, task.offset),
    );
  }
  return {
    command: escapeTemplate(remote),
    noOp: false,
    inputs: init.map(makeInput),
    outputs: final.map(makeOutput),
    check: escapeTemplate(check),
    requirements: splitWidth(requirements).rest,
    ...collectRequest(defined),
  };
}

/** A section of the task replaces the job's as a whole. */
function withDefaults(task: Definitions, job: Definitions): Definitions {
  const stated = Object.entries(task).filter(([, value]) => value !== undefined);
  return { ...job, ...Object.fromEntries(stated) };
}

function makeInput({ root, remotePath, localPath, condition }: Transfer): InputSpec {
  return { source: { kind: 'path', path: localPath }, root, path: remotePath, condition };
}

function makeOutput({ root, remotePath, localPath, condition }: Transfer): OutputSpec {
  return { root, path: remotePath, localPath, condition };
}

/** Numbers the tasks, each the value of its own; tasks in a row that are written alike become one group. */
function mergeEqual(tasks: readonly Omit<TaskGroup, 'values'>[]): TaskGroup[] {
  const groups: { first: number; count: number; task: Omit<TaskGroup, 'values'>; key: string }[] = [];
  for (const [index, task] of tasks.entries()) {
    const key = JSON.stringify(task);
    const last = groups.at(-1);
    if (last?.key === key) last.count++;
    else groups.push({ first: index, count: 1, task, key });
  }
  return groups.map(({ first, count, task }) => ({ ...task, values: { kind: 'range', first, count, step: 1 } }));
}
