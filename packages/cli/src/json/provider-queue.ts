import { QueueKnowledge, type ProviderQueue } from '@mutirao/api/provider';
import { reasonDocument } from '@mutirao/api/reasons';

import { getEnumName } from '../wire/names.ts';
import type { JsonOf, shapes } from './shapes.ts';

/** The queue of a resource as its provider sees it, as JSON. */
export function providerQueueJson(queue: ProviderQueue): JsonOf<(typeof shapes)['provider_queue']> {
  const { decision } = queue;
  return {
    provider_id: queue.providerId,
    knowledge: getEnumName(QueueKnowledge, queue.knowledge),
    trouble: queue.trouble === undefined ? null : reasonDocument(queue.trouble),
    at_unix_ms: queue.atUnixMs,
    read_unix_ms: queue.readUnixMs === 0 ? null : queue.readUnixMs,
    processors: queue.processors,
    steps: queue.steps.map(({ fromUnixMs, freeProcessors }) => ({
      from_unix_ms: fromUnixMs,
      free_processors: freeProcessors,
    })),
    steps_until_unix_ms: queue.stepsUntilUnixMs ?? null,
    entries: queue.entries.map((entry) => ({
      manager_request_id: entry.managerRequestId,
      request_id: entry.requestId,
      running: entry.running,
      width_processors: entry.widthProcessors,
      walltime_ms: entry.walltimeMs,
      starts_unix_ms: entry.startsUnixMs === 0 ? null : entry.startsUnixMs,
      forecast: entry.forecast,
    })),
    running_count: queue.runningCount,
    waiting_count: queue.waitingCount,
    decision:
      decision === undefined
        ? null
        : {
            at_unix_ms: decision.atUnixMs === 0 ? null : decision.atUnixMs,
            heuristic: decision.heuristic,
            reasons: decision.reasons.map(reasonDocument),
            candidates: decision.candidates.map((one) => ({
              width_processors: one.widthProcessors,
              walltime_ms: one.walltimeMs,
              starts_unix_ms: one.startsUnixMs,
              throughput_tasks_per_hour: one.throughputTasksPerHour,
              chosen: one.chosen,
            })),
          },
  };
}
