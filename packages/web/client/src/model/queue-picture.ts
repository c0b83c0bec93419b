import type { QueueProfile } from '../../../src/schema/index.ts';

/** A piece of the picture of a queue: a number of processors that one owner has for a while. */
export interface QueueBox {
  /** A request's name, or a reservation's. */
  readonly name: string;
  readonly owner: 'ours' | 'others' | 'reserved';
  readonly status: string;
  readonly start: number;
  readonly end: number;
  readonly bottom: number;
  readonly top: number;
}

type Holding = Omit<QueueBox, 'bottom' | 'top'> & { readonly width: number };

/**
 * Stacks who has processors over time: between two changes, all that hold some lie on top of each other, ours lowest.
 * Processors have no names here, so what lies above one that ends comes down then, and the top of the pile is what is
 * taken.
 */
export function stackQueue({ requests, reservations, at_unix_ms: now }: QueueProfile): QueueBox[] {
  const holdings = [
    ...requests.flatMap(
      ({
        request_id: name,
        is_ours: isOurs,
        status,
        width_processors: width,
        start_unix_ms: start,
        end_unix_ms: end,
      }): Holding[] =>
        start === null || end === null
          ? []
          : [{ name, owner: isOurs ? 'ours' : 'others', status, width, start: Math.max(now, start), end }],
    ),
    ...reservations.map(
      ({ reservation_id: id, processors: width, start_unix_ms: start, end_unix_ms: end }): Holding => ({
        name: `reservation ${id}`,
        owner: 'reserved',
        status: 'set aside',
        width,
        start: Math.max(now, start),
        end,
      }),
    ),
  ].filter(({ start, end }) => end > start);
  const order = { ours: 0, others: 1, reserved: 2 };
  holdings.sort((one, other) => order[one.owner] - order[other.owner] || one.start - other.start);
  const changes = [...new Set(holdings.flatMap(({ start, end }) => [start, end]))].sort((one, other) => one - other);
  const boxes: QueueBox[] = [];
  const open = new Map<Holding, number>();
  changes.slice(0, -1).forEach((start, index) => {
    const end = changes[index + 1] ?? start;
    let bottom = 0;
    for (const holding of holdings) {
      if (holding.start > start || holding.end < end) continue;
      const known = open.get(holding) ?? -1;
      const last = boxes[known];
      // Where nothing below it changed, it goes on as one piece.
      if (last !== undefined && last.end === start && last.bottom === bottom) boxes[known] = { ...last, end };
      else
        open.set(
          holding,
          boxes.push({
            name: holding.name,
            owner: holding.owner,
            status: holding.status,
            start,
            end,
            bottom,
            top: bottom + holding.width,
          }) - 1,
        );
      bottom += holding.width;
    }
  });
  return boxes;
}

/** As many times as far as requests reach, reservations are shown at most. */
const farthest = 4;

/** Until when the picture goes: the last change of what is free, or of a request, and an hour at least. */
export function getHorizon(
  { at_unix_ms: now, steps, requests, reservations }: QueueProfile,
  candidates: readonly number[],
): number {
  const latest = (ends: readonly number[]): number => ends.reduce((most, end) => Math.max(most, end), now);
  const requested = latest([...requests.map(({ end_unix_ms: end }) => end ?? now), ...candidates]);
  // Of a reservation of months the beginning is enough: the requests would be too small to be seen.
  const most = now + Math.max(3_600_000, farthest * (requested - now));
  const others = [...steps.map(({ from_unix_ms: from }) => from), ...reservations.map(({ end_unix_ms: end }) => end)];
  const last = Math.max(requested, Math.min(most, latest(others)));
  return now + Math.max(60_000, (last - now) * 1.06);
}
