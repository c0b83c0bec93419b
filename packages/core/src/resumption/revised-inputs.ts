import type { InputSpec, JobSpec } from '../messages/index.ts';
import type { IndexRange, TaskIndex } from '../shared/index.ts';

/** What a local path holds now, as its user said when retrying a job. */
export interface CurrentInput {
  readonly path: string;
  readonly fingerprint: string;
}

/** A local path of a job whose content was read again since the job was submitted. */
export interface RevisedInput extends CurrentInput {
  /** What tasks that had run by then were given, the earliest first. */
  readonly former: readonly { readonly fingerprint: string; readonly tasks: readonly IndexRange[] }[];
}

/** The inputs of a job that have a fingerprint, by path. */
export function fingerprintsIn({ groups }: Pick<JobSpec, 'groups'>): Map<string, string> {
  const fingerprints = new Map<string, string>();
  for (const { inputs } of groups) {
    for (const { source, fingerprint } of inputs)
      if (source.kind === 'path' && fingerprint !== undefined) fingerprints.set(source.path, fingerprint);
  }
  return fingerprints;
}

/**
 * Adds the present contents of paths to what is known of a job's inputs. Unchanged paths stay as they are.
 *
 * @param begun tasks that have run, or run, with the contents before.
 */
export function reviseInputs(
  spec: Pick<JobSpec, 'groups'>,
  revised: readonly RevisedInput[],
  { current, begun }: { readonly current: readonly CurrentInput[]; readonly begun: readonly IndexRange[] },
): RevisedInput[] {
  const before = fingerprintsIn(spec);
  const known = new Map(revised.map((input) => [input.path, input]));
  for (const { path, fingerprint } of current) {
    const old = before.get(path);
    if (old === undefined || old === fingerprint) continue;
    known.set(path, {
      path,
      fingerprint,
      former: [...(known.get(path)?.former ?? []), { fingerprint: old, tasks: begun }],
    });
  }
  return [...known.values()];
}

/** The spec of a job with what its inputs hold by now. */
export function withRevisedInputs(spec: JobSpec, revised: readonly RevisedInput[]): JobSpec {
  if (revised.length === 0) return spec;
  const known = new Map(revised.map((input) => [input.path, input]));
  const revise = (input: InputSpec): InputSpec => {
    const found =
      input.source.kind === 'path' && input.fingerprint !== undefined ? known.get(input.source.path) : undefined;
    return found === undefined ? input : { ...input, fingerprint: found.fingerprint, former: found.former };
  };
  return { ...spec, groups: spec.groups.map((group) => ({ ...group, inputs: group.inputs.map(revise) })) };
}

/** The content of an input for a task, as a fingerprint; undefined if none was recorded. */
export function fingerprintFor(
  { fingerprint, former = [] }: Pick<InputSpec, 'fingerprint' | 'former'>,
  index: TaskIndex,
): string | undefined {
  return (
    former.find(({ tasks }) => tasks.some(({ first, count }) => index >= first && index < first + count))
      ?.fingerprint ?? fingerprint
  );
}
