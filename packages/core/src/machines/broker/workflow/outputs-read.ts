import type { JobSpec } from '../../../messages/index.ts';
import type { TaskIndex } from '../../../shared/index.ts';

/** By task: the paths of those of its outputs that other tasks of the job read. Empty for a bag. Cost: O(inputs). */
export type OutputsRead = ReadonlyMap<TaskIndex, ReadonlySet<string>>;

/** Finds out which outputs are read by other tasks. */
export function outputsRead({ groups }: Pick<JobSpec, 'groups'>): OutputsRead {
  const read = new Map<TaskIndex, Set<string>>();
  for (const { inputs } of groups) {
    for (const { source } of inputs) {
      if (source.kind !== 'output') continue;
      const paths = read.get(source.taskIndex);
      if (paths === undefined) read.set(source.taskIndex, new Set([source.path]));
      else paths.add(source.path);
    }
  }
  return read;
}
