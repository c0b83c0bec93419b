import { isAbsolute, resolve } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import type { JobSpec, TaskGroup } from '@mutirao/core/messages';

/**
 * Makes the local paths of a job absolute: relative ones begin at its home directory.
 *
 * @throws {MutiraoError} MUT_BAD_REQUEST when the home directory is relative, or absent although something is relative
 * to it.
 */
export function resolveLocalPaths(spec: JobSpec): JobSpec {
  const { homeDirectory } = spec;
  if (homeDirectory !== '' && !isAbsolute(homeDirectory)) {
    throw new MutiraoError('MUT_BAD_REQUEST', `job.home_directory is ${homeDirectory}; expected an absolute path`);
  }
  const { gatherFolder, workFolder } = spec;
  return {
    ...spec,
    groups: spec.groups.map((group) => resolveGroup(group, homeDirectory)),
    ...(gatherFolder === undefined ? {} : { gatherFolder: absolute(gatherFolder, homeDirectory) }),
    ...(workFolder === undefined ? {} : { workFolder: resolve(absolute(workFolder, homeDirectory)) }),
  };
}

function resolveGroup(group: TaskGroup, homeDirectory: string): TaskGroup {
  const inputs = group.inputs.map((input) => {
    if (input.source.kind !== 'path') return input;
    return { ...input, source: { kind: 'path', path: absolute(input.source.path, homeDirectory) } as const };
  });
  const outputs = group.outputs.map((output) => {
    return output.localPath === '' ? output : { ...output, localPath: absolute(output.localPath, homeDirectory) };
  });
  if (group.check !== '' && homeDirectory === '')
    throw new MutiraoError('MUT_BAD_REQUEST', 'job.home_directory is empty; a check needs a folder to run in');
  return { ...group, inputs, outputs };
}

/** A trailing slash says "into this folder" and is kept. */
function absolute(path: string, homeDirectory: string): string {
  if (!isAbsolute(path) && homeDirectory === '') {
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `job.home_directory is empty; expected a folder that ${path} is relative to`,
    );
  }
  const resolved = resolve(homeDirectory, path);
  return path.endsWith('/') && resolved !== '/' ? `${resolved}/` : resolved;
}
