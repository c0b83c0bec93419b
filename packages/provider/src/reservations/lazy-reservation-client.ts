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
 * Follows what is reserved of a provider's resource, as soon as it is known how large that is: the reservation manager
 * hears it from who follows.
 */
export class LazyReservationClient {
  readonly #options: LazyReservationClientOptions;
  readonly #timers: Timers;
  #client: ReservationClient | undefined;
  /** What is held ahead, by reservation, before it is known how large the resource is. */
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

  /** Resolves when nothing is heard any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timers.cancel(this.#timer);
    await this.#client?.stop();
  }

  /** Undefined until it is known how large the resource is. */
  get client(): ReservationClient | undefined {
    return this.#client;
  }

  /** Tells the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#client?.noteUse(use);
  }

  /** Tells the reservation manager what is held ahead for a reservation. */
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
