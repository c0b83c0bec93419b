import type { ReservationSpec } from '../../messages/index.ts';
import {
  describeAmount,
  describeRefusal,
  getOffered,
  parseAmount,
  type Dimension,
  type Extent,
  type Refusal as CalendarRefusal,
  type RefusalReason,
  type ReservationRequest,
} from '../../reservations/index.ts';
import {
  describeExactTime,
  describeInstant,
  describeTime,
  findNearestWord,
  type Duration,
  type UserId,
} from '../../shared/index.ts';
import { listFacts } from './apply.ts';
import type { ReservationsState, ResourceEntry } from './state.ts';
import type { Refusal } from './turn.ts';

/**
 * Codes of what a calendar refuses. Those in `negotiable` are answers to a good question: they come with what would be
 * possible.
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

/** What a calendar's refusal is told as. */
export function getRefusal(refusal: CalendarRefusal, dimension: Dimension): Refusal {
  return { code: codes[refusal.reason], message: getSentence(refusal, dimension) };
}

/** A calendar knows milliseconds and base units, people dates, hours and KB/s. */
function getSentence(refusal: CalendarRefusal, dimension: Dimension): string {
  const { reason, found, possible } = refusal;
  switch (reason) {
    case 'start-in-past':
      return (
        `the earliest start is ${describeInstant(found)}, ${describeTime(possible - found)} ago; expected ` +
        `${describeInstant(possible)} or later, or none for now`
      );
    case 'end-before-start':
      return (
        `the latest end is ${describeInstant(found)}; expected one after the earliest start, ` +
        `${describeInstant(possible)}`
      );
    case 'window-too-short':
      return (
        `the duration is ${describeExactTime(found)}; between the earliest start and the latest end are ` +
        `${describeExactTime(possible)}`
      );
    case 'too-long':
      return `the duration is ${describeExactTime(found)}; expected at most ${describeExactTime(possible)}`;
    default:
      return describeRefusal(refusal, (amount) => describeAmount(amount, dimension));
  }
}

/** Finds a resource; of one that is not known the nearest name is told. */
export function findResource({ resources }: ReservationsState, resourceId: string): ResourceEntry | Refusal {
  const entry = resources.get(resourceId);
  if (entry !== undefined) return entry;
  const names = [...resources.keys()];
  if (names.length === 0)
    return { code: 'MUT_UNKNOWN_RESOURCE', message: `there is no resource "${resourceId}"; none is registered` };
  const nearest = findNearestWord(resourceId, names);
  const some =
    nearest === undefined
      ? `expected one of ${names.slice(0, 10).join(', ')}${names.length > 10 ? ', ...' : ''}`
      : `did you mean "${nearest}"?`;
  return { code: 'MUT_UNKNOWN_RESOURCE', message: `there is no resource "${resourceId}"; ${some}` };
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
  const when = timing === 'immediate' ? 'now or not at all' : 'now, or else as early as possible';
  if (earliestStart !== undefined)
    return {
      code: 'MUT_BAD_REQUEST',
      message:
        `the reservation is to begin ${when}, and its earliest start is ${describeInstant(earliestStart)}; expected ` +
        'one of them',
    };
  if (timing === 'on-demand' || latestEnd === undefined) return undefined;
  return {
    code: 'MUT_BAD_REQUEST',
    message:
      `the reservation is to begin ${when}, and its latest end is ${describeInstant(latestEnd)}; expected one of ` +
      'them',
  };
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
    return { code: 'MUT_SHARE_MAX', message: `the share is ${percent} %; expected at most 100 % of ${id}` };
  if (dimension !== 'count' && /^\s*\+?\d+(?:\.\d+)?\s*$/.test(text)) {
    return {
      code: 'MUT_UNKNOWN_UNIT',
      message:
        `${id} is one capacity, and "${text.trim()}" names no unit; expected a share such as 30%, or an amount such ` +
        `as ${describeAmount(Math.ceil(total / 4), dimension)}`,
    };
  }
  const read = parseAmount(text, dimension, total);
  if ('amount' in read) return read.amount;
  const isOfUnit = /^\s*\+?\d+(?:\.\d+)?\s*[A-Za-z/µ]+\s*$/.test(text);
  return { code: isOfUnit ? 'MUT_UNKNOWN_UNIT' : 'MUT_RESERVATION_AMOUNT', message: `${id}: ${read.fault}` };
}

/** The first reason of the manager's own not to take a request of a user: so many reservations are bounded. */
export function findExcess(
  { options, livingCount }: ReservationsState,
  { resource, livingByUser }: ResourceEntry,
  userId: UserId,
): Refusal | undefined {
  if (livingCount >= options.livingMax)
    return {
      code: 'MUT_OVERLOADED',
      message: `${livingCount} reservations are kept; expected fewer than ${options.livingMax}`,
    };
  const { reservationsPerUserMax } = resource.rules;
  const count = livingByUser.get(userId) ?? 0;
  if (reservationsPerUserMax === 0 || count < reservationsPerUserMax) return undefined;
  return {
    code: 'MUT_USER_RESERVED_LIMIT',
    message:
      `${userId} has ${count} reservations of ${resource.id} that are not over; expected fewer than ` +
      `${reservationsPerUserMax}`,
  };
}

/** The most that a reservation of a resource may take. */
export function getOffer({ resource }: ResourceEntry): number {
  return getOffered(listFacts(resource));
}

/** The first reason not to hold a place for so long. */
export function findHoldFault({ options: { holdMax } }: ReservationsState, hold: Duration): Refusal | undefined {
  if (hold <= holdMax) return undefined;
  return {
    code: 'MUT_HOLD_MAX',
    message: `the hold is ${describeExactTime(hold)}; expected at most ${describeExactTime(holdMax)}`,
  };
}
