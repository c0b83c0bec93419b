import type { ClaimContents, ClaimedReservation } from '@mutirao/core/messages';

import { MutiraoError } from '../errors/index.ts';
import { limits } from '../limits.ts';

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

/** A claim in its parts, as base64url text; undefined for a text that is not a claim. */
export function splitClaim(
  text: string,
): { readonly header: string; readonly payload: string; readonly signature: string } | undefined {
  const parts = text.length > lengthMax ? null : /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(text);
  if (parts === null) return undefined;
  const [, header = '', payload = '', signature = ''] = parts;
  return { header, payload, signature };
}

/**
 * Reads what a claim says, whoever signed it: who honours it verifies it. @throws {MutiraoError} MUT_CLAIM_FORGED for a
 * text that no manager wrote.
 */
export function readClaim(claim: string): ClaimedReservation {
  const contents = readClaimPayload(readClaimPart(splitClaim(claim)?.payload ?? ''));
  if (contents === undefined)
    throw new MutiraoError(
      'MUT_CLAIM_FORGED',
      `${JSON.stringify(claim.slice(0, 40))} is not a claim; expected what "mutirao reservation show" prints`,
    );
  const { issuer: _issuer, ...said } = contents;
  return { ...said, claim };
}

/** Reads header or payload of a claim; undefined if it is not an object. */
export function readClaimPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const textNames = ['iss', 'sub', 'aud', 'jti', 'units'] as const;
const numberNames = ['start_unix_ms', 'end_unix_ms', 'amount'] as const;

/** What a payload says; undefined where it is not of this form: another release of the manager may write another. */
export function readClaimPayload(
  payload: Record<string, unknown> | undefined,
): (ClaimContents & { readonly issuer: string }) | undefined {
  if (
    payload === undefined ||
    textNames.some((name) => typeof payload[name] !== 'string') ||
    numberNames.some((name) => typeof payload[name] !== 'number')
  )
    return undefined;
  const reported = payload as unknown as ClaimPayload;
  const { start_unix_ms: startsAt, end_unix_ms: endsAt, amount } = reported;
  const units = readUnits(reported.units);
  if (!isPlace(reported) || units === undefined) return undefined;
  const [, id, revision] = /^(\d{1,15})\.(\d{1,9})$/.exec(reported.jti) ?? [];
  if (id === undefined) return undefined;
  return {
    issuer: reported.iss,
    userId: reported.sub,
    resourceId: reported.aud,
    reservationId: Number(id),
    revision: Number(revision),
    startsAt,
    endsAt,
    amount,
    units,
  };
}

/** Whether a window and an amount can be those of a reservation. */
function isPlace({ start_unix_ms: startsAt, end_unix_ms: endsAt, amount }: ClaimPayload): boolean {
  return (
    [startsAt, endsAt, amount].every(Number.isSafeInteger) &&
    startsAt >= 0 &&
    startsAt < endsAt &&
    endsAt <= limits.instant.max &&
    amount >= 1
  );
}

/** Writes units as `0-3,5`. @param units ascending. */
export function printUnits(units: readonly number[]): string {
  const parts: string[] = [];
  for (let from = 0; from < units.length; ) {
    const first = units[from] ?? 0;
    let to = from;
    while (units[to + 1] === first + to + 1 - from) to += 1;
    parts.push(to === from ? String(first) : `${first}-${first + to - from}`);
    from = to + 1;
  }
  return parts.join(',');
}

/** Reads what `printUnits` wrote; undefined for anything else, and for more units than a reservation has. */
function readUnits(text: string): number[] | undefined {
  const units: number[] = [];
  if (text === '') return units;
  for (const part of text.split(',')) {
    const [, first = '', last = first] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
    if (first === '' || Number(last) - Number(first) >= limits.units.max - units.length) return undefined;
    for (let unit = Number(first); unit <= Number(last); unit++) units.push(unit);
  }
  return units;
}
