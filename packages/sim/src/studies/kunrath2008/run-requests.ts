import {
  Calendar,
  resourceDefaults,
  type PlacementRule,
  type ReservableResource,
  type ReservationRequest,
} from '@mutirao/core/reservations';
import { Prng } from '@mutirao/core/shared';

const hour = 3_600_000;

/** The span in which requests have their earliest starts, and in which utilisation is measured. */
export const horizon = 240 * hour;

/**
 * Requests whose whole work is the capacity over the horizon: amounts and durations are uniform, 1 to 50 % and 1 to 5
 * h.
 */
export const fullCount = horizon / (3 * hour) / 0.255;

/** What is the same for all runs that one mean is taken of. */
export interface Setup {
  readonly requestCount: number;
  /** The share of requests with a latest end (the seed's PRD). */
  readonly deadlineShare: number;
  /** Of those with a latest end; `mixed` is uniform from 0 to 5. */
  readonly laxity: number | 'mixed';
  readonly algorithm: ReservableResource['algorithm'];
  readonly placement: PlacementRule;
  readonly kind: ReservableResource['kind'];
}

/** What one run came to. */
export interface RunResult {
  /** Used over offered capacity-time, within the horizon. */
  readonly utilisation: number;
  readonly refusedShare: number;
  /** Reservations with another place, once for each time, over requests. */
  readonly movedShare: number;
}

/** Percents of a shared capacity, or processors. */
const capacities = { shared: 100, counted: 16 };

/**
 * Sends requests to a calendar, one after the other, as the seed's Requisitor does.
 *
 * The same seed gives the same requests except for what the setup changes: two algorithms face the same ones, and more
 * laxity or fewer deadlines change nothing else.
 */
export function runRequests(setup: Setup, seed: string): RunResult {
  const { kind, algorithm, placement } = setup;
  const capacity = capacities[kind];
  // The seed's SUVS-P knows no bound on moves.
  const calendar = new Calendar(
    { ...resourceDefaults, kind, capacity, algorithm, placement, inTheWay: 'covered', movesMax: 1e9 },
    0,
  );
  const [requests, nows] = drawRequests(setup, new Prng(seed));
  let refused = 0;
  let moved = 0;
  requests.forEach((request, index) => {
    const answer = calendar.request(request, nows[index] as number);
    if (answer.kind === 'refused') refused += 1;
    else moved += answer.moved.length;
  });
  const used = calendar.slots(0, horizon).reduce((sum, slot) => sum + slot.used * (slot.end - slot.start), 0);
  return {
    utilisation: used / (capacity * horizon),
    refusedShare: refused / requests.length,
    movedShare: moved / requests.length,
  };
}

function drawRequests(
  { requestCount, deadlineShare, laxity, kind }: Setup,
  prng: Prng,
): [ReservationRequest[], number[]] {
  const amounts = capacities[kind] / 2;
  const drawn = Array.from({ length: requestCount }, () => {
    const amount = 1 + prng.below(amounts);
    const duration = hour + prng.below(4 * hour);
    const earliestStart = prng.below(horizon);
    const lead = prng.below(24 * hour);
    const [disposition, spare] = [prng.fraction(), 5 * prng.fraction()];
    const latestEnd =
      disposition < deadlineShare
        ? earliestStart + Math.floor(duration * (1 + (laxity === 'mixed' ? spare : laxity)))
        : undefined;
    return { now: Math.max(0, earliestStart - lead), amount, duration, earliestStart, latestEnd };
  }).sort((one, other) => one.now - other.now);
  const requests = drawn.map(
    ({ amount, duration, earliestStart, latestEnd }, id): ReservationRequest => ({
      id,
      userId: 'ana',
      extent: { kind: 'rigid', amount, duration },
      timing: 'advance',
      earliestStart,
      latestEnd,
    }),
  );
  return [requests, drawn.map(({ now }) => now)];
}
