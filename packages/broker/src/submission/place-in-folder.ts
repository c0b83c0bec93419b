import { access, constants } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, normalize } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { InputSpec, JobSpec, OutputSpec, TaskGroup, WorkFolder } from '@mutirao/core/messages';
import { describeWorkFolder, findFolderAround, isSharedFileSystem } from '@mutirao/runtime/files';

import { sharedHomeAttribute } from '../providers/shared-home.ts';

/** What the check of a work folder needs to know. */
export interface WorkFolderRules {
  /** Of the broker. */
  readonly home: string;
  /** Whether the home folder has a key, by which machines show that they share it. */
  readonly hasKey: boolean;
  /** Folders in which Mutirao removes files. */
  readonly forbidden: readonly string[];
}

/**
 * Lets a job whose tasks start in a folder of home run only on machines that have the same folder; any other job is
 * returned as it is.
 *
 * @throws {MutiraoError} MUT_WORK_FOLDER where no machine can have it, MUT_BAD_REQUEST for options that cannot be
 * combined with it.
 */
export async function placeInFolder(spec: JobSpec, rules: WorkFolderRules): Promise<JobSpec> {
  const { workFolder } = spec;
  if (workFolder === undefined) return spec;
  refuseCombinations(spec);
  for (const group of spec.groups) requireInPlace(group, workFolder);
  const folder = await describeWorkFolder(workFolder, rules.home);
  const around = await findFolderAround(workFolder, rules.forbidden);
  if (around !== undefined)
    throw new MutiraoError('MUT_WORK_FOLDER', `${workFolder} is inside ${around}, where Mutirao removes files`);
  await access(workFolder, constants.X_OK).catch((error: unknown) => {
    throw new MutiraoError('MUT_WORK_FOLDER', `cannot work in the folder ${workFolder}: permission denied`, {
      cause: error,
    });
  });
  if (!rules.hasKey)
    throw new MutiraoError(
      'MUT_WORK_FOLDER',
      `no machine can show that it shares files with this host: the home folder ${rules.home} holds no key`,
    );
  const condition = describeMachines(folder);
  return {
    ...spec,
    groups: spec.groups.map((group) => ({
      ...group,
      requirements: group.requirements === '' ? condition : `(${group.requirements}) && ${condition}`,
    })),
  };
}

/** What of machines shows that they may have the folder. Each looks at it once more before a task starts there. */
function describeMachines({ isBesideHome, fileSystem }: WorkFolder): string {
  const sharesHome = `${sharedHomeAttribute} == yes`;
  return isBesideHome || isSharedFileSystem(fileSystem) ? sharesHome : `${sharesHome} && hostname == "${hostname()}"`;
}

/** Two runs of a task at once, or on two machines to compare them, would write the same files. */
function refuseCombinations({ replicasMax, verification, gatherFolder }: JobSpec): void {
  if (replicasMax > 1)
    throw cannotBeside(`${replicasMax} replicas of a task at once; expected 1, since both would write the same files`);
  if (verification?.kind === 'vote' || verification?.kind === 'credibility')
    throw cannotBeside('votes, which run a task several times in the same files');
  if (gatherFolder !== undefined) throw cannotBeside('--archive-outputs, since outputs stay where tasks write them');
}

function cannotBeside(what: string): MutiraoError {
  return new MutiraoError('MUT_BAD_REQUEST', `--in-place and --chdir cannot be combined with ${what}`);
}

function requireInPlace({ inputs, outputs }: TaskGroup, folder: string): void {
  const input = inputs.find((one) => one.root === 'playpen' && !isInputInPlace(one, folder));
  if (input !== undefined) throw moved('input', input.path, folder);
  const output = outputs.find((one) => one.root === 'playpen' && !isOutputInPlace(one, folder));
  if (output !== undefined) throw moved('output', output.path, folder);
}

function isInputInPlace({ source, path }: InputSpec, folder: string): boolean {
  return source.kind === 'path' && normalize(source.path) === join(folder, path);
}

function isOutputInPlace({ path, localPath }: OutputSpec, folder: string): boolean {
  return localPath !== '' && normalize(localPath) === join(folder, path);
}

function moved(kind: 'input' | 'output', path: string, folder: string): MutiraoError {
  const fix =
    kind === 'input'
      ? 'leave it out, and have the command read the file where it is'
      : 'leave it out, and have the command write the file where it is wanted';
  return new MutiraoError(
    'MUT_BAD_REQUEST',
    `the ${kind} ${path} would be copied, but tasks start in ${folder} and use its files where they are; ${fix}`,
  );
}
