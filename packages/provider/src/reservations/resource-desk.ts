import { join } from 'node:path';
import type { HeldAhead } from '@mutirao/core/messages';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { systemClock, systemTimers, type Timers } from '@mutirao/runtime/driver';
import { ReservationDesk, type ReservationDeskOptions, type ReservationUse } from '@mutirao/runtime/reservations';

/** Whose reservations a provider follows, of which resource. */
export interface ResourceDeskOptions
  extends Pick<
    ReservationDeskOptions,
    'address' | 'resourceId' | 'token' | 'trust' | 'connect' | 'sleep' | 'inUse' | 'log' | 'onTold'
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
export class ResourceDesk {
  readonly #options: ResourceDeskOptions;
  readonly #timers: Timers;
  #desk: ReservationDesk | undefined;
  /** What is held ahead, by reservation, before it is known how large the resource is. */
  readonly #aheads = new Map<number, HeldAhead>();
  #isStopped = false;
  #timer: unknown;

  constructor(options: ResourceDeskOptions) {
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
    await this.#desk?.stop();
  }

  /** Undefined until it is known how large the resource is. */
  get desk(): ReservationDesk | undefined {
    return this.#desk;
  }

  /** Tells the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#desk?.noteUse(use);
  }

  /** Tells the reservation manager what is held ahead for a reservation. */
  noteAhead(reservationId: number, ahead: HeldAhead): void {
    if (this.#desk === undefined) this.#aheads.set(reservationId, ahead);
    else this.#desk.noteAhead(reservationId, ahead);
  }

  async #open(): Promise<void> {
    const { directory, interval, timers: _timers, processors: _processors, ...told } = this.#options;
    const processors = await this.#options.processors().catch(() => undefined);
    if (this.#isStopped) return;
    if (processors === undefined) {
      this.#timer = this.#timers.start(interval, () => {
        void this.#open();
      });
      return;
    }
    this.#desk = new ReservationDesk({
      ...told,
      processors,
      keysPath: join(directory, 'claim-keys.json'),
      tellsHolds: false,
      kind: 'provider',
      now: () => systemClock.now(),
    });
    this.#desk.start();
    for (const [reservationId, ahead] of this.#aheads) this.#desk.noteAhead(reservationId, ahead);
    this.#aheads.clear();
  }
}
