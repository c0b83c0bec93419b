import type { ReplicaId } from '../../shared/index.ts';
import { condemn } from './deadlines.ts';
import { countBytes, endReplica, noResult } from './end-replica.ts';
import { removeFromQueue } from './queue.ts';
import { endRunnersOf } from './runners.ts';
import type { HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';
import { isUnsure } from './unsure-ends.ts';

const cancelled: Verdict = {
  outcome: 'cancelled',
  reason: 'MUT_CANCELLED',
  detail: { code: 'cancelled-on-request' },
};

/** Cancels replicas; unknown ones have ended already. */
export function cancelReplicas(turn: Turn, replicaIds: readonly ReplicaId[], onlyWaiting: boolean): void {
  for (const replicaId of replicaIds) {
    const replica = turn.state.replicas.get(replicaId);
    if (replica === undefined) continue;
    if (onlyWaiting && (replica.status === 'running' || replica.status === 'ending')) continue;
    stopReplica(turn, replica, cancelled);
    endRunnersOf(turn, replica);
  }
}

/** Takes no new replica from now on. */
export function drain(turn: Turn): void {
  turn.state.isDraining = true;
}

/** Ends all replicas, because the agent stops. */
export function stopAll(turn: Turn, reason: string): void {
  drain(turn);
  const verdict: Verdict = { outcome: 'broken', reason: 'MUT_AGENT_STOPPED', detail: reason };
  dropUnsureEnds(turn, verdict);
  for (const replica of [...turn.state.replicas.values()]) {
    // Its outputs are still being collected, and its failure may have come from the same signal.
    if (replica.status === 'ending' && isUnsure(turn, replica)) replica.verdict = verdict;
    else stopReplica(turn, replica, verdict);
  }
}

/**
 * The agent must stop. A task that ended just before may have received the same signal, so its replica is given back.
 */
function dropUnsureEnds({ state }: Turn, verdict: Verdict): void {
  const { exitStatus, standardOutput, standardError, outputTruncated } = noResult;
  for (const { end } of state.unsureEnds) {
    state.endedBytes -= countBytes(end);
    state.unreportedEnds.push({
      ...end,
      ...verdict,
      exitStatus,
      standardOutput,
      standardError,
      outputTruncated,
      outputs: [],
    });
  }
  state.unsureEnds = [];
  state.earliestSure = Infinity;
}

function stopReplica(turn: Turn, replica: HeldReplica, verdict: Verdict): void {
  // A held one has no process, and nothing is on its way for it but word that it listens.
  if (replica.status !== 'dispatched' && replica.status !== 'held') return condemn(turn, replica, verdict);
  removeFromQueue(turn.state, replica);
  endReplica(turn, replica, verdict);
}
