import { QueueKnowledge, type ProviderQueue, type QueueEntry } from '@mutirao/api/provider';
import { reasonDocument } from '@mutirao/api/reasons';

import type { ProviderDetail, QueueProfile } from '../../schema/index.ts';
import { instantOrNull, getEnumName } from './names.ts';
import { candidateDocument } from './providers.ts';

/** What is known of a provider's queue apart from its profile. @param ageMs the age of the provider's report. */
export function queueStatus(queue: ProviderQueue, ageMs: number): NonNullable<ProviderDetail['queue']> {
  const { knowledge, trouble, atUnixMs, readUnixMs, runningCount, waitingCount, decision } = queue;
  return {
    knowledge: getEnumName(QueueKnowledge, knowledge),
    trouble: trouble === undefined ? null : reasonDocument(trouble),
    age_ms: readUnixMs === 0 ? null : Math.max(0, atUnixMs - readUnixMs) + ageMs,
    running_count: runningCount,
    waiting_count: waitingCount,
    decision:
      decision === undefined
        ? null
        : {
            at_unix_ms: instantOrNull(decision.atUnixMs),
            heuristic: decision.heuristic,
            candidates: decision.candidates.map(candidateDocument),
            reasons: decision.reasons.map(reasonDocument),
          },
  };
}

/**
 * The queue of a resource as free processors over time, as its provider's heuristic sees it; null where nothing is
 * known of it.
 */
export function queueProfile(queue: ProviderQueue): QueueProfile | null {
  if (queue.steps.length === 0) return null;
  return {
    at_unix_ms: queue.atUnixMs,
    processors: queue.processors,
    steps: queue.steps.map(({ fromUnixMs, freeProcessors }) => ({
      from_unix_ms: fromUnixMs,
      free_processors: freeProcessors,
    })),
    requests: queue.entries.map(findRequest),
    reservations: queue.reservations.map((one) => ({
      reservation_id: one.reservationId,
      processors: one.processors,
      start_unix_ms: one.startUnixMs,
      end_unix_ms: one.endUnixMs,
    })),
  };
}

function findRequest({
  managerRequestId,
  requestId,
  running,
  widthProcessors,
  walltimeMs,
  startsUnixMs,
}: QueueEntry): QueueProfile['requests'][number] {
  return {
    request_id: managerRequestId === '' ? requestId : managerRequestId,
    is_ours: requestId !== '',
    status: running ? 'running' : 'queued',
    width_processors: widthProcessors,
    start_unix_ms: instantOrNull(startsUnixMs),
    end_unix_ms: startsUnixMs === 0 ? null : startsUnixMs + walltimeMs,
  };
}
