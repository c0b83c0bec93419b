import type { ClusterChange } from '@mutirao/core/machines/cluster';
import type { ChangeCodec } from '@mutirao/runtime/journal';

/** How the cluster's changes lie in its journal. */
export const clusterChangeCodec: ChangeCodec<ClusterChange> = {
  version: 1,
  encode: (change) => JSON.stringify(change),
  decode: (_version, body) => JSON.parse(body) as ClusterChange,
  deriveJob: () => undefined,
  // Only an accepted request is a promise to somebody; all else is found out again after a fall of the whole machine.
  isDurable: (change) => change.kind === 'RequestQueued',
};
