import type { QueueKnowledge, ViewedQueue, ViewedRequest } from '@mutirao/core/machines/provider';

import {
  QueueKnowledge as QueueKnowledgeWire,
  type ProviderQueue,
  type QueueEntry,
} from '../generated/mutirao/provider/v1/provider.ts';
import { encodeReason, encodeReasons } from '../reasons/index.ts';
import { encodeCandidate } from './provider.ts';

const wireOfKnowledge: Readonly<Record<QueueKnowledge, QueueKnowledgeWire>> = {
  none: QueueKnowledgeWire.NONE,
  hidden: QueueKnowledgeWire.HIDDEN,
  stale: QueueKnowledgeWire.STALE,
  complete: QueueKnowledgeWire.COMPLETE,
};

/** Writes a queue as a provider's heuristic sees it for the wire. */
export function encodeProviderQueue(view: ViewedQueue): ProviderQueue {
  const { providerId, knowledge, trouble, processors, decision } = view;
  return {
    providerId,
    knowledge: wireOfKnowledge[knowledge],
    trouble: trouble && encodeReason(trouble),
    processors,
    atUnixMs: view.at,
    readUnixMs: view.readAt,
    steps: view.steps.map(({ from, free }) => ({ fromUnixMs: from, freeProcessors: free })),
    stepsUntilUnixMs: view.stepsUntil,
    entries: view.requests.map(encodeEntry),
    runningCount: view.runningCount,
    waitingCount: view.waitingCount,
    reservations: view.reservations.map(({ reservationId, count, startsAt, endsAt }) => ({
      reservationId,
      processors: count,
      startUnixMs: startsAt,
      endUnixMs: endsAt,
    })),
    decision: decision && {
      atUnixMs: decision.at,
      heuristic: decision.heuristic,
      candidates: decision.candidates.map(encodeCandidate),
      reasons: encodeReasons(decision.reasons),
    },
  };
}

function encodeEntry({
  managerRequestId,
  requestId,
  status,
  width,
  walltime,
  startsAt,
  isForecast,
}: ViewedRequest): QueueEntry {
  return {
    managerRequestId,
    requestId,
    running: status === 'running',
    widthProcessors: width,
    walltimeMs: walltime,
    startsUnixMs: startsAt,
    forecast: isForecast,
  };
}
