import type { GangMemberReady, StartGang } from '../../messages/index.ts';
import type { ReplicaId } from '../../shared/index.ts';
import { condemn } from './deadlines.ts';
import { endReplica } from './end-replica.ts';
import { findHeld } from './finish-replica.ts';
import type { HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** A member of a gang has its processors and its inputs: it starts to listen, but not its task. */
export function holdMember(turn: Turn, replica: HeldReplica): void {
  replica.status = 'held';
  turn.commands.push({ kind: 'HoldMember', replica });
}

/** A member listens, and the next report says so. Ignored if it was cancelled meanwhile. */
export function noteListening(turn: Turn, held: GangMemberReady): void {
  if (findHeld(turn, held.replicaId, 'held') !== undefined) turn.state.unreportedHolds.push(held);
}

/** A member cannot listen. */
export function failHold(turn: Turn, replicaId: ReplicaId, verdict: Verdict): void {
  const replica = findHeld(turn, replicaId, 'held');
  if (replica !== undefined) endReplica(turn, replica, verdict);
}

/** All members are ready. Returns the member if its gang starts now; undefined for a repeated or late message. */
export function findStarting(turn: Turn, { replicaId, members }: StartGang): HeldReplica | undefined {
  const replica = findHeld(turn, replicaId, 'held');
  if (replica !== undefined) replica.members = members;
  return replica;
}

/** Rank 0 and this member have lost each other. */
export function breakGang(turn: Turn, replicaId: ReplicaId, detail: string): void {
  const replica = findHeld(turn, replicaId, 'running');
  if (replica !== undefined) condemn(turn, replica, { outcome: 'broken', reason: 'MUT_GANG_LOST', detail });
}
