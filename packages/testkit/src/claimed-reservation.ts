import type { ClaimPayload } from '@mutirao/api/codecs';
import type { ClaimedReservation } from '@mutirao/core/messages';

/**
 * A reservation as dialogues write it: `7:1000-5000x2` is number 7, from 1000 to 5000, of two processors of resource
 * `cl` for ann; its text stands for the signature.
 */
export function aReservation(text: string, parts: Partial<ClaimedReservation> = {}): ClaimedReservation {
  const [, id = '', from = '', until = '', amount = ''] = /^(\d+):(\d+)-(\d+)x(\d+)/.exec(text) ?? [];
  const units = Array.from({ length: Number(amount) }, (_none, unit) => unit);
  return {
    claim: `claim.of.${text}`,
    reservationId: Number(id),
    revision: 1,
    resourceId: 'cl',
    userId: 'ann',
    startsAt: Number(from),
    endsAt: Number(until),
    amount: Number(amount),
    units,
    ...parts,
  };
}

/** A claim's text for what it says, signed by nobody. */
export function aClaim(parts: Partial<ClaimPayload> = {}): string {
  const payload: ClaimPayload = {
    iss: 'local',
    sub: 'ana',
    aud: 'alpha',
    nbf: 1,
    exp: 5,
    jti: '7.1',
    start_unix_ms: 1000,
    end_unix_ms: 5000,
    amount: 2,
    units: '0-1',
    ...parts,
  };
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return `${encode({ alg: 'EdDSA' })}.${encode(payload)}.c2lnbmF0dXJl`;
}
