import type { ReplicaEnd } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';
import type { AgentState, HeldReplica, Verdict } from './state.ts';
import type { Turn } from './turn.ts';

/** On a machine whose tasks are seldom signalled, an end is held back for at most this share of the run time. */
const holdShare = 0.01;

/** Holds shorter than this are skipped: they would only cost a timer. */
const holdMin = 5;

/** Ends become sure together, so that a stream of short tasks does not set a timer for each. */
const sureStep = 10;

/** When the end of a replica's process can be reported; `now` for one that is not held back. */
export function findSureAt({ state, now }: Turn, replica: HeldReplica, { outcome }: Verdict): Instant {
  // Other outcomes were decided by the agent or the user, whatever signalled the process.
  if (outcome !== 'succeeded' && outcome !== 'failed') return now;
  const { longest, isForAll } = state.options.endHold;
  const { startedAt, processEndedAt } = replica;
  const share =
    isForAll || isEndedBySignal(replica) ? longest : Math.min(longest, holdShare * (processEndedAt - startedAt));
  return share < holdMin ? now : Math.max(now, Math.ceil((processEndedAt + share) / sureStep) * sureStep);
}

/** Whether the end of a replica's process could not be reported yet. */
export function isUnsure(turn: Turn, replica: HeldReplica): boolean {
  if (replica.verdict === undefined) return false;
  // An end in this very turn may come from the same signal also where ends are not held back.
  return replica.processEndedAt === turn.now || findSureAt(turn, replica, replica.verdict) > turn.now;
}

/** As a shell reports it. */
function isEndedBySignal({ result }: HeldReplica): boolean {
  return result !== undefined && result.exitStatus > 128;
}

/**
 * Holds an end back. One that is sure at once is held until the other inputs of this turn are handled: the agent may
 * have its signal among them.
 */
export function holdEnd(state: AgentState, end: ReplicaEnd, sureAt: Instant): void {
  state.unsureEnds.push({ end, sureAt });
  state.earliestSure = Math.min(state.earliestSure, sureAt);
}

/** Lets the ends go that are sure by now. */
export function releaseSureEnds({ state, now }: Turn): void {
  if (state.earliestSure > now) return;
  const held = state.unsureEnds;
  state.unsureEnds = [];
  state.earliestSure = Infinity;
  for (const { end, sureAt } of held) {
    if (sureAt <= now) state.unreportedEnds.push(end);
    else holdEnd(state, end, sureAt);
  }
}
