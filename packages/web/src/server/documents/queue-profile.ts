import { RequestStatus, type GetQueueResponse, type QueuedRequest } from '@mutirao/api/cluster';

import type { QueueProfile } from '../../schema/index.ts';
import { instantOrNull, nameOf } from './names.ts';

const requestsMax = 1000;

interface Taken {
  readonly from: number;
  readonly until: number;
  readonly processors: number;
}

/**
 * The queue of a space-shared resource as free processors over time: by walltimes, and for queued requests by the start that they were promised.
 *
 * @param ours what the resource calls our requests. Cost: O(requests log requests).
 */
export function queueProfile(queue: GetQueueResponse, { processors, ours }: { readonly processors: number; readonly ours: ReadonlySet<string> }): QueueProfile {
  const living = queue.requests.filter(({ status }) => status === RequestStatus.QUEUED || status === RequestStatus.RUNNING);
  const now = queue.atUnixMs;
  const taken = [
    ...living.flatMap((request) => takenBy(request, now)),
    ...queue.reservations.map(({ startUnixMs, endUnixMs, processors: held, processorsUsed }) => ({ from: Math.max(now, startUnixMs), until: endUnixMs, processors: Math.max(0, held - processorsUsed) })),
  ];
  return {
    at_unix_ms: now, processors, steps: stepsOf(taken, now, processors),
    requests: living.slice(0, requestsMax).map((request) => ({
      request_id: request.requestId, is_ours: ours.has(request.requestId), status: nameOf(RequestStatus, request.status), width_processors: request.widthProcessors,
      start_unix_ms: instantOrNull(request.startsUnixMs), end_unix_ms: request.startsUnixMs === 0 ? null : request.startsUnixMs + request.walltimeMs,
    })),
    reservations: queue.reservations.map((one) => ({ reservation_id: one.reservationId, processors: one.processors, start_unix_ms: one.startUnixMs, end_unix_ms: one.endUnixMs })),
  };
}

/** One that runs longer than its walltime is about to be ended. A request without a promised start takes nothing yet. */
function takenBy({ status, startsUnixMs, walltimeMs, widthProcessors }: QueuedRequest, now: number): Taken[] {
  if (startsUnixMs === 0) return [];
  const isRunning = status === RequestStatus.RUNNING;
  return [{ from: isRunning ? now : Math.max(now, startsUnixMs), until: Math.max(now + (isRunning ? 1 : 0), startsUnixMs + walltimeMs), processors: widthProcessors }];
}

function stepsOf(taken: readonly Taken[], now: number, processors: number): QueueProfile['steps'] {
  const changes = new Map<number, number>([[now, 0]]);
  for (const { from, until, processors: width } of taken) {
    changes.set(from, (changes.get(from) ?? 0) - width);
    changes.set(until, (changes.get(until) ?? 0) + width);
  }
  let free = processors;
  return [...changes].sort(([one], [other]) => one - other).map(([from, change]) => {
    free += change;
    return { from_unix_ms: from, free_processors: Math.max(0, free) };
  });
}
