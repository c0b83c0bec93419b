import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MutiraoError } from '@mutirao/api/errors';
import { writeAtomic } from '../files/index.ts';

/** A public key that claims are signed with, as its manager reports it. */
export interface ReportedKey {
  readonly keyId: string;
  readonly publicKeyPem: string;
}

/**
 * The keys of one reservation manager. The first reported keys are kept in a file; later ones are accepted only from a
 * manager that still has one of them.
 */
export class ClaimKeys {
  readonly #path: string;
  #keys = new Map<string, KeyObject>();

  /**
   * @param path of the file, which need not be there. @throws {MutiraoError} MUT_BAD_CONFIG where it holds something
   * else.
   */
  constructor(path: string) {
    this.#path = path;
    const kept = readKept(path);
    for (const { keyId, publicKeyPem } of kept) this.#keys.set(keyId, createPublicKey(publicKeyPem));
  }

  get size(): number {
    return this.#keys.size;
  }

  /** The key of an id; undefined for one that is not known. */
  readonly find = (keyId: string): KeyObject | undefined => this.#keys.get(keyId);

  /**
   * Accepts the keys that a manager reports.
   *
   * @throws {MutiraoError} MUT_CLAIM_FORGED if none of them is known; MUT_BAD_REQUEST for something that is not a key.
   */
  pin(reported: readonly ReportedKey[]): void {
    if (this.#keys.size > 0 && !reported.some(({ keyId }) => this.#keys.has(keyId))) {
      throw new MutiraoError(
        'MUT_CLAIM_FORGED',
        `the manager signs with other keys than it did; if that is meant, remove ${this.#path} and start again`,
      );
    }
    if (reported.every(({ keyId }) => this.#keys.has(keyId))) return;
    this.#keys = new Map(reported.map(({ keyId, publicKeyPem }) => [keyId, readKey(publicKeyPem)]));
    writeAtomic(
      this.#path,
      `${JSON.stringify({ keys: reported.map(({ keyId, publicKeyPem }) => ({ keyId, publicKeyPem })) })}\n`,
    );
  }
}

/** @throws {MutiraoError} MUT_BAD_REQUEST for a key of another kind than claims are signed with. */
function readKey(pem: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (error) {
    throw new MutiraoError('MUT_BAD_REQUEST', 'the reservation manager has a key that cannot be read', {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `the reservation manager has a key of type ${key.asymmetricKeyType ?? 'none'}; expected ed25519`,
    );
  return key;
}

function readKept(path: string): readonly ReportedKey[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return []; // No manager has reported keys yet.
  }
  try {
    return (JSON.parse(text) as { readonly keys: readonly ReportedKey[] }).keys;
  } catch (error) {
    throw new MutiraoError('MUT_BAD_CONFIG', `${path} holds no keys; remove it to fetch the keys of the manager`, {
      cause: error,
    });
  }
}
