import { MutiraoError } from '@mutirao/api/errors';
import { ReservationServiceClient, type CancelReservationRequest } from '@mutirao/api/reservation';
import type { BrokerJob } from '@mutirao/core/machines/broker';
import type { Duration } from '@mutirao/core/shared';
import { systemClock, systemTimers, type Clock, type Timers } from '@mutirao/runtime/driver';
import { userTrust, type TrustSource } from '@mutirao/runtime/identity';
import type { Logger } from '@mutirao/runtime/log';
import { callUnary, dial } from '@mutirao/runtime/rpc';

/** Where reservations are given back to. */
export interface OwnReservationsOptions {
  /** Of the reservation manager. */
  readonly address: string;
  readonly token: () => string;
  readonly trust?: TrustSource;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  /** Asks the manager to cancel a reservation; left out, by a call. */
  readonly cancel?: (request: CancelReservationRequest) => Promise<unknown>;
}

const deadlineMs = 3000;
/** Pause before a manager that did not answer is asked again. */
const againAfter: Duration = 5000;

/**
 * Gives back the reservations that jobs asked for themselves, when the jobs have ended.
 *
 * This is not written down: a broker that starts on the journal gives them back again, and cancelling a finished
 * reservation is harmless.
 */
export class OwnReservations {
  readonly #options: OwnReservationsOptions;
  readonly #client: ReservationServiceClient;
  readonly #stopped = new AbortController();
  /** Timers and calls that are out. */
  readonly #timers = new Set<unknown>();
  readonly #calls = new Set<Promise<void>>();

  constructor(options: OwnReservationsOptions) {
    this.#options = options;
    this.#client = dial(ReservationServiceClient, options.address, { token: options.token, trust: options.trust });
  }

  /**
   * Gives back what an ended job had for itself, as long as it is not over; tries again until its end while the manager
   * is away.
   */
  giveBack(job: Pick<BrokerJob, 'jobId' | 'reservation'>): void {
    const { jobId, reservation } = job;
    if (reservation?.isOwn !== true || reservation.endsAt <= this.#options.clock.now() || this.#stopped.signal.aborted)
      return;
    const call = this.#cancel(
      { reservationId: reservation.reservationId, reason: `job ${jobId}, which asked for it, has ended` },
      () => {
        this.giveBack(job);
      },
    );
    this.#calls.add(call);
    void call.finally(() => {
      this.#calls.delete(call);
    });
  }

  /** Ends; the next start goes on with what is not given back. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const timer of this.#timers) this.#options.timers.cancel(timer);
    await Promise.all(this.#calls);
    this.#client.close();
  }

  async #cancel(request: CancelReservationRequest, again: () => void): Promise<void> {
    const { log } = this.#options;
    const { reservationId: reservation } = request;
    try {
      await this.#ask(request);
      log.info({ reservation }, 'cancelled a reservation that its job no longer needs');
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      if (error instanceof MutiraoError && error.retryable) this.#later(again);
      log.warn({ reservation, err: error }, 'cannot cancel a reservation that its job no longer needs');
    }
  }

  #ask(request: CancelReservationRequest): Promise<unknown> {
    const { cancel } = this.#options;
    return cancel === undefined
      ? callUnary(this.#client, 'cancelReservation', request, { deadlineMs, signal: this.#stopped.signal })
      : cancel(request);
  }

  #later(act: () => void): void {
    const timer = this.#options.timers.start(againAfter, () => {
      this.#timers.delete(timer);
      act();
    });
    this.#timers.add(timer);
  }
}

/** Knows the reservation manager at an address; undefined where there is none. */
export function openOwnReservations({
  reservations: address = '',
  home,
  token,
  log,
}: {
  readonly reservations?: string;
  readonly home: string;
  readonly token: string;
  readonly log: Logger;
}): OwnReservations | undefined {
  return address === ''
    ? undefined
    : new OwnReservations({
        address,
        token: () => token,
        trust: userTrust(home),
        clock: systemClock,
        timers: systemTimers,
        log,
      });
}
