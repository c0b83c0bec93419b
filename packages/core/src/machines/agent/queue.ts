import type { AgentState, HeldReplica } from './state.ts';

/**
 * Takes a replica out of the queue; the caller ends or starts it. Harmless for one that is not in it. Cost: its
 * position.
 */
export function removeFromQueue(state: AgentState, replica: HeldReplica): void {
  const index = state.queue.indexOf(replica);
  if (index < 0) return;
  state.queue.splice(index, 1);
  if (!replica.isAsked) state.unaskedCount--;
}
