import { hash, timingSafeEqual } from 'node:crypto';
import type { UserId } from '@mutirao/core/shared';

/** Finds the user of a credential; undefined refuses it. Takes the same time for a right and a wrong one. */
export type TokenCheck = (credential: string) => UserId | undefined;

/** Accepts one token, for one user. */
export function acceptToken(token: string, userId: UserId): TokenCheck {
  const wanted = getDigest(token);
  return (credential) => (timingSafeEqual(getDigest(credential), wanted) ? userId : undefined);
}

/** The token of an `authorization` header; undefined where there is none. */
export function findBearer(header: unknown): string | undefined {
  return typeof header === 'string' ? /^Bearer (.+)$/i.exec(header)?.[1] : undefined;
}

/**
 * Equal digests mean equal texts, and all have the same length, so the comparison does not reveal where two texts
 * differ.
 */
function getDigest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
