import type { SiteReservation } from '@mutirao/core/messages';
import { childText, listElements, type XmlElement } from '../read-xml.ts';
import { parseInstant } from './parse-jobs.ts';

/** A reservation that Grid Engine has granted. */
export interface GrantedReservation {
  readonly number: string;
  readonly reservation: SiteReservation;
}

/**
 * Grid Engine's numbers of the reservations in what `qrstat -xml` wrote whose names are the prefix and a number; those
 * that are being deleted left out.
 */
export function parseSummaries(root: XmlElement, prefix: string): string[] {
  return listElements(root, 'ar_summary')
    .filter((element) => numberIn(element, prefix) !== undefined && !isEnding(element))
    .map((element) => childText(element, 'id'));
}

/**
 * Reads what `qrstat -ar NUMBERS -xml` wrote under `TZ=UTC`.
 *
 * @returns undefined when one that Mutirao made cannot be read: a reservation that we overlook would be made twice.
 */
export function parseReservations(root: XmlElement, prefix: string): GrantedReservation[] | undefined {
  const found: GrantedReservation[] = [];
  for (const element of listElements(root, 'ar_summary')) {
    const reservationId = numberIn(element, prefix);
    if (reservationId === undefined || isEnding(element)) continue;
    const [startsAt, endsAt] = [
      parseInstant(childText(element, 'start_time')),
      parseInstant(childText(element, 'end_time')),
    ];
    const count = listElements(element, 'granted_slots').reduce(
      (sum, { attributes }) => sum + Number(attributes['slots']),
      0,
    );
    if (startsAt === 0 || endsAt === 0 || !Number.isSafeInteger(count)) return undefined;
    found.push({ number: childText(element, 'id'), reservation: { reservationId, count, startsAt, endsAt } });
  }
  return found.sort((one, other) => Number(one.number) - Number(other.number));
}

function numberIn(element: XmlElement, prefix: string): number | undefined {
  const name = childText(element, 'name');
  const number = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  return /^\d{1,15}$/.test(number) && /^\d+$/.test(childText(element, 'id')) ? Number(number) : undefined;
}

function isEnding(element: XmlElement): boolean {
  return /^[dDfF]/.test(childText(element, 'state'));
}
