import type { QueuedRequest } from '../messages/index.ts';
import type { Instant } from '../shared/index.ts';
import type { FreeTime } from '../profile/index.ts';
import { listedRank } from './own-rank.ts';

/** Called with the expected start of a request that was promised none. */
export type OnPlaced = (request: QueuedRequest, startsAt: Instant) => void;

const classCount = 32;

/**
 * Gives each request, in the order of ranks, or of arrival if there are none, the earliest place that is left, as
 * conservative backfilling does.
 *
 * Free processors only shrink, so a request finds no place before that of a request that was neither wider nor longer;
 * searches begin there. Cost: O(requests x segments) at worst, and far less where requests are alike.
 *
 * @param requests each no wider than the resource.
 * @param onPlaced called with each request when it has its place.
 */
export function placeInOrder(free: FreeTime, requests: readonly QueuedRequest[], onPlaced?: OnPlaced): void {
  /**
   * Per class of width and class of walltime, the latest place that a request of no more than that was given; -1 for
   * none.
   */
  const places = new Int32Array(classCount * classCount).fill(free.first);
  for (const request of [...requests].sort((one, other) => listedRank(one) - listedRank(other))) {
    const { width, walltime } = request;
    const place = free.findEarliest(width, walltime, getLatest(free, places, { width, walltime }));
    free.cut(place, width, walltime);
    onPlaced?.(request, free.startOf(place));
    const slot = classAbove(width) * classCount + classAbove(Math.ceil(walltime / 1000));
    if (free.startOf(place) > free.startOf(places[slot] as number)) places[slot] = place;
  }
}

function getLatest(
  free: FreeTime,
  places: Int32Array,
  { width, walltime }: { width: number; walltime: number },
): number {
  const widthClass = classBelow(width);
  const walltimeClass = classBelow(Math.floor(walltime / 1000));
  let latest = free.first;
  for (let i = 0; i <= widthClass; i += 1) {
    for (let j = 0; j <= walltimeClass; j += 1) {
      const place = places[i * classCount + j] as number;
      if (free.startOf(place) > free.startOf(latest)) latest = place;
    }
  }
  return latest;
}

/** The largest power of two that is not above, as its exponent. */
function classBelow(value: number): number {
  return value < 1 ? -1 : 31 - Math.clz32(Math.min(value, 2 ** 31));
}

/** The smallest power of two that is not below, as its exponent. */
function classAbove(value: number): number {
  return Math.min(classCount - 1, value <= 1 ? 0 : 32 - Math.clz32(value - 1));
}
