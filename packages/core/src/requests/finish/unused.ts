import type { RequestFacts } from '../heuristic.ts';

/**
 * Whether a request was released in which no task had begun, and no own request has started since.
 *
 * Such a request was made for tasks that a running request's end may cut, and started before that end. Asked for again
 * it may start at once
 * again: at one instant that could go on until the budget is spent. Tasks that were cut since then wait, and are asked
 * for as such.
 */
export function isLastUnused({ unusedAt, pending }: Pick<RequestFacts, 'unusedAt' | 'pending'>): boolean {
  return (
    unusedAt !== undefined && !pending.some(({ status, startedAt }) => status === 'running' && startedAt > unusedAt)
  );
}
