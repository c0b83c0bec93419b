import type { OutputContent, ReplicaEnd } from '../../../messages/index.ts';
import type { Reason } from '../../../reasons/index.ts';
import { isFollower } from '../gangs/gang.ts';
import { getGroup, getTaskGroup } from '../jobs/task-groups.ts';
import { outputsOn } from '../dispatch/matching.ts';
import type { BrokerReplica } from '../state.ts';

/** Characters of a path that a reason repeats. */
const pathShownMax = 200;

/**
 * Finds a fault in a machine's report of a replica's end, given what was requested of it; undefined if there is none.
 * The fields themselves were checked on receipt.
 *
 * Cost: O(outputs).
 */
export function findEndFault(replica: BrokerReplica, { outputs }: Pick<ReplicaEnd, 'outputs'>): Reason | undefined {
  // After the end of a job its requested outputs are no longer known, and none is brought home.
  if (outputs.length === 0 || replica.job.spec === undefined) return undefined;
  const asked = countAsked(replica);
  for (const { outputIndex } of outputs)
    if (outputIndex >= asked) return { code: 'output-not-requested', outputIndex, requestedOutputs: asked };
  return outputs.length === 1 ? undefined : findDouble(outputs);
}

/** Outputs that were asked of a replica's machine. Of a gang they come from the leader. */
function countAsked(replica: BrokerReplica): number {
  const { job, task, machine } = replica;
  if (isFollower(replica)) return 0;
  return outputsOn(getTaskGroup(job, getGroup(job, task.index).groupIndex), machine.facts.attributes).length;
}

/** A file that is there twice, or an output that is a file and a folder. */
function findDouble(outputs: readonly OutputContent[]): Reason | undefined {
  const pathsOf = new Map<number, Set<string>>();
  for (const { outputIndex, path } of outputs) {
    const paths = pathsOf.get(outputIndex);
    if (paths === undefined) {
      pathsOf.set(outputIndex, new Set([path]));
      continue;
    }
    if (path === '' || paths.has('')) return { code: 'output-file-not-alone', outputIndex };
    if (paths.has(path)) return { code: 'output-path-twice', outputIndex, path: path.slice(0, pathShownMax) };
    paths.add(path);
  }
  return undefined;
}
