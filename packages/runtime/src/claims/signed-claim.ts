import { verify, type KeyObject } from 'node:crypto';
import { readClaimPart, readClaimPayload, splitClaim } from '@mutirao/api/codecs';
import type { ClaimContents } from '@mutirao/core/messages';

/** A claim whose signature is good. */
export interface SignedClaim extends ClaimContents {
  /** The reservation manager that promised it. */
  readonly issuer: string;
}

/**
 * Reads a claim; undefined if it is malformed, or not signed with any of the keys. Does not look at dates.
 *
 * @param findKey the public key of an id; undefined for an unknown one.
 */
export function verifyClaim(text: string, findKey: (keyId: string) => KeyObject | undefined): SignedClaim | undefined {
  const parts = splitClaim(text);
  if (parts === undefined) return undefined;
  const { header, payload, signature } = parts;
  const key = findSigner(readClaimPart(header), findKey);
  const signatureBytes = Buffer.from(signature, 'base64url');
  // The last letter has bits that belong to no byte: a claim with another one there would be a second text of the same
  // claim.
  if (key === undefined || signatureBytes.toString('base64url') !== signature) return undefined;
  if (!verify(null, Buffer.from(`${header}.${payload}`), key, signatureBytes)) return undefined;
  return readClaimPayload(readClaimPart(payload));
}

function findSigner(
  header: Record<string, unknown> | undefined,
  findKey: (keyId: string) => KeyObject | undefined,
): KeyObject | undefined {
  if (header?.['alg'] !== 'EdDSA' || typeof header['kid'] !== 'string') return undefined;
  return findKey(header['kid']);
}
