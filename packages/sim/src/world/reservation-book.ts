import type { ClaimedReservation, JobReservation, ReservedWindow } from '@mutirao/core/messages';
import type { Instant } from '@mutirao/core/shared';
import type { Kernel } from './kernel.ts';
import type { Scenario } from './scenario.ts';

/** Why a claim is refused. */
export interface ClaimRefusal {
  readonly code: string;
  readonly message: string;
}

interface BookedReservation {
  readonly reservation: ClaimedReservation;
  readonly isForged: boolean;
  readonly cancelledAt: Instant;
}

/** The reservation manager of a world, which is always there and never wrong: what it promised, and what was cancelled since. */
export class ReservationBook {
  readonly #kernel: Kernel;
  readonly #booked = new Map<string, BookedReservation>();

  /** @param onCancelled hears of the resource of which one was cancelled. */
  constructor(kernel: Kernel, { jobs }: Scenario, onCancelled: (resourceId: string) => void) {
    this.#kernel = kernel;
    const worldStart = kernel.now;
    for (const [index, { reservation: plan }] of jobs.entries()) {
      if (plan === undefined) continue;
      const { cluster, startsAfter, duration, count, cancelledAfter = Infinity, isForged = false } = plan;
      const resourceId = `cluster${cluster}`;
      const claim = `claim of job ${index}`;
      const startsAt = worldStart + startsAfter;
      const units = Array.from({ length: count }, (_none, unit) => unit);
      const reservation = { claim, reservationId: index + 1, revision: 1, resourceId, userId: 'user', startsAt, endsAt: startsAt + duration, amount: count, units };
      this.#booked.set(String(index), { reservation, isForged, cancelledAt: worldStart + cancelledAfter });
      if (cancelledAfter !== Infinity) kernel.after(cancelledAfter, () => { onCancelled(resourceId); });
    }
  }

  /** What the user submits a job with. @param label of the job. */
  shownFor(label: string): JobReservation | undefined {
    const booked = this.#booked.get(label);
    return booked === undefined ? undefined : { ...booked.reservation, after: 'go-on' };
  }

  /** The level that a resource is told. */
  windowsOf(resourceId: string): ReservedWindow[] {
    return [...this.#booked.values()].filter((booked) => booked.reservation.resourceId === resourceId && this.#stands(booked)).map(({ reservation }) => toWindow(reservation));
  }

  /** What a resource learns of a claim that is shown there. */
  admit({ claim }: ClaimedReservation): ReservedWindow | ClaimRefusal {
    const booked = [...this.#booked.values()].find(({ reservation }) => reservation.claim === claim);
    if (booked === undefined || booked.isForged) return { code: 'MUT_CLAIM_FORGED', message: 'nobody signed it' };
    if (!this.#stands(booked)) return { code: 'MUT_RESERVATION_OVER', message: 'it is over' };
    return toWindow(booked.reservation);
  }

  #stands({ reservation: { endsAt }, cancelledAt }: BookedReservation): boolean {
    return Math.min(endsAt, cancelledAt) > this.#kernel.now;
  }
}

function toWindow({ reservationId, userId, amount, startsAt, endsAt }: ClaimedReservation): ReservedWindow {
  return { reservationId, userId, count: amount, startsAt, endsAt };
}
