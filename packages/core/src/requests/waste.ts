import type { Duration, ProcessorMillis } from '../shared/index.ts';
import type { ServedRequest } from './heuristic.ts';

/**
 * Processor-time that requests held and no completed task used.
 *
 * @source costa2005, Eq. 3.4:  TD = sum over R_i in RG of (p_i t_i^e) - sum over T_k in T of v_k^e
 * Symbols: p_i = `width`, t_i^e = `endedAt - startedAt`, the second sum = `usefulTime`, the run times of the winning
 * replicas
 * times the processors of each.
 * Departs from the source: no.
 */
export function getWaste(
  requests: readonly Pick<ServedRequest, 'width' | 'startedAt' | 'endedAt'>[],
  usefulTime: Duration,
): ProcessorMillis {
  let held = 0;
  for (const { width, startedAt, endedAt } of requests) held += width * (endedAt - startedAt);
  return held - usefulTime;
}
