import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ReaderProofs } from '@mutirao/api/codecs';
import type { Content } from '@mutirao/core/messages';

/**
 * Proofs that two processes read the same home folder, without the secret crossing a wire: HMAC-SHA256 with a key from
 * a file that the owner's account alone can read (`home-keys.ts`), over random texts of both sides. A proof is valid
 * for one challenge of one receiver, so that seeing it helps nobody.
 */

/** A file whose path another process sends. */
export interface ProvenFile {
  readonly content: Content;
  readonly path: string;
  readonly isLinkable: boolean;
}

/** Nothing is proven. */
export const noProofs: ReaderProofs = { challenge: '', homeProofs: [] };

/** A random text that nobody has seen before: 128 bits in base64url. */
export function makeChallenge(): string {
  return randomBytes(16).toString('base64url');
}

/** Proves to the process that sent `challenge` that the process which sends `ownChallenge` has a key. */
export function proveReading(key: string, challenge: string, ownChallenge: string): string {
  return sign(key, ['reads', challenge, ownChallenge]);
}

/** Proves to the process that sent `challenge` that a path comes from a process which has the key. */
export function provePath(key: string, challenge: string, { content, path, isLinkable }: ProvenFile): string {
  return sign(key, [
    'path',
    challenge,
    content.sha256,
    String(content.size),
    isLinkable ? 'linkable' : 'private',
    path,
  ]);
}

/** Proves to an agent's process that a broker has the key of a folder for outputs. */
export function proveDropFolder(key: string, challenge: string, incarnation: string): string {
  return sign(key, ['drop', challenge, incarnation]);
}

/**
 * Marks a home folder for one incarnation of an agent, as long as that runs. Unlike the proofs it answers no challenge,
 * so that no path is sent and no output is left because of it.
 */
export function markHome(key: string, incarnation: string): string {
  return sign(key, ['mark', incarnation]);
}

/** Compares two proofs in constant time. */
export function isSameProof(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Keeps the parts apart whatever they hold. */
function sign(key: string, parts: readonly string[]): string {
  return createHmac('sha256', key)
    .update(JSON.stringify(['mutirao', ...parts]))
    .digest('base64url');
}
