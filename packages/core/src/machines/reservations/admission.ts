import type { ReservationSpec } from '../../messages/index.ts';
import type { Fault, Refusal } from '../../reasons/index.ts';
import {
  getOffered,
  parseAmount,
  type Dimension,
  type Extent,
  type Refusal as CalendarRefusal,
  type RefusalReason,
  type ReservationRequest,
} from '../../reservations/index.ts';
import { findNearestWord, type Duration, type UserId } from '../../shared/index.ts';
import { listFacts } from './apply.ts';
import type { ReservationsState, ResourceEntry } from './state.ts';

/**
 * Codes of a calendar's refusals. Those in `negotiable` are answers to a good question: they come with alternatives.
 */
const codes: Readonly<Record<RefusalReason, string>> = {
  'bad-amount': 'MUT_RESERVATION_AMOUNT',
  'bad-duration': 'MUT_RESERVATION_DURATION',
  'start-in-past': 'MUT_START_IN_PAST',
  'end-before-start': 'MUT_END_BEFORE_START',
  'window-too-short': 'MUT_WINDOW_TOO_SHORT',
  'above-capacity': 'MUT_OVER_CAPACITY',
  'above-cap': 'MUT_OVER_OFFER',
  'above-user-bound': 'MUT_USER_RESERVED_LIMIT',
  'too-long': 'MUT_RESERVATION_TOO_LONG',
  'not-now': 'MUT_NO_CAPACITY_NOW',
  'no-room': 'MUT_NO_ROOM',
  'user-bound': 'MUT_USER_RESERVED_LIMIT',
  'too-many-moves': 'MUT_TOO_MANY_MOVES',
  'unknown-reservation': 'MUT_NOT_FOUND',
  'already-begun': 'MUT_RESERVATION_BEGUN',
};

const negotiable: ReadonlySet<RefusalReason> = new Set<RefusalReason>([
  'above-user-bound',
  'user-bound',
  'not-now',
  'no-room',
  'too-many-moves',
]);

/** Whether a refusal is an answer in a negotiation, and not a fault of the request. */
export function isNegotiable({ reason }: CalendarRefusal): boolean {
  return negotiable.has(reason);
}

/** Maps a calendar's refusal to an error code and its fault. */
export function getRefusal(refusal: CalendarRefusal, dimension: Dimension): Refusal {
  return { code: codes[refusal.reason], fault: getFault(refusal, dimension) };
}

function getFault({ reason, found, possible }: CalendarRefusal, dimension: Dimension): Fault {
  switch (reason) {
    case 'bad-amount':
      return { code: 'reservation-amount-invalid', amount: found, amountMax: possible };
    case 'bad-duration':
      return { code: 'reservation-duration-invalid', durationMs: found };
    case 'start-in-past':
      return { code: 'start-in-past', foundUnixMs: found, nowUnixMs: possible };
    case 'end-before-start':
      return { code: 'end-before-start', endUnixMs: found, startUnixMs: possible };
    case 'window-too-short':
      return { code: 'window-too-short', durationMs: found, windowMs: possible };
    case 'too-long':
      return { code: 'reservation-too-long', durationMs: found, durationMsMax: possible };
    case 'above-capacity':
    case 'above-cap':
    case 'above-user-bound':
    case 'user-bound':
      return { code: amountFaults[reason], amount: found, amountMax: possible, dimension };
    case 'not-now':
      return { code: 'no-capacity-now' };
    case 'no-room':
      return { code: 'no-capacity-in-window' };
    case 'too-many-moves':
      return { code: 'displaces-too-many', reservations: found, reservationsMax: possible };
    case 'unknown-reservation':
      return { code: 'unknown-reservation', reservationId: found };
    case 'already-begun':
      return { code: 'calendar-reservation-begun', reservationId: found };
  }
}

const amountFaults = {
  'above-capacity': 'above-resource-capacity',
  'above-cap': 'above-resource-offer',
  'above-user-bound': 'above-user-amount',
  'user-bound': 'user-amount-taken',
} as const;

/** Names that a refusal lists; one more than are shown. */
const namesMax = 11;

/** Finds a resource; the refusal of an unknown id names the nearest one. */
export function findResource({ resources }: ReservationsState, resourceId: string): ResourceEntry | Refusal {
  const entry = resources.get(resourceId);
  if (entry !== undefined) return entry;
  const names = [...resources.keys()];
  const nearest = findNearestWord(resourceId, names);
  return {
    code: 'MUT_UNKNOWN_RESOURCE',
    fault: {
      code: 'unknown-resource',
      resourceId,
      ...(nearest === undefined ? {} : { nearest }),
      resourceIds: names.slice(0, namesMax),
    },
  };
}

