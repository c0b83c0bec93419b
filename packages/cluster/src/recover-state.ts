import {
  clusterMachine,
  createClusterState,
  restoreSnapshot,
  takeSnapshot,
  type ClusterChange,
  type ClusterOptions,
  type ClusterSnapshot,
  type ClusterState,
} from '@mutirao/core/machines/cluster';
import { findFreshNumber, type Journal } from '@mutirao/runtime/journal';

/** Changes replayed at a start from which on the next start is spared them. */
const replayedMax = 10_000;

interface StoredSnapshot {
  readonly version: number;
  readonly state: ClusterSnapshot;
}

/**
 * The state that a journal promises: its latest snapshot and the changes since. Takes a new snapshot when those were
 * many.
 */
export function recoverState(journal: Journal<ClusterChange>, options: ClusterOptions): ClusterState {
  const snapshot = journal.latestSnapshot();
  const stored = snapshot === undefined ? undefined : (JSON.parse(snapshot.body) as StoredSnapshot);
  // A snapshot of another form is passed over: the journal is whole, replay from its beginning only takes longer.
  const isUsable = stored?.version === 1;
  const state = isUsable ? restoreSnapshot(options, stored.state) : createClusterState(options);
  let replayed = 0;
  journal.replay(isUsable ? (snapshot?.sequence ?? 0) : 0, (_sequence, change) => {
    clusterMachine.apply(state, change);
    replayed += 1;
  });
  state.nextRequestId = findFreshNumber(journal, { name: 'next_request', next: state.nextRequestId });
  journal.keepHost();
  if (replayed > replayedMax) {
    const fresh: StoredSnapshot = { version: 1, state: takeSnapshot(state) };
    journal.writeSnapshot(journal.lastSequence(), JSON.stringify(fresh));
  }
  return state;
}
