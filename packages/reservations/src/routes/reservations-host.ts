import type { ReservationsChange, ReservationsInput, ReservationsState } from '@mutirao/core/machines/reservations';
import type { ReservationRecord } from '@mutirao/core/messages';
import type { QuotaUse } from '@mutirao/core/quotas';
import type { Instant, UserId } from '@mutirao/core/shared';
import type { ClaimSigner } from '@mutirao/runtime/claims';
import type { ChangeSignal } from '@mutirao/runtime/driver';
import type { Journal } from '@mutirao/runtime/journal';

/** What the routes need of the process. */
export interface ReservationsHost {
  /** Resolves to the machine's reply, after it is in the journal. */
  ask<T>(make: (replyTo: number) => ReservationsInput): Promise<T>;
  /** @throws {MutiraoError} MUT_DISK_FULL where nothing new can be taken. */
  requireDiskSpace(): void;
  /** For reading; all that it holds is in the journal. */
  readonly state: ReservationsState;
  readonly signer: ClaimSigner;
  readonly journal: Pick<Journal<ReservationsChange>, 'read' | 'lastSequence'>;
  /** Names the journal, as `readJournalInstance` does. */
  readonly journalInstance: string;
  /** Notified after each turn that changed something. */
  readonly changes: ChangeSignal;
  readonly clock: { now(): Instant };
  /** What a user takes of the server. */
  usesOf(userId: UserId): readonly QuotaUse[];
}

/** The claim of a reservation, for its user while it is usable now or later; empty for others. */
export function claimFor(
  { signer }: ReservationsHost,
  userId: UserId,
  { place, status, resourceId, revision }: ReservationRecord,
): Promise<string> | string {
  if (place.userId !== userId || (status !== 'confirmed' && status !== 'claimed')) return '';
  return signer.signAside({
    reservationId: place.id,
    resourceId,
    userId,
    startsAt: place.start,
    endsAt: place.end,
    amount: place.amount,
    units: place.resources,
    revision,
  });
}
