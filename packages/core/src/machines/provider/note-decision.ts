import type { RequestDecision, RequestHeuristic } from '../../requests/index.ts';
import type { Turn } from './turn.ts';

/** Remembers what a heuristic compared, for queries; a decision that compared nothing leaves the one before. */
export function noteDecision(
  { state, now }: Turn,
  { name: heuristic }: RequestHeuristic,
  { candidates = [], reasons, drafts }: RequestDecision,
): void {
  if (candidates.length === 0) return;
  state.lastDecision = { at: now, heuristic, candidates, reasons: drafts[0]?.reasons ?? reasons };
}
