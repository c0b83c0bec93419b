import type { DraftedRequest, RequestCandidate } from '../../requests/index.ts';
import { decidingHeuristic } from './heuristic.ts';
import { clientRequestIdOf, type KnownBroker } from './state.ts';
import { commit, type Turn } from './turn.ts';

/** Submits what the heuristic that decides now drafted for a broker. */
export function submitDraft(turn: Turn, broker: KnownBroker, draft: DraftedRequest, candidates: readonly RequestCandidate[] | undefined): void {
  const { state, now } = turn;
  const { userId } = state.config;
  const { name: heuristic } = decidingHeuristic(state);
  const { width, walltime, reasons } = draft;
  const requestId = `q${state.nextRequestNumber}`;
  const compared = candidates === undefined ? {} : { candidates };
  commit(turn, { kind: 'RequestDrafted', requestId, brokerId: broker.brokerId, userId, width, walltime, heuristic, reasons, at: now, ...compared });
  commit(turn, { kind: 'RequestSubmitting', requestId, at: now });
  turn.commands.push({ kind: 'SubmitRequest', requestId, clientRequestId: clientRequestIdOf(state, requestId), userId, width, walltime });
}
