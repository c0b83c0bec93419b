import type { ReservedWindow, SiteReservation } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';

/** How well a reservation is kept: not asked for yet, promised by the site's own manager, or refused by it. */
export type KeptStatus = 'planned' | 'guaranteed' | 'refused';

/** A reservation of our resource, and how the site keeps it. */
export interface KeptReservation {
  window: ReservedWindow;
  status: KeptStatus;
  /** Of the status. */
  since: Instant;
  /** Why it is not guaranteed, in the site's words; empty unless `status` is `refused`. */
  reason: string;
}

/** All that a reservation sync knows. */
export interface ReservationSyncState {
  /** By number, in the order in which they were reported. */
  readonly kept: Map<number, KeptReservation>;
  /** Whether the reservation manager has ever said which there are: before that, what the site has is left alone. */
  isAnnounced: boolean;
  /** As what each was last asked for in this life, until the site had it so; not journaled. */
  readonly asked: Map<number, SiteReservation>;
  /** When the driver was last asked to wake it; not journaled. */
  wakeAt: Instant;
}

/** A reservation sync that knows of nothing. */
export function createReservationSyncState(): ReservationSyncState {
  return { kept: new Map(), isAnnounced: false, asked: new Map(), wakeAt: 0 };
}