/** Whether something was refused. */
export function isRefusal(found: object): found is Refusal {
  return 'code' in found;
}

/** Makes of a spec what a calendar is asked. */
export function findRequest(
  entry: ResourceEntry,
  spec: ReservationSpec,
  { id, userId, isHold }: { readonly id: number; readonly userId: UserId; readonly isHold: boolean },
): ReservationRequest | Refusal {
  const extent = getExtent(entry, spec);
  if (isRefusal(extent)) return extent;
  const { timing, latestEnd, earliestStart } = spec;
  return findTimingFault(spec) ?? { id, userId, extent, timing, earliestStart, latestEnd, isHold };
}

/** What begins now, or now if it can, has no other earliest start; and now or not at all has no latest end. */
function findTimingFault({ timing, earliestStart, latestEnd }: ReservationSpec): Refusal | undefined {
  if (timing === 'advance') return undefined;
  if (earliestStart !== undefined)
    return {
      code: 'MUT_BAD_REQUEST',
      fault: { code: 'timing-with-start', timing, startUnixMs: earliestStart },
    };
  if (timing === 'on-demand' || latestEnd === undefined) return undefined;
  return { code: 'MUT_BAD_REQUEST', fault: { code: 'timing-with-end', timing, endUnixMs: latestEnd } };
}

function getExtent({ resource }: ResourceEntry, { amount, duration }: ReservationSpec): Extent | Refusal {
  switch (amount.kind) {
    case 'text': {
      const read = readAmount(amount.text, resource);
      return typeof read === 'number' ? { kind: 'rigid', amount: read, duration } : read;
    }
    case 'elastic': {
      const { amountMin, amountMax, referenceAmount } = amount;
      return {
        kind: 'elastic',
        amountMin,
        amountMax,
        referenceAmount: referenceAmount === 0 ? amountMax : referenceAmount,
        referenceDuration: duration,
      };
    }
    case 'malleable':
      return { kind: 'malleable', work: amount.work, amountMin: amount.amountMin, amountMax: amount.amountMax };
  }
}

/** Reads an amount in a resource's own unit. */
export function readAmount(text: string, { id, dimension, total }: ResourceEntry['resource']): number | Refusal {
  const percent = /^\s*(-?\d+(?:\.\d+)?)\s*%\s*$/.exec(text)?.[1];
  if (percent !== undefined && Number(percent) > 100)
    return { code: 'MUT_SHARE_MAX', fault: { code: 'amount-above-whole', text: `${percent}%`, resourceId: id } };
  if (dimension !== 'count' && /^\s*\+?\d+(?:\.\d+)?\s*$/.test(text)) {
    return {
      code: 'MUT_UNKNOWN_UNIT',
      fault: {
        code: 'amount-without-unit',
        text: text.trim(),
        resourceId: id,
        exampleAmount: Math.ceil(total / 4),
        dimension,
      },
    };
  }
  const read = parseAmount(text, dimension, total);
  if ('amount' in read) return read.amount;
  const isOfUnit = /^\s*\+?\d+(?:\.\d+)?\s*[A-Za-z/µ]+\s*$/.test(text);
  return { code: isOfUnit ? 'MUT_UNKNOWN_UNIT' : 'MUT_RESERVATION_AMOUNT', fault: { ...read.fault, resourceId: id } };
}

/** The first reason of the manager's own to refuse a user's request: the number of reservations is limited. */
export function findExcess(
  { options, livingCount }: ReservationsState,
  { resource, livingByUser }: ResourceEntry,
  userId: UserId,
): Refusal | undefined {
  if (livingCount >= options.livingMax)
    return {
      code: 'MUT_OVERLOADED',
      fault: { code: 'manager-full', reservations: livingCount, reservationsMax: options.livingMax },
    };
  const { reservationsPerUserMax } = resource.rules;
  const count = livingByUser.get(userId) ?? 0;
  if (reservationsPerUserMax === 0 || count < reservationsPerUserMax) return undefined;
  return {
    code: 'MUT_USER_RESERVED_LIMIT',
    fault: {
      code: 'user-reservations-taken',
      userId,
      resourceId: resource.id,
      reservations: count,
      reservationsMax: reservationsPerUserMax,
    },
  };
}

/** The most that a reservation of a resource may take. */
export function getOffer({ resource }: ResourceEntry): number {
  return getOffered(listFacts(resource));
}

/** The first reason not to hold a place for this time. */
export function findHoldFault({ options: { holdMax } }: ReservationsState, hold: Duration): Refusal | undefined {
  if (hold <= holdMax) return undefined;
  return {
    code: 'MUT_HOLD_MAX',
    fault: { code: 'hold-too-long', holdMs: hold, holdMsMax: holdMax },
  };
}
