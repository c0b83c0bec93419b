import type { ClaimedReservation, QueueListing, RequestOrder, ResourceLimits } from '@mutirao/core/messages';
import type { UserId } from '@mutirao/core/shared';
import type { SiteReservations } from './site-reservations.ts';

/** What a provider asks of its resource manager; its `clientRequestId` is never empty. */
export interface AllocationOrder extends RequestOrder {
  /**
   * The reservation to run inside of, for a manager that honours them; one that is asked for before its start waits for
   * that. Left out for none.
   */
  readonly reservation?: ClaimedReservation;
}

/**
 * All that Mutirao wants of the manager of a space-shared resource. One per resource: a manager of several clusters has
 * several.
 *
 * Each call has a deadline of its own and rejects with a MutiraoError: MUT_UNREACHABLE (retryable; whether an
 * `allocate` went through is unknown, repeat it with the same key), MUT_QUEUE_CLOSED (retryable), MUT_BAD_REQUEST,
 * or one of the limits' codes (MUT_REQUESTS_MAX, MUT_WALLTIME_MAX, MUT_WIDTH_MAX).
 *
 * @source costa2005, Table 5.1 (CRONO's interface): allocate, release, getMaxRequests, getMaxTimePerRequest,
 * getMaxProcsPerRequest (here `limits`), getRequestsInQueue (here `queue`).
 * Departs from the source: the queue lists running requests too, since a profile needs them; requests carry a key.
 */
export interface ResourceManager {
  /**
   * What the resource is called at its reservation manager; left out where no reservations are honoured, and then no
   * order has one.
   */
  readonly reservationResource?: string;
  /**
   * Queues a request and resolves to the manager's id for it. Idempotent by user and `clientRequestId` until it is
   * closed; a caller that opens the manager again finds requests by these keys in `queue`.
   */
  allocate(order: AllocationOrder): Promise<string>;
  /** Takes a queued request out or ends a running one; of a request that ended or is unknown, does nothing. */
  release(managerRequestId: string): Promise<void>;
  /** The limits of one user, static in most managers. */
  limits(userId: UserId): Promise<ResourceLimits>;
  /**
   * Queued and running requests, in the order of arrival, and up to `endedMax` that ended, newest first. @param userId
   * of whose requests a ranking is wanted, where there is one.
   */
  queue(endedMax: number, userId?: UserId): Promise<QueueListing>;
  /**
   * Whether limits have changed since they were read, as when a width was refused; left out if only a read can show it.
   */
  readonly hasNewLimits?: boolean;
  /**
   * Calls `onHint` when the queue may have changed, until `signal` is aborted. A hint may come late, often or never, so
   * the caller also reads the queue on its own clock. Never throws.
   */
  watch(onHint: () => void, signal: AbortSignal): void;
  /**
   * Whether it honours the claims of reservations by itself, so that nothing must be pre-acquired for them; undefined
   * while that is unknown. Left out if no such manager does. Never throws.
   */
  honoursReservations?(): Promise<boolean | undefined>;
  /**
   * Whether it would make reservations of its own for this account, which it then guarantees; undefined while that is
   * unknown. Left out if no such manager does. Never throws.
   */
  mayReserve?(): Promise<boolean | undefined>;
  /** The manager's own reservations; left out where it has none that we could make. */
  readonly siteReservations?: SiteReservations;
  /** Lets go of connections. */
  close(): void;
}
