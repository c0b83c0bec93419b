import type { ProviderInput } from '@mutirao/core/machines/provider';
import type { ClaimedReservation, Provisioning } from '@mutirao/core/messages';
import type { ReservationUse } from '@mutirao/runtime/reservations';
import { asMutiraoError } from '../resource/submitter.ts';
import { LazyReservationClient, type LazyReservationClientOptions } from './lazy-reservation-client.ts';

/** Whose reservations a provider holds allocations for. */
export interface ProvisioningFollowerOptions extends Omit<LazyReservationClientOptions, 'onReported'> {
  deliver(input: ProviderInput): void;
}

/** Reports to the provider's machine which reservations exist, and which claims are good. */
export class ProvisioningFollower {
  readonly #options: ProvisioningFollowerOptions;
  readonly #resource: LazyReservationClient;
  #isStopped = false;

  constructor(options: ProvisioningFollowerOptions) {
    this.#options = options;
    const { deliver, ...followed } = options;
    this.#resource = new LazyReservationClient({
      ...followed,
      onReported: (windows) => {
        deliver({ kind: 'WindowsReported', windows });
      },
    });
  }

  /** Begins to follow the manager, as soon as it is known how many processors there are. */
  start(): void {
    this.#resource.start();
  }

  /** Ends; what is held stays held. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#resource.stop();
  }

  /** Reports to the reservation manager that a reservation is in use. */
  noteUse(use: ReservationUse): void {
    this.#resource.noteUse(use);
  }

  /** Reports the provisioning status of a reservation to the reservation manager. */
  noteProvisioning(reservationId: number, ahead: Provisioning): void {
    this.#resource.noteProvisioning(reservationId, ahead);
  }

  /** Checks a claim and delivers the verdict to the machine. Never throws. */
  async judge({ claim, userId }: ClaimedReservation): Promise<void> {
    let code = 'MUT_UNREACHABLE';
    try {
      const { client } = this.#resource;
      if (client !== undefined) {
        await client.admit(claim, userId);
        code = '';
      }
    } catch (error) {
      code = asMutiraoError(error).code;
    }
    if (!this.#isStopped) this.#options.deliver({ kind: 'ClaimJudged', claim, code });
  }
}
