import type { Machine } from '../../shared/index.ts';
import { apply } from './apply.ts';
import type { ClusterChange } from './changes.ts';
import { checkInvariants } from './check-invariants.ts';
import type { ClusterCommand } from './commands.ts';
import type { ClusterInput } from './inputs.ts';
import type { ClusterState } from './state.ts';
import { step } from './step.ts';

export { openClusterInitialState, saveClusterInitialState } from './beginning.ts';
export type { ClusterChange } from './changes.ts';
export type { ClusterCommand } from './commands.ts';
export type { ClusterInput } from './inputs.ts';
export { listNodes, listQueue, type ListedNode } from './list-queue.ts';
export { listUses } from './reservations.ts';
export { listScores, type ScoreEntry } from './scores.ts';
export { restoreSnapshot, takeSnapshot, type ClusterSnapshot, type RequestSnapshot } from './snapshot.ts';
export {
  createClusterState,
  type ClusterOptions,
  type ClusterRequest,
  type ClusterRequestStatus,
  type ClusterState,
} from './state.ts';

/** The embedded space-shared resource manager: a queue of requests over the processors of one cluster. */
export const clusterMachine: Machine<ClusterState, ClusterInput, ClusterChange, ClusterCommand> = {
  step,
  apply,
  checkInvariants,
};
