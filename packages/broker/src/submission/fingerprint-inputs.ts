import type { InputSpec, JobSpec } from '@mutirao/core/messages';

import type { HomeFiles } from '../staging/home-files.ts';

/**
 * Notes the present content of each local path of a job that does not depend on a task or a machine, so that tasks
 * which start later notice a change.
 *
 * @throws {MutiraoError} MUT_INPUT_MISSING
 */
export async function fingerprintInputs(spec: JobSpec, homeFiles: Pick<HomeFiles, 'fingerprintOf'>): Promise<JobSpec> {
  const seen = new Map<string, Promise<string>>();
  let bytesLeft = hashedBytesMax;
  const spend = (bytes: number): boolean => {
    if (bytes > bytesLeft) return false;
    bytesLeft -= bytes;
    return true;
  };
  const fingerprint = async (input: InputSpec): Promise<InputSpec> => {
    const { source } = input;
    if (source.kind !== 'path' || source.path.includes('{') || source.path.includes('$')) return input;
    const known = seen.get(source.path) ?? homeFiles.fingerprintOf(source.path, spend);
    seen.set(source.path, known);
    return { ...input, fingerprint: await known };
  };
  const groups = [];
  for (const group of spec.groups) {
    groups.push(
      group.inputs.length === 0 ? group : { ...group, inputs: await Promise.all(group.inputs.map(fingerprint)) },
    );
  }
  return { ...spec, groups };
}

/** Bytes of one job that are read at its submission; what is more is known by its size and time of change. */
const hashedBytesMax = 64 * 1024 * 1024;
