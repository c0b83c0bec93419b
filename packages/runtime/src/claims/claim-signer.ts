import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { printUnits, type ClaimPayload } from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { ClaimContents } from '@mutirao/core/messages';
import { makePrivateFile } from '../files/index.ts';
import { verifyClaim, type SignedClaim } from './signed-claim.ts';

/** Signs claims with a key of its own. */
export interface ClaimSigner {
  readonly issuer: string;
  /** The kid of its claims: the beginning of the public key's SHA-256, in hexadecimal. */
  readonly keyId: string;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Buffer;
  readonly publicKeyPem: string;
  /** The claim as text; the same contents give the same text. */
  sign(contents: ClaimContents): string;
  /** The same text, signed on another thread: a signature takes a sixth of a request's processor time. */
  signAside(contents: ClaimContents): Promise<string>;
  /** Reads one of its own; undefined for any other text. */
  verify(text: string): SignedClaim | undefined;
}

/**
 * Opens the key file and creates it with a new key if it is absent.
 *
 * @param issuer name of the reservation manager, which its claims carry.
 * @throws {MutiraoError} MUT_TOKEN_UNSAFE when others may read the file, or it holds no Ed25519 key.
 */
export function openClaimSigner(path: string, issuer: string): ClaimSigner {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) makePrivateFile(path, makeKey());
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) !== 0)
    throw new MutiraoError('MUT_TOKEN_UNSAFE', `${path} has mode ${mode.toString(8)}; expected 600`);
  const key = readKey(path);
  const publicKey = createPublicKey(key);
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const keyId = createHash('sha256').update(raw).digest('hex').slice(0, 16);
  const header = encodePart({ alg: 'EdDSA', typ: 'mutirao-claim+jwt', kid: keyId });
  const signedPart = (contents: ClaimContents): string => `${header}.${encodePart(getPayload(issuer, contents))}`;
  return {
    issuer,
    keyId,
    publicKey: raw,
    publicKeyPem: publicKey.export({ format: 'pem', type: 'spki' }).toString(),
    sign: (contents) => {
      const signed = signedPart(contents);
      return joinParts(signed, sign(null, Buffer.from(signed), key));
    },
    signAside: (contents) =>
      new Promise((resolve, reject) => {
        const signed = signedPart(contents);
        sign(null, Buffer.from(signed), key, (error, signature) => {
          if (error === null) resolve(joinParts(signed, signature));
          else reject(error);
        });
      }),
    verify: (text) => verifyClaim(text, (wanted) => (wanted === keyId ? publicKey : undefined)),
  };
}

/** A new Ed25519 key as PEM. */
function makeKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function readKey(path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new MutiraoError('MUT_TOKEN_UNSAFE', `${path} holds no private key; expected an Ed25519 key as PEM`, {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new MutiraoError(
      'MUT_TOKEN_UNSAFE',
      `${path} holds a key of type ${String(key.asymmetricKeyType)}; expected ed25519`,
    );
  return key;
}

/** Without the moment of its making, so that a claim can be made again, byte for byte. */
function getPayload(
  issuer: string,
  { userId, resourceId, startsAt, endsAt, reservationId, revision, amount, units }: ClaimContents,
): ClaimPayload {
  return {
    iss: issuer,
    sub: userId,
    aud: resourceId,
    nbf: Math.ceil(startsAt / 1000),
    exp: Math.ceil(endsAt / 1000),
    jti: `${reservationId}.${revision}`,
    start_unix_ms: startsAt,
    end_unix_ms: endsAt,
    amount,
    units: printUnits(units),
  };
}

function joinParts(signed: string, signature: Buffer): string {
  return `${signed}.${signature.toString('base64url')}`;
}

function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
