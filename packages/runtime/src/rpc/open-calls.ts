import type { MutiraoError } from '@mutirao/api/errors';
import type { Instant } from '@mutirao/core/shared';
import { toMutiraoError } from './status.ts';
import type { Peer } from './peers.ts';

/** Long calls of those who showed a certificate, which ends may reach while they are open. */
export class OpenCalls {
  readonly #calls = new Map<{ close(error: MutiraoError): void }, Peer>();

  /** Watches over a call until it is forgotten. */
  add(call: { close(error: MutiraoError): void }, peer: Peer | undefined): void {
    if (peer !== undefined) this.#calls.set(call, peer);
  }

  forget(call: { close(error: MutiraoError): void }): void {
    this.#calls.delete(call);
  }

  /** Closes the calls whose certificates are no longer valid. */
  closeStale(now: Instant): void {
    for (const [call, peer] of [...this.#calls]) {
      try {
        peer.requireGood(now);
      } catch (error) {
        this.#calls.delete(call);
        call.close(toMutiraoError(error));
      }
    }
  }
}
