import type { QueuedRequest } from '../messages/index.ts';
import { AvailabilityProfile } from '../profile/index.ts';
import type { Instant, ProcessorCount } from '../shared/index.ts';
import { FreeTime } from './free-time.ts';
import type { RequestFacts } from './heuristic.ts';

/** What a decision needs of the queue. */
export interface QueueAhead {
  /** What running and waiting requests leave free. */
  readonly free: FreeTime;
  /** |R^w|. */
  readonly waitingCount: number;
}

/**
 * Reads the queue: running requests hold their processors until startsAt + walltime, waiting ones from the start that they were
 * promised; waiting ones without a promise get, in the order of arrival, the earliest place that the others leave.
 *
 * A request that should have ended and still runs is taken to end within a grain. Processors that are neither free nor held by a
 * running request are taken for the longest walltime, as if somebody unlisted had them.
 * Cost: O(n log n) for n listed requests; those without a promise cost an earliest fit each.
 */
export function readQueue(facts: RequestFacts): QueueAhead {
  const { now, limits, listing, queue } = facts;
  if (queue !== undefined) return { free: FreeTime.ofProfile(queue.profile, now), waitingCount: queue.waitingCount };
  const waiting = listing.requests.filter(({ status }) => status === 'queued');
  const free = FreeTime.ofChanges(limits.processors, changesOf(facts, waiting), now);
  const unpromised = waiting.filter(({ startsAt, width }) => startsAt === 0 && width <= limits.processors);
  return { free: unpromised.length === 0 ? free : placeInOrder(facts, free, unpromised), waitingCount: waiting.length };
}

/** By how much the free capacity changes, and when. */
function changesOf({ now, limits, listing }: RequestFacts, waiting: readonly QueuedRequest[]): Map<Instant, ProcessorCount> {
  const changes = new Map<Instant, ProcessorCount>();
  const hold = (width: ProcessorCount, start: Instant, end: Instant): void => {
    changes.set(start, (changes.get(start) ?? 0) - width);
    changes.set(end, (changes.get(end) ?? 0) + width);
  };
  let unlisted = limits.processors - listing.processorsFree;
  for (const { status, width, startsAt, walltime } of listing.requests) {
    if (status !== 'running') continue;
    unlisted -= width;
    hold(width, now, Math.max(startsAt + walltime, now + limits.walltimeGranularity));
  }
  if (unlisted > 0) hold(unlisted, now, now + limits.walltimeMax);
  for (const { width, startsAt, walltime } of waiting) {
    if (startsAt > 0) hold(width, Math.max(startsAt, now), Math.max(startsAt, now) + walltime);
  }
  return changes;
}

function placeInOrder({ now, limits }: RequestFacts, free: FreeTime, waiting: readonly QueuedRequest[]): FreeTime {
  const profile = new AvailabilityProfile(limits.processors, now);
  for (let at = free.first; free.nextOf(at) >= 0; at = free.nextOf(at)) {
    profile.reserve(limits.processors - free.freeOf(at), free.startOf(at), free.startOf(free.nextOf(at)));
  }
  for (const { width, walltime } of [...waiting].sort((one, other) => one.submittedAt - other.submittedAt)) {
    const startsAt = profile.earliestFit(width, walltime, now);
    profile.reserve(width, startsAt, startsAt + walltime);
  }
  return FreeTime.ofProfile(profile, now);
}
