import type { TracedRequest } from '@mutirao/core/queue';

/**
 * Moves submissions together (`factor` below 1, a higher load) or apart, the first one standing.
 *
 * @source costa2005, section 4.8: submission times of CTC SP2 x 0.9 and x 0.7.
 */
export function scaleSubmissions<T extends TracedRequest>(trace: readonly T[], factor: number): readonly T[] {
  const first = trace[0]?.submittedAt ?? 0;
  if (factor === 1) return trace;
  return trace.map((request) => ({
    ...request,
    submittedAt: first + Math.round((request.submittedAt - first) * factor),
  }));
}
