import type { Beginning } from '../../debugging-trace/index.ts';
import { conservativeBackfilling, easyBackfilling, firstComeFirstServed } from '../../queue/index.ts';
import { invariant } from '../../shared/index.ts';
import { restoreSnapshot, takeSnapshot, type ClusterSnapshot } from './snapshot.ts';
import type { ClusterOptions, ClusterState } from './state.ts';

const policies = [
  firstComeFirstServed,
  easyBackfilling,
  conservativeBackfilling('start-now'),
  conservativeBackfilling('reinsert'),
];

/** Describes a state as read from its journal, before any step, for the header of a trace. */
export function saveClusterInitialState(state: ClusterState): Beginning {
  const { policy, ...options } = state.options;
  return { options: { ...options, policy: policy.name }, state: takeSnapshot(state) };
}

/** Makes the state that was saved. @throws {InvariantError} for a queue policy that this release does not know. */
export function openClusterInitialState(saved: Beginning): ClusterState {
  const options = saved.options as Omit<ClusterOptions, 'policy'> & { readonly policy: string };
  const policy = policies.find(({ name }) => name === options.policy);
  invariant(policy, `there is no queue policy ${options.policy}`);
  return restoreSnapshot({ ...options, policy }, saved.state as ClusterSnapshot);
}
