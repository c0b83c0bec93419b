import type { ClaimedReservation, JobReservation, ReservedWindow } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import type { Kernel } from './kernel.ts';
import type { ReservationPlan, Scenario } from './scenario.ts';

/** Why a claim is refused. */
export interface ClaimRefusal {
  readonly code: string;
  readonly message: string;
}

interface BookedReservation {
  /** What its user was given: its claim, and where it was then. */
  readonly reservation: ClaimedReservation;
  readonly isForged: boolean;
  readonly cancelledAt: Instant;
  /** Where it is, from each of these instants on; sorted, the first from the beginning. */
  readonly places: readonly { readonly from: Instant; readonly window: ReservedWindow }[];
}

/** The view of a resource manager that knows nothing of reservations. */
export const noReservations: Pick<FakeReservationManager, 'getWindows' | 'admit'> = {
  getWindows: () => [],
  admit: () => ({ code: 'MUT_RESERVATION_UNSUPPORTED', message: 'there are no reservations here' }),
};

/**
 * The reservation manager of a world, which is never wrong: promises, moves and cancellations so far. It may be away.
 */
export class FakeReservationManager {
  readonly #kernel: Kernel;
  readonly #booked = new Map<string, BookedReservation>();
  #awayUntil: Instant = 0;

  /** @param onChanged called with the resource whose reservations have changed, or can be asked for again. */
  constructor(kernel: Kernel, { jobs, managerAways = [] }: Scenario, onChanged: (resourceId: string) => void) {
    this.#kernel = kernel;
    for (const [index, { reservation: plan }] of jobs.entries()) {
      if (plan === undefined) continue;
      const booked = book(plan, { index, worldStart: kernel.now });
      this.#booked.set(String(index), booked);
      const {
        cancelledAt,
        places,
        reservation: { resourceId },
      } = booked;
      for (const at of [cancelledAt, ...places.slice(1).map(({ from }) => from)])
        if (at < Infinity)
          kernel.at(at, () => {
            onChanged(resourceId);
          });
    }
    const resourceIds = new Set([...this.#booked.values()].map(({ reservation: { resourceId } }) => resourceId));
    for (const { after, duration } of managerAways) {
      kernel.after(after, () => {
        this.#awayUntil = Math.max(this.#awayUntil, kernel.now + duration);
      });
      kernel.after(after + duration, () => {
        for (const resourceId of resourceIds) onChanged(resourceId);
      });
    }
  }

  /** Whether it does not answer now. */
  get isAway(): boolean {
    return this.#kernel.now < this.#awayUntil;
  }

  /** What the user submits a job with. @param label of the job. */
  shownFor(label: string): JobReservation | undefined {
    const booked = this.#booked.get(label);
    return booked === undefined ? undefined : { ...booked.reservation, after: 'continue' };
  }

  /** The level that is reported to a resource. */
  getWindows(resourceId: string): ReservedWindow[] {
    return [...this.#booked.values()]
      .filter((booked) => booked.reservation.resourceId === resourceId && this.#stands(booked))
      .map((booked) => this.#getWindow(booked));
  }

  /** Places that a reservation ever had; empty for one that does not exist. */
  placesUntilNow(reservationId: number): ReservedWindow[] {
    const booked = [...this.#booked.values()].find(({ reservation }) => reservation.reservationId === reservationId);
    return booked?.places.filter(({ from }) => from <= this.#kernel.now).map(({ window }) => window) ?? [];
  }

  /** What a resource learns of a claim that is shown there. */
  admit({ claim }: ClaimedReservation): ReservedWindow | ClaimRefusal {
    const booked = this.#findByClaim(claim);
    if (booked === undefined || booked.isForged) return { code: 'MUT_CLAIM_FORGED', message: 'nobody signed it' };
    if (!this.#stands(booked)) return { code: 'MUT_RESERVATION_OVER', message: 'it is over' };
    return this.#getWindow(booked);
  }

  /**
   * The code with which a claim is refused, empty for a good one. While the manager is away, the signature and dates
   * decide.
   */
  judge(shown: ClaimedReservation): string {
    const booked = this.#findByClaim(shown.claim);
    if (this.isAway && booked?.isForged === false)
      return booked.reservation.endsAt > this.#kernel.now ? '' : 'MUT_CLAIM_LATE';
    const answer = this.admit(shown);
    return 'code' in answer ? answer.code : '';
  }

  #findByClaim(claim: string): BookedReservation | undefined {
    return [...this.#booked.values()].find(({ reservation }) => reservation.claim === claim);
  }

  #getWindow({ places, reservation }: BookedReservation): ReservedWindow {
    return places.findLast(({ from }) => from <= this.#kernel.now)?.window ?? toWindow(reservation);
  }

  #stands(booked: BookedReservation): boolean {
    return Math.min(this.#getWindow(booked).endsAt, booked.cancelledAt) > this.#kernel.now;
  }
}

function book(
  plan: ReservationPlan,
  { index, worldStart }: { readonly index: number; readonly worldStart: Instant },
): BookedReservation {
  const { cluster, startsAfter, duration, count, cancelledAfter = Infinity, isForged = false, moves = [] } = plan;
  const startsAt = worldStart + startsAfter;
  const reservation = {
    claim: `claim of job ${index}`,
    reservationId: index + 1,
    revision: 1,
    resourceId: `cluster${cluster}`,
    userId: 'user',
    startsAt,
    endsAt: startsAt + duration,
    amount: count,
    units: Array.from({ length: count }, (_none, unit) => unit),
  };
  const first = toWindow(reservation);
  const later = moves.map((move) => {
    const movedTo = worldStart + move.startsAfter;
    return {
      from: worldStart + move.after,
      window: { ...first, count: move.count, startsAt: movedTo, endsAt: movedTo + move.duration },
    };
  });
  return {
    reservation,
    isForged,
    cancelledAt: worldStart + cancelledAfter,
    places: [{ from: worldStart, window: first }, ...later],
  };
}

function toWindow({ reservationId, userId, amount, startsAt, endsAt }: ClaimedReservation): ReservedWindow {
  return { reservationId, userId, count: amount, startsAt, endsAt };
}
