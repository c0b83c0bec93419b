import { describeAmount, listUnitNames, type Dimension } from '@mutirao/core/reservations';
import { describeExactTime } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { span } from './numbers.ts';

const showClaim = 'run "mutirao reservation show" for the current claim';

/** Why a request for a reservation, or about one, is refused. */
export const reservationFaults = {
  'start-in-past': ({ foundUnixMs, nowUnixMs }, { instant }) =>
    `the earliest start is ${instant(foundUnixMs)}, ${span(nowUnixMs - foundUnixMs)} ago; expected ` +
    `${instant(nowUnixMs)} or later, or none for now`,
  'end-before-start': ({ endUnixMs, startUnixMs }, { instant }) =>
    `the latest end is ${instant(endUnixMs)}; expected one after the earliest start, ${instant(startUnixMs)}`,
  'window-too-short': ({ durationMs, windowMs }) =>
    `the duration is ${describeExactTime(durationMs)}, but there are only ${describeExactTime(windowMs)} between the ` +
    'earliest start and the latest end',
  'reservation-too-long': ({ durationMs, durationMsMax }) =>
    `the duration is ${describeExactTime(durationMs)}; expected at most ${describeExactTime(durationMsMax)}`,
  'reservation-amount-invalid': ({ amount, amountMax }) =>
    `the amount is ${amount}; expected a whole number from 1 to ${amountMax}, and the minimum before the maximum`,
  'reservation-duration-invalid': ({ durationMs }) =>
    `the duration is ${durationMs} ms; expected a whole number of milliseconds, 1 or more`,
  'above-resource-capacity': ({ amount, amountMax, dimension }) =>
    `the resource does not have ${describeAmount(amount, dimension)}; at most ` +
    `${describeAmount(amountMax, dimension)} can be reserved`,
  'above-resource-offer': ({ amount, amountMax, dimension }) =>
    `the owner does not offer ${describeAmount(amount, dimension)}; at most ${describeAmount(amountMax, dimension)} ` +
    'can be reserved',
  'above-user-amount': ({ amount, amountMax, dimension }) =>
    `${describeAmount(amount, dimension)} exceeds what one user may reserve; expected at most ` +
    describeAmount(amountMax, dimension),
  'user-amount-taken': ({ amount, amountMax, dimension }) =>
    `the capacity is free, but ${describeAmount(amount, dimension)} more would exceed your limit of ` +
    `${describeAmount(amountMax, dimension)} at one time`,
  'no-capacity-now': () => 'not enough capacity is free now for this duration',
  'no-capacity-in-window': () => 'not enough capacity is free for this duration in the requested window',
  'displaces-too-many': ({ reservations, reservationsMax }) =>
    `${reservations} other reservations would have to move; expected at most ${reservationsMax}`,
  'calendar-reservation-begun': ({ reservationId }) => `reservation ${reservationId} has begun`,

  'amount-unreadable': ({ text, dimension, resourceId }) =>
    `${of(resourceId)}"${text}" is not an amount; ${possible(dimension)}`,
  'amount-above-whole': ({ text, resourceId }) => `${of(resourceId)}the share is ${text}; expected at most 100%`,
  'amount-unit-unknown': ({ unit, dimension, resourceId }) =>
    `${of(resourceId)}"${unit}" is not a unit of ${dimension}; ${possible(dimension)}`,
  'amount-nothing': ({ text, resourceId }) => `${of(resourceId)}"${text}" is nothing; expected more than 0`,
  'amount-too-large': ({ text, amountMax, resourceId }) =>
    `${of(resourceId)}"${text}" is too much; expected ${amountMax} base units at most`,
  'amount-without-unit': ({ text, resourceId, exampleAmount, dimension }) =>
    `${resourceId} is one capacity, and "${text}" names no unit; expected a share such as 30%, or an amount such as ` +
    describeAmount(exampleAmount, dimension),
  'timing-with-start': ({ timing, startUnixMs }, { instant }) =>
    `the reservation begins ${begins[timing]}, but an earliest start is given, ${instant(startUnixMs)}; expected one ` +
    'of them',
  'timing-with-end': ({ timing, endUnixMs }, { instant }) =>
    `the reservation begins ${begins[timing]}, but a latest end is given, ${instant(endUnixMs)}; expected one of them`,
  'hold-too-long': ({ holdMs, holdMsMax }) =>
    `the hold is ${describeExactTime(holdMs)}; expected at most ${describeExactTime(holdMsMax)}`,

  'unknown-resource': ({ resourceId, nearest, resourceIds }) =>
    `there is no resource "${resourceId}"; ${candidates(nearest, resourceIds)}`,
  'unknown-reservation': ({ reservationId }) => `there is no reservation ${reservationId}`,
  'reservation-forgotten': ({ reservationId }) =>
    `reservation ${reservationId} ended long ago and its record has been deleted`,
  'not-your-reservation': ({ reservationId, userId }) =>
    `reservation ${reservationId} belongs to another user; you are ${userId}`,
  'not-your-resource': ({ resourceId, ownerId, userId }) =>
    `resource ${resourceId} belongs to ${ownerId}; you are ${userId}`,
  'not-a-registrar': ({ registrars, userId }) =>
    `resources are registered by ${registrars.join(', ')}; you are ${userId}`,
  'claim-by-others': ({ userId }) =>
    `only its user, or the owner of its resource, can present a claim; you are ${userId}`,
  'provisioning-by-others': ({ resourceId, userId }) =>
    `only the owner of ${resourceId} reports its pre-acquired allocations; you are ${userId}`,
  'use-by-others': ({ resourceId, userId }) =>
    `only the owner of ${resourceId} can start a use by its number; you are ${userId}: present the claim`,

  'manager-full': ({ reservations, reservationsMax }) =>
    `the manager has ${reservations} reservations; expected fewer than ${reservationsMax}`,
  'manager-resources-full': ({ resources, resourcesMax }) =>
    `${resources} resources are registered; expected fewer than ${resourcesMax}`,
  'user-reservations-taken': ({ userId, resourceId, reservations, reservationsMax }) =>
    `${userId} has ${reservations} reservations of ${resourceId} that have not ended; expected fewer than ` +
    `${reservationsMax}`,

  'reservation-over': ({ reservationId, status }) =>
    `reservation ${reservationId} is ${status}; "mutirao explain reservation ${reservationId}" says why`,
  'reservation-over-ask-again': ({ reservationId, status }) =>
    `reservation ${reservationId} is ${status}; request a new one`,
  'reservation-begun': ({ reservationId, begunMs }) =>
    `reservation ${reservationId} began ${span(begunMs)} ago; release it and request another one`,
  'confirmation-too-late': ({ reservationId, begunMs, unclaimedMsMax }) =>
    `reservation ${reservationId} began ${span(begunMs)} ago, and one that is not claimed within ` +
    `${span(unclaimedMsMax)} of its start expires; expected an earlier confirmation`,
  'reservation-not-in-use': ({ reservationId, status }) =>
    `reservation ${reservationId} is ${status} and not in use; cancel it instead`,
  'cancellation-without-reason': ({ reservationId, userId }) =>
    `reservation ${reservationId} belongs to ${userId}; expected a reason to cancel it`,
  'key-of-another-reservation': ({ key, reservationId, resourceId, requestedUnixMs }, { instant }) =>
    `the key ${JSON.stringify(key)} is of reservation ${reservationId} of ${resourceId}, which another request made ` +
    `at ${instant(requestedUnixMs)}`,
  'reservation-of-another-resource': ({ reservationId, resourceId, wantedResourceId }) =>
    `reservation ${reservationId} is of ${resourceId}; request another one of ${wantedResourceId}, and cancel this one`,
  'group-member-confirmed': ({ reservationId, status }) =>
    `reservation ${reservationId} is ${status} already; expected one that is held`,
  'group-member-taken': ({ reservationId }) =>
    `reservation ${reservationId} is in a group already; expected one that is held for itself`,
  'provisioning-above-total': ({ readyAmount, requestedAmount, totalAmount, resourceId }) =>
    `${readyAmount} units ready and ${requestedAmount} requested are more than the ${totalAmount} of ${resourceId}`,

  'claim-forged': () => `the claim is not signed by this manager; ${showClaim}`,
  'claim-forgotten': ({ reservationId, userId }) =>
    `${userId} has no reservation ${reservationId} any more: it ended long ago and its record has been deleted`,
  'claim-of-another-user': ({ userId, shownBy }) => `the claim belongs to ${userId}; ${shownBy} presented it`,
  'claim-for-another-resource': ({ resourceId, shownAt }) =>
    `the claim is for ${resourceId}; it was presented at ${shownAt}`,
  'claim-unconfirmed': ({ reservationId }) => `reservation ${reservationId} is only held; confirm it first`,
  'claim-used': ({ reservationId, claimedMs }) =>
    `reservation ${reservationId} was claimed ${span(claimedMs)} ago; a claim starts its use once`,
  'claim-early': ({ reservationId, untilStartMs }) => `reservation ${reservationId} begins in ${span(untilStartMs)}`,
  'claim-late': ({ reservationId, endedMs }) => `reservation ${reservationId} ended ${span(endedMs)} ago`,
  'claim-of-old-revision': ({ reservationId, claimRevision, revision }) =>
    `reservation ${reservationId} has changed since the claim was signed (revision ${claimRevision}; now ` +
    `${revision}); ${showClaim}`,
  'claim-start-differs': ({ reservationId, claimUnixMs, reservationUnixMs }, { instant }) =>
    `the claim for reservation ${reservationId} begins ${instant(claimUnixMs)}, and the reservation ` +
    `${instant(reservationUnixMs)}; ${showClaim}`,
  'claim-end-differs': ({ reservationId, claimUnixMs, reservationUnixMs }, { instant }) =>
    `the claim for reservation ${reservationId} ends ${instant(claimUnixMs)}, and the reservation ` +
    `${instant(reservationUnixMs)}; ${showClaim}`,
  'claim-amount-differs': ({ reservationId, claimAmount, reservationAmount }) =>
    `the claim for reservation ${reservationId} is of ${claimAmount}, and the reservation of ${reservationAmount}; ` +
    showClaim,
  'claim-resource-differs': ({ reservationId, claimResourceId, resourceId }) =>
    `the claim for reservation ${reservationId} is for ${claimResourceId}, and the reservation for ${resourceId}; ` +
    showClaim,
  'claim-units-differ': ({ reservationId }) =>
    `the claim for reservation ${reservationId} names other units than the reservation has; ${showClaim}`,
  'use-at-another-resource': ({ reservationId, resourceId, usedAt }) =>
    `reservation ${reservationId} is of ${resourceId}; it was used at ${usedAt}`,
  'use-by-another-user': ({ reservationId, userId, usedBy }) =>
    `reservation ${reservationId} belongs to ${userId}; ${usedBy} used it`,

  'resource-quantity-unreadable': ({ quantity }) =>
    `the quantity is ${JSON.stringify(quantity)}; expected units as in 16, or a capacity as in 800KB/s, 2TB or 3GHz`,
  'resource-known-otherwise': ({ resourceId, totalAmount, dimension }) =>
    `resource ${resourceId} has ${totalAmount} ${dimension}; expected another name for another resource`,
  'resource-capacity-invalid': ({ capacity }) => `the capacity is ${capacity}; expected a whole number, 1 or more`,
  'resource-units-too-many': ({ units, unitsMax }) => `there are ${units} units; expected at most ${unitsMax}`,
  'resource-offer-invalid': ({ offeredPpm, ppmMax }) =>
    `the offered share is ${offeredPpm} ppm; expected a whole number in 1..${ppmMax}`,
  'resource-duration-max-invalid': ({ durationMsMax }) =>
    `the longest duration is ${durationMsMax} ms; expected more than 0`,
  'resource-user-amount-max-invalid': ({ amountMax }) => `the limit for one user is ${amountMax}; expected more than 0`,
  'resource-moves-max-invalid': ({ movesMax }) =>
    `the limit of moved reservations is ${movesMax}; expected a whole number, 0 or more`,
  'maintenance-ends-too-early': ({ endUnixMs, startUnixMs, nowUnixMs }, { instant }) =>
    `the window ends at ${instant(endUnixMs)}; expected an end after its start, ${instant(startUnixMs)}, and after ` +
    `now, ${instant(nowUnixMs)}`,
  'maintenance-above-total': ({ amount, resourceId, totalAmount }) =>
    `the amount is ${amount}; ${resourceId} has ${totalAmount}`,
  'maintenance-known-otherwise': ({ name, startUnixMs, endUnixMs, amount }, { instant }) =>
    `the maintenance ${JSON.stringify(name)} is from ${instant(startUnixMs)} until ${instant(endUnixMs)}, of ` +
    `${amount}; withdraw it first, or use another name`,
  'failure-above-rest': ({ amount, resourceId, totalAmount, workingAmount }) =>
    `${amount} cannot fail: of ${totalAmount} of ${resourceId}, ${workingAmount} still work`,
  'failed-amount-invalid': ({ amount }) => `the amount is ${amount}; expected 1 or more`,
  'resource-without-units': ({ resourceId, unit }) =>
    `${resourceId} is one capacity and has no unit ${unit}; expected an amount`,
  'resource-unit-unknown': ({ resourceId, unit, unitMax }) =>
    `${resourceId} has no unit ${unit}; expected one of 0 to ${unitMax}`,
} satisfies Partial<Catalogue>;

const begins = { immediate: 'now or not at all', 'on-demand': 'now or as early as possible' } as const;

function of(resourceId: string | undefined): string {
  return resourceId === undefined ? '' : `${resourceId}: `;
}

function possible(dimension: Dimension): string {
  return dimension === 'count'
    ? 'expected a share such as 30%, or a whole number'
    : `expected a share such as 30%, or a number with one of ${listUnitNames(dimension).join(', ')}`;
}

const namesMax = 10;

function candidates(nearest: string | undefined, names: readonly string[]): string {
  if (nearest !== undefined) return `did you mean "${nearest}"?`;
  if (names.length === 0) return 'none is registered';
  return `expected one of ${names.slice(0, namesMax).join(', ')}${names.length > namesMax ? ', ...' : ''}`;
}
