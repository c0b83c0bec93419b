import { join } from 'node:path';
import type { Provisioning } from '@mutirao/core/messages';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { systemClock, systemTimers, type Timers } from '@mutirao/runtime/driver';
import { ReservationClient, type ReservationClientOptions, type ReservationUse } from '@mutirao/runtime/reservations';

/** Whose reservations a provider follows, of which resource. */
export interface LazyReservationClientOptions
  extends Pick<
    ReservationClientOptions,
    'address' | 'resourceId' | 'token' | 'trust' | 'connect' | 'sleep' | 'inUse' | 'log' | 'onReported'
  > {
  /** Holds the manager's keys. */
  readonly directory: string;
  /** Between two tries to learn how large the resource is. */
  readonly interval: Duration;
  /** The system's when left out. */
  readonly timers?: Timers;
  /** Processors of the resource. */
  processors(): Promise<ProcessorCount>;
}

/**
 * Follows the reservations of a provider's resource once the size of the resource is known, since a follower reports
 * that size to the reservation manager.
 */
export class LazyReservationClient {
  readonly #options: LazyReservationClientOptions;
  readonly #timers: Timers;
  #client: ReservationClient | undefined;
  /** Provisioning status, by reservation, from before the size of the resource is known. */
  readonly #aheads = new Map<number, Provisioning>();
  #isStopped = false;
  #timer: unknown;

  constructor(options: LazyReservationClientOptions) {
    this.#options = options;
    this.#timers = options.timers ?? systemTimers;
  }

  /** Begins to follow, and goes on until `stop`. */
  start(): void {
    void this.#open();
  }

  /** Stops following; resolves when nothing arrives any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timers.cancel(this.#timer);
    await this.#client?.stop();
  }

  /** Undefined until it is known how large the resource is. */
  get client(): ReservationClient | undefined {
    return this.#client;
  }

  /** Reports to the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#client?.noteUse(use);
  }

  /** Reports the provisioning status of a reservation to the reservation manager. */
  noteProvisioning(reservationId: number, ahead: Provisioning): void {
    if (this.#client === undefined) this.#aheads.set(reservationId, ahead);
    else this.#client.noteProvisioning(reservationId, ahead);
  }

  async #open(): Promise<void> {
    const { directory, interval, timers: _timers, processors: _processors, ...reported } = this.#options;
    const processors = await this.#options.processors().catch(() => undefined);
    if (this.#isStopped) return;
    if (processors === undefined) {
      this.#timer = this.#timers.start(interval, () => {
        void this.#open();
      });
      return;
    }
    this.#client = new ReservationClient({
      ...reported,
      processors,
      keysPath: join(directory, 'claim-keys.json'),
      reportsHolds: false,
      kind: 'provider',
      now: () => systemClock.now(),
    });
    this.#client.start();
    for (const [reservationId, ahead] of this.#aheads) this.#client.noteProvisioning(reservationId, ahead);
    this.#aheads.clear();
  }
}
