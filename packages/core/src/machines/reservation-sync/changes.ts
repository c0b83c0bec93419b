import type { ReservedWindow } from '../../messages/index.ts';
import type { Instant } from '../../shared/index.ts';
import type { KeptStatus } from './state.ts';

/** Changes of what the reservation sync knows; the journal's lines. */
export type ReservationSyncChange =
  /** The reservation manager reported its reservations: these are removed, and these are new or different. */
  | {
      readonly kind: 'WindowsChanged';
      readonly removedIds: readonly number[];
      readonly windows: readonly ReservedWindow[];
      readonly at: Instant;
    }
  | {
      readonly kind: 'StatusChanged';
      readonly reservationId: number;
      readonly status: KeptStatus;
      readonly reason: string;
      readonly at: Instant;
    }
  /** They have ended. */
  | { readonly kind: 'WindowsEnded'; readonly ids: readonly number[] };
