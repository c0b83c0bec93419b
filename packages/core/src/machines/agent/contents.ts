import { keyOfContent, type Content } from '../../messages/index.ts';
import { endReplica } from './end-replica.ts';
import { removeFromQueue } from './queue.ts';
import type { AgentInput } from './inputs.ts';
import type { HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * Asks for the contents of waiting replicas, from the front of the queue, as far as they are prefetched and fit.
 *
 * The first in the queue goes over its turn only while running replicas hold the room that it needs; one that would
 * never fit ends.
 */
export function prefetchContents(turn: Turn): void {
  const { state, commands } = turn;
  if (state.unaskedCount === 0) return;
  const asked: Content[] = [];
  for (const replica of state.queue.slice(0, state.options.prefetchMax)) {
    if (replica.isAsked) continue;
    const bytes = countNewBytes(turn, replica);
    if (state.contentBytes + bytes > state.options.contentBytesMax) {
      if (!refuseTooLarge(turn, replica)) break;
      continue;
    }
    state.unaskedCount--;
    replica.isAsked = true;
    useContents(turn, replica, asked);
  }
  if (asked.length > 0) commands.push({ kind: 'AskContents', contents: asked });
}

/**
 * Ends a replica whose inputs alone are more than this machine ever holds. The task is at fault: "broken" would set the
 * machine apart for it.
 */
function refuseTooLarge(turn: Turn, replica: HeldReplica): boolean {
  const bytes = countDistinctBytes(replica);
  const bytesMax = turn.state.options.contentBytesMax;
  if (bytes <= bytesMax) return false;
  removeFromQueue(turn.state, replica);
  endReplica(turn, replica, {
    outcome: 'limited',
    reason: 'MUT_STORAGE_FULL',
    detail: { code: 'inputs-above-storage', inputBytes: bytes, storageBytesMax: bytesMax },
  });
  return true;
}

/** Asks again for everything that has not arrived: the provider that was asked is gone. */
export function askContentsAgain(turn: Turn): void {
  const contents = [...turn.state.contents.values()].filter((held) => !held.isHere).map((held) => held.content);
  if (contents.length > 0) turn.commands.push({ kind: 'AskContents', contents });
}

/** A content is in the store and pinned. */
export function noteContent(turn: Turn, key: string): void {
  const held = turn.state.contents.get(key);
  if (held === undefined || held.isHere) return;
  held.isHere = true;
  for (const replicaId of held.users) {
    const replica = turn.state.replicas.get(replicaId);
    if (replica === undefined) continue;
    replica.missingCount--;
    if (replica.missingCount === 0) replica.inputsHereAt = turn.now;
  }
}

/** A content will not come: the replicas that need it cannot run here. */
export function noteRefusal(turn: Turn, input: Extract<AgentInput, { kind: 'ContentRefused' }>): void {
  const held = turn.state.contents.get(input.contentKey);
  if (held === undefined || held.isHere) return;
  const verdict: Verdict = { outcome: 'broken', reason: input.reason, detail: input.detail };
  for (const replicaId of [...held.users]) {
    const replica = turn.state.replicas.get(replicaId);
    if (replica === undefined) continue;
    removeFromQueue(turn.state, replica);
    endReplica(turn, replica, verdict);
  }
}

function useContents(turn: Turn, replica: HeldReplica, asked: Content[]): void {
  const { state } = turn;
  for (const { content } of replica.start.inputs) {
    const key = keyOfContent(content);
    let held = state.contents.get(key);
    if (held === undefined) {
      held = { content, isHere: false, users: new Set() };
      state.contents.set(key, held);
      state.contentBytes += content.size;
      asked.push(content);
    }
    if (!held.isHere && !held.users.has(replica.start.replicaId)) replica.missingCount++;
    held.users.add(replica.start.replicaId);
  }
  if (replica.missingCount > 0) replica.inputsAskedAt = turn.now;
}

function countNewBytes(turn: Turn, replica: HeldReplica): number {
  return countDistinctBytes(replica, (key) => turn.state.contents.has(key));
}

function countDistinctBytes(replica: HeldReplica, isCounted: (key: string) => boolean = () => false): number {
  const seen = new Set<string>();
  let bytes = 0;
  for (const { content } of replica.start.inputs) {
    const key = keyOfContent(content);
    if (seen.has(key) || isCounted(key)) continue;
    seen.add(key);
    bytes += content.size;
  }
  return bytes;
}
