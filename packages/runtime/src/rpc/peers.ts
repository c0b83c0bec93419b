import type { PeerCertificate } from 'node:tls';
import { MutiraoError } from '@mutirao/api/errors';
import type { Instant, UserId } from '@mutirao/core/shared';
import { isUserName } from '../identity/index.ts';

/** A certificate that TLS has found to be of the right authority and in its dates. */
export type ShownCertificate = Pick<PeerCertificate, 'subject' | 'serialNumber' | 'valid_to'>;

/** Who calls, as the certificate of the connection says. */
export interface Peer {
  readonly userId: UserId;
  /**
   * Checks that the certificate has neither expired nor been revoked.
   *
   * @throws {MutiraoError} MUT_UNAUTHENTICATED
   */
  requireGood(now: Instant): void;
}

/** Reads who calls. @throws {MutiraoError} MUT_UNAUTHENTICATED */
export function readPeer(shown: ShownCertificate | undefined, revoked: { has(serial: string): boolean }): Peer {
  if (shown === undefined) {
    throw new MutiraoError(
      'MUT_UNAUTHENTICATED',
      'no certificate that is good here: none was shown, or it has expired, or another authority has signed it, ' +
        'or it is none of a user',
    );
  }
  // Several common names come as an array.
  const name: unknown = shown.subject.CN;
  if (typeof name !== 'string' || !isUserName(name))
    throw new MutiraoError('MUT_UNAUTHENTICATED', 'the certificate names no user');
  const validUntil = Date.parse(shown.valid_to);
  const peer: Peer = {
    userId: name,
    requireGood: (now) => {
      if (now > validUntil)
        throw new MutiraoError(
          'MUT_UNAUTHENTICATED',
          `the certificate of ${name} has expired on ${new Date(validUntil).toISOString()}`,
        );
      if (revoked.has(shown.serialNumber))
        throw new MutiraoError(
          'MUT_UNAUTHENTICATED',
          `the certificate ${shown.serialNumber.toLowerCase()} of ${name} is revoked`,
        );
    },
  };
  return peer;
}
