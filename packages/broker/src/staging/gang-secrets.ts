import { createHmac, randomBytes } from 'node:crypto';

/**
 * The keys of gangs' channels, 32 bytes each: the same for each request of a gang, and useless for any other gang.
 *
 * One process sends out all members of a gang. Members that it has not sent when it ends run in another gang, so
 * nothing needs to be stored.
 */
export class GangSecrets {
  readonly #key: Buffer = randomBytes(32);

  /** The key of a gang. */
  getSecret(gangId: number): Buffer {
    return createHmac('sha256', this.#key).update(String(gangId)).digest();
  }
}
