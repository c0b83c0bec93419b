import { verify, type KeyObject } from 'node:crypto';
import type { ClaimContents } from '@mutirao/core/messages';

/** A claim whose signature is good. */
export interface SignedClaim extends ClaimContents {
  /** The reservation manager that promised it. */
  readonly issuer: string;
}

/** The payload on the wire: the registered names of a JSON web token, and ours. */
export interface ClaimPayload {
  readonly iss: string;
  /** The user. */
  readonly sub: string;
  /** The resource. */
  readonly aud: string;
  /** Unix seconds from which and until which it may be used, on the safe side. */
  readonly nbf: number;
  readonly exp: number;
  /** Reservation and revision. */
  readonly jti: string;
  readonly start_unix_ms: number;
  readonly end_unix_ms: number;
  readonly amount: number;
  /** `0-3,5`; empty for a capacity. */
  readonly units: string;
}

/** Longest claim that is looked at. */
const lengthMax = 65_536;

/**
 * Reads a claim; undefined when it is none, or not signed with any of the keys. Does not look at dates.
 *
 * @param findKey the public key of an id; undefined for one that is not known.
 */
export function verifyClaim(text: string, findKey: (keyId: string) => KeyObject | undefined): SignedClaim | undefined {
  const parts = text.length > lengthMax ? null : /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text);
  if (parts === null) return undefined;
  const [, header = '', payload = '', signature = ''] = parts;
  const key = findSigner(readPart(header), findKey);
  if (key === undefined || !verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) return undefined;
  return readPayload(readPart(payload));
}

function findSigner(header: Record<string, unknown> | undefined, findKey: (keyId: string) => KeyObject | undefined): KeyObject | undefined {
  if (header?.['alg'] !== 'EdDSA' || typeof header['kid'] !== 'string') return undefined;
  return findKey(header['kid']);
}

function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}

const textNames = ['iss', 'sub', 'aud', 'jti', 'units'] as const;
const numberNames = ['start_unix_ms', 'end_unix_ms', 'amount'] as const;

/** What is signed was written by a manager whose key we hold; another release of it may write another form. */
function readPayload(payload: Record<string, unknown> | undefined): SignedClaim | undefined {
  if (payload === undefined || textNames.some((name) => typeof payload[name] !== 'string') || numberNames.some((name) => typeof payload[name] !== 'number')) return undefined;
  const told = payload as unknown as ClaimPayload;
  const [, id, revision] = /^(\d{1,15})\.(\d{1,9})$/.exec(told.jti) ?? [];
  if (id === undefined) return undefined;
  return {
    issuer: told.iss, userId: told.sub, resourceId: told.aud, reservationId: Number(id), revision: Number(revision), startsAt: told.start_unix_ms, endsAt: told.end_unix_ms,
    amount: told.amount, units: readUnits(told.units),
  };
}

/** Writes units as `0-3,5`. @param units ascending. */
export function printUnits(units: readonly number[]): string {
  const parts: string[] = [];
  for (let from = 0; from < units.length;) {
    const first = units[from] ?? 0;
    let to = from;
    while (units[to + 1] === first + to + 1 - from) to += 1;
    parts.push(to === from ? String(first) : `${first}-${first + to - from}`);
    from = to + 1;
  }
  return parts.join(',');
}

/** Reads what `printUnits` wrote. */
function readUnits(text: string): number[] {
  if (text === '') return [];
  return text.split(',').flatMap((part) => {
    const [first = 0, last = first] = part.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_none, index) => first + index);
  });
}
