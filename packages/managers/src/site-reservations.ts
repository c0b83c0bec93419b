import type { SiteReservation } from '@mutirao/core/messages';
import type { ProcessorCount } from '@mutirao/core/shared';

/** What a site's manager has reserved for us. */
export interface SiteReservationListing {
  readonly reservations: readonly SiteReservation[];
  /** Processors that it reserves together at least. */
  readonly granularity: ProcessorCount;
}

/**
 * The reservations of a resource's own manager, where it has such and lets us make them.
 *
 * Each call has a deadline of its own and rejects with a MutiraoError: MUT_UNREACHABLE where it is not known what was
 * done, else a refusal
 * in the manager's words.
 */
export interface SiteReservations {
  /** Those that we made, and that are not over. */
  list(): Promise<SiteReservationListing>;
  /** Has processors set aside for our requests; from now on where the start has passed. */
  make(reservation: SiteReservation): Promise<void>;
  /** Gives one that was made another time; of one that has begun, only another end. */
  move(reservation: SiteReservation): Promise<void>;
  /** Ends what runs inside, and gives all back. Of one that is unknown, does nothing. */
  remove(reservationId: number): Promise<void>;
}
