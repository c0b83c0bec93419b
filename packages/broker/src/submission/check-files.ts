import { constants, type Stats } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { Content, JobSpec, TaskGroup, Values } from '@mutirao/core/messages';
import type { JobId, TaskIndex } from '@mutirao/core/shared';
import { gatheredIndexName } from '@mutirao/runtime/files';

import { below } from '../results/check-aside.ts';
import { countValues, isKnownEarly, Templates, valueAt, type TaskOfTemplate } from '../staging/variables.ts';

/** What the check of a job's files needs to know. */
export interface FileRules {
  /** Folders where no output may go: the broker's own, say. */
  readonly forbidden: readonly string[];
  /** Whether an uploaded content is here. */
  hasContent(content: Content): boolean;
}

/**
 * Up to this number, all listed values of a group are checked; of longer lists and of ranges, the first and the last.
 */
export const lookedAtMax = 10_000;

const concurrencyMax = 32;

/**
 * Sees that the inputs of a job can be read and that its outputs can be put where they go.
 *
 * Paths that depend on the job's number or on a machine are not known yet and are left to the run.
 * @throws {MutiraoError} MUT_INPUT_MISSING, MUT_CONTENT_NOT_FOUND or MUT_OUTPUT_FORBIDDEN, naming the path.
 */
export async function checkFiles(spec: JobSpec, rules: FileRules): Promise<void> {
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  let first = 0;
  for (const group of spec.groups) {
    collectPaths(group, first, { inputs, outputs });
    for (const { source } of group.inputs) {
      if (source.kind === 'content' && !rules.hasContent(source.content)) {
        throw new MutiraoError(
          'MUT_CONTENT_NOT_FOUND',
          `content ${source.content.sha256} is not here; upload it first`,
        );
      }
    }
    first += countValues(group.values);
  }
  await each(inputs, checkInput);
  if (spec.gatherFolder === undefined) await each(outputs, (path) => checkOutput(path, rules.forbidden));
  else await checkGathering(spec, spec.gatherFolder, { outputs, forbidden: rules.forbidden });
  if (spec.groups.some((group) => group.check !== '')) await checkHomeDirectory(spec.homeDirectory);
}

function collectPaths(
  group: TaskGroup,
  first: TaskIndex,
  into: { readonly inputs: Set<string>; readonly outputs: Set<string> },
): void {
  const tasks = listSamples(group.values, first);
  for (const { source } of group.inputs) {
    if (source.kind === 'path' && isKnownEarly(source.path)) addAll(into.inputs, source.path, tasks);
  }
  for (const { localPath } of group.outputs) {
    if (localPath !== '' && isKnownEarly(localPath)) addAll(into.outputs, localPath, tasks);
  }
}

function addAll(paths: Set<string>, template: string, tasks: readonly TaskOfTemplate[]): void {
  const isTemplate = template.includes('{') || template.includes('$');
  const templates = new Templates();
  for (const task of isTemplate ? tasks : tasks.slice(0, 1)) paths.add(templates.fillInEarly(task)(template));
}

function listSamples(values: Values, first: TaskIndex): TaskOfTemplate[] {
  const count = countValues(values);
  const sample = (position: number): TaskOfTemplate => ({
    taskIndex: first + position,
    value: valueAt(values, position),
  });
  if (values.kind === 'list' && count <= lookedAtMax) return values.values.map((_, position) => sample(position));
  return [sample(0), sample(count - 1)];
}

async function checkInput(path: string): Promise<void> {
  const status = await findStatus(path);
  if (status === undefined)
    throw new MutiraoError('MUT_INPUT_MISSING', `${path} is not there; expected a file or a folder`);
  if (!status.isFile() && !status.isDirectory())
    throw new MutiraoError('MUT_INPUT_MISSING', `${path} is neither a file nor a folder`);
  await access(path, constants.R_OK).catch((error: unknown) => {
    throw new MutiraoError('MUT_INPUT_MISSING', `${path} cannot be read`, { cause: error });
  });
}

/** Finds the nearest folder above that is there: it must take new entries. */
async function checkOutput(path: string, forbidden: readonly string[]): Promise<void> {
  const wanted = resolve(path);
  const owner = forbidden.find((folder) => wanted === folder || wanted.startsWith(folder + sep));
  if (owner !== undefined)
    throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `output ${path} is inside ${owner}, which is not for results`);
  for (let folder = path.endsWith('/') ? wanted : dirname(wanted); ; folder = dirname(folder)) {
    const status = await findStatus(folder);
    if (status === undefined && folder !== dirname(folder)) continue;
    if (status?.isDirectory() !== true)
      throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `output ${path}: ${folder} is not a folder`);
    await access(folder, constants.W_OK | constants.X_OK).catch((error: unknown) => {
      throw new MutiraoError('MUT_OUTPUT_FORBIDDEN', `output ${path}: ${folder} cannot be written`, { cause: error });
    });
    return;
  }
}

/** Gathered outputs go to no place of their own, and are called by the way to it from the home directory. */
async function checkGathering(
  { groups, homeDirectory }: JobSpec,
  folder: string,
  { outputs, forbidden }: { readonly outputs: ReadonlySet<string>; readonly forbidden: readonly string[] },
): Promise<void> {
  if (!groups.some((group) => group.outputs.some(({ localPath }) => localPath !== ''))) {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'job.gathering is given and no output has a local path; expected one at least',
    );
  }
  if (homeDirectory === '')
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      'job.home_directory is empty; expected a folder that gathered outputs are called from',
    );
  for (const path of outputs) {
    if (below(homeDirectory, resolve(path)) === undefined) {
      throw new MutiraoError(
        'MUT_PATH_ESCAPES',
        `output ${path} is not below ${homeDirectory}; expected a path below it for an output that is gathered`,
      );
    }
  }
  await checkOutput(`${folder.replace(/\/$/, '')}/`, forbidden);
}

/**
 * Sees that what a job gathers does not get among the results of another: the index of a job that is not there yet is
 * another broker's, or of one whose journal is gone.
 *
 * @throws {MutiraoError} MUT_OUTPUT_FORBIDDEN, naming the index.
 */
export async function checkIndexIsNew(folder: string, nextJobId: JobId): Promise<void> {
  const path = join(folder, gatheredIndexName(nextJobId));
  if (((await findStatus(path))?.size ?? 0) > 0) {
    throw new MutiraoError(
      'MUT_OUTPUT_FORBIDDEN',
      `${path} is there already, of a job of another broker or of one whose journal is gone; expected another ` +
        'folder for what is gathered',
    );
  }
}

async function checkHomeDirectory(path: string): Promise<void> {
  const status = await findStatus(path);
  if (status?.isDirectory() !== true)
    throw new MutiraoError('MUT_BAD_REQUEST', `job.home_directory is ${path}; expected a folder that is there`);
}

async function findStatus(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(() => undefined);
}

/** Does `work` for each path, a bounded number at a time. */
async function each(paths: ReadonlySet<string>, work: (path: string) => Promise<void>): Promise<void> {
  const queue = [...paths].values();
  const worker = async (): Promise<void> => {
    for (const path of queue) await work(path);
  };
  await Promise.all(Array.from({ length: concurrencyMax }, worker));
}
