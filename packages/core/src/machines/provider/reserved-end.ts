import type { OwnRequest } from './state.ts';

/**
 * Codes after which a reservation can never be used again; after any other, a request inside it is made again after a
 * pause.
 */
export const overCodes: ReadonlySet<string> = new Set([
  'MUT_CLAIM_ELSEWHERE',
  'MUT_CLAIM_FORGED',
  'MUT_CLAIM_LATE',
  'MUT_CLAIM_NOT_YOURS',
  'MUT_CLAIM_SUPERSEDED',
  'MUT_NOT_FOUND',
  'MUT_NOT_OWNER',
  'MUT_RESERVATION_EXCEEDED',
  'MUT_RESERVATION_OVER',
  'MUT_RESERVATION_UNSUPPORTED',
]);

/** What a manager's code means for the reservation of a request. */
export function getOverCode({ reservation, width }: OwnRequest, code: string): { readonly overCode?: string } {
  // It is smaller than it was when this was asked for: a narrower request has room.
  const isOnlyTooWide = code === 'MUT_RESERVATION_EXCEEDED' && reservation !== undefined && reservation.amount < width;
  return reservation !== undefined && overCodes.has(code) && !isOnlyTooWide ? { overCode: code } : {};
}
