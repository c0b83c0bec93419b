import { join } from 'node:path';
import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { ClaimedReservation } from '@mutirao/core/messages';
import type { Duration, ProcessorCount } from '@mutirao/core/shared';
import { systemClock, systemTimers } from '@mutirao/runtime/driver';
import type { Logger } from '@mutirao/runtime/log';
import { ReservationDesk, type ReservationDeskOptions, type ReservationUse } from '@mutirao/runtime/reservations';
import { asMutiraoError } from '../resource/submitter.ts';

/** Whose reservations a provider holds allocations for. */
export interface HoldingDeskOptions extends Pick<ReservationDeskOptions, 'address' | 'resourceId' | 'token' | 'trust' | 'inUse'> {
  /** Holds the manager's keys. */
  readonly directory: string;
  /** Between two tries to learn how large the resource is. */
  readonly interval: Duration;
  readonly log: Logger;
  /** Processors of the resource. */
  processors(): Promise<ProcessorCount>;
  deliver(input: ProviderInput): void;
}

/** Tells the provider's machine which reservations there are, and which claims are good. */
export class HoldingDesk {
  readonly #options: HoldingDeskOptions;
  #desk: ReservationDesk | undefined;
  #isStopped = false;
  #timer: unknown;

  constructor(options: HoldingDeskOptions) {
    this.#options = options;
  }

  /** Begins to follow the manager, as soon as it is known how many processors there are. */
  start(): void {
    void this.#open();
  }

  /** Ends; what is held stays held. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    systemTimers.cancel(this.#timer);
    await this.#desk?.stop();
  }

  /** Tells the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#desk?.noteUse(use);
  }

  /** Asks whether a claim is good, and tells the machine. Never throws. */
  async judge({ claim, userId }: ClaimedReservation): Promise<void> {
    let code = 'MUT_UNREACHABLE';
    try {
      if (this.#desk !== undefined) {
        await this.#desk.admit(claim, userId);
        code = '';
      }
    } catch (error) {
      code = asMutiraoError(error).code;
    }
    if (!this.#isStopped) this.#options.deliver({ kind: 'ClaimJudged', claim, code });
  }

  async #open(): Promise<void> {
    const { address, resourceId, token, trust, inUse, directory, interval, log, deliver } = this.#options;
    const processors = await this.#options.processors().catch(() => undefined);
    if (this.#isStopped) return;
    if (processors === undefined) {
      this.#timer = systemTimers.start(interval, () => { void this.#open(); });
      return;
    }
    this.#desk = new ReservationDesk({
      address, resourceId, token, ...(trust === undefined ? {} : { trust }), ...(inUse === undefined ? {} : { inUse }), processors, keysPath: join(directory, 'claim-keys.json'), tellsHolds: false, kind: 'provider', log,
      now: () => systemClock.now(), onTold: (windows) => { deliver({ kind: 'WindowsTold', windows }); },
    });
    this.#desk.start();
  }
}
