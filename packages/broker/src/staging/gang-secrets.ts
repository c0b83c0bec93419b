import { createHmac, randomBytes } from 'node:crypto';

/**
 * The keys of gangs' channels, 32 bytes each: the same for a gang whenever it is asked for, and of no use to anybody
 * who has another one.
 *
 * All members of a gang are sent out by one process, and what of them was not sent when it ends runs in another gang:
 * nothing needs to be kept.
 */
export class GangSecrets {
  readonly #key: Buffer = randomBytes(32);

  /** The key of a gang. */
  getSecret(gangId: number): Buffer {
    return createHmac('sha256', this.#key).update(String(gangId)).digest();
  }
}
