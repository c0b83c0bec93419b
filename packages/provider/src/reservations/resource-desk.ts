import { join } from 'node:path';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { systemClock, systemTimers, type Timers } from '@mutirao/runtime/driver';
import { ReservationDesk, type ReservationDeskOptions, type ReservationUse } from '@mutirao/runtime/reservations';

/** Whose reservations a provider follows, of which resource. */
export interface ResourceDeskOptions extends Pick<ReservationDeskOptions, 'address' | 'resourceId' | 'token' | 'trust' | 'connect' | 'sleep' | 'inUse' | 'log' | 'onTold'> {
  /** Holds the manager's keys. */
  readonly directory: string;
  /** Between two tries to learn how large the resource is. */
  readonly interval: Duration;
  /** The system's when left out. */
  readonly timers?: Timers;
  /** Processors of the resource. */
  processors(): Promise<ProcessorCount>;
}

/** Follows what is reserved of a provider's resource, as soon as it is known how large that is: the reservation manager hears it from who follows. */
export class ResourceDesk {
  readonly #options: ResourceDeskOptions;
  readonly #timers: Timers;
  #desk: ReservationDesk | undefined;
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

  async #open(): Promise<void> {
    const { directory, interval, timers: _timers, processors: _processors, ...told } = this.#options;
    const processors = await this.#options.processors().catch(() => undefined);
    if (this.#isStopped) return;
    if (processors === undefined) {
      this.#timer = this.#timers.start(interval, () => { void this.#open(); });
      return;
    }
    this.#desk = new ReservationDesk({ ...told, processors, keysPath: join(directory, 'claim-keys.json'), tellsHolds: false, kind: 'provider', now: () => systemClock.now() });
    this.#desk.start();
  }
}
