import type { HeldReplica } from './state.ts';
import type { Turn } from './turn.ts';

/** Forgets a replica's need of its contents; what nobody needs is unpinned. */
export function releaseContents(turn: Turn, replica: HeldReplica): void {
  if (!replica.isAsked || replica.start.inputs.length === 0) return;
  const { state, commands } = turn;
  const sha256s: string[] = [];
  for (const { content: { sha256 } } of replica.start.inputs) {
    const held = state.contents.get(sha256);
    if (held?.users.delete(replica.start.replicaId) !== true || held.users.size > 0) continue;
    state.contents.delete(sha256);
    state.contentBytes -= held.content.size;
    sha256s.push(sha256);
  }
  if (sha256s.length > 0) commands.push({ kind: 'ReleaseContents', sha256s });
}
