import { keyOfContent } from '../../messages/index.ts';
import type { HeldReplica } from './state.ts';
import type { Turn } from './turn.ts';

/** Forgets a replica's need of its contents, and unpins contents that are no longer needed. */
export function releaseContents(turn: Turn, replica: HeldReplica): void {
  if (!replica.isAsked || replica.start.inputs.length === 0) return;
  const { state, commands } = turn;
  const contentKeys: string[] = [];
  for (const { content } of replica.start.inputs) {
    const key = keyOfContent(content);
    const held = state.contents.get(key);
    if (held?.users.delete(replica.start.replicaId) !== true || held.users.size > 0) continue;
    state.contents.delete(key);
    state.contentBytes -= held.content.size;
    contentKeys.push(key);
  }
  if (contentKeys.length > 0) commands.push({ kind: 'ReleaseContents', contentKeys });
}
