import type { ReasonTable } from './parameters.ts';

const dimension = ['count', 'bytes', 'bytes-per-second', 'hertz'] as const;
const status = ['held', 'confirmed', 'claimed', 'released', 'expired', 'cancelled'] as const;

/** Why a request for a reservation, or about one, is refused. Amounts are in base units of their dimension. */
export const reservationFaults = {
  // What a calendar refuses.
  'start-in-past': { foundUnixMs: 'number', nowUnixMs: 'number' },
  'end-before-start': { endUnixMs: 'number', startUnixMs: 'number' },
  'window-too-short': { durationMs: 'number', windowMs: 'number' },
  'reservation-too-long': { durationMs: 'number', durationMsMax: 'number' },
  'reservation-amount-invalid': { amount: 'number', amountMax: 'number' },
  'reservation-duration-invalid': { durationMs: 'number' },
  'above-resource-capacity': { amount: 'number', amountMax: 'number', dimension },
  'above-resource-offer': { amount: 'number', amountMax: 'number', dimension },
  'above-user-amount': { amount: 'number', amountMax: 'number', dimension },
  'user-amount-taken': { amount: 'number', amountMax: 'number', dimension },
  'no-capacity-now': {},
  'no-capacity-in-window': {},
  'displaces-too-many': { reservations: 'number', reservationsMax: 'number' },
  'calendar-reservation-begun': { reservationId: 'number' },

  // Amounts and times that cannot be read, or that contradict each other.
  'amount-unreadable': { text: 'text', dimension, resourceId: 'text?' },
  'amount-above-whole': { text: 'text', resourceId: 'text?' },
  'amount-unit-unknown': { unit: 'text', dimension, resourceId: 'text?' },
  'amount-nothing': { text: 'text', resourceId: 'text?' },
  'amount-too-large': { text: 'text', amountMax: 'number', resourceId: 'text?' },
  'amount-without-unit': { text: 'text', resourceId: 'text', exampleAmount: 'number', dimension },
  'timing-with-start': { timing: ['immediate', 'on-demand'], startUnixMs: 'number' },
  'timing-with-end': { timing: ['immediate'], endUnixMs: 'number' },
  'hold-too-long': { holdMs: 'number', holdMsMax: 'number' },

  // What is not there, or is another user's.
  'unknown-resource': { resourceId: 'text', nearest: 'text?', resourceIds: 'texts' },
  'unknown-reservation': { reservationId: 'number' },
  'reservation-forgotten': { reservationId: 'number' },
  'not-your-reservation': { reservationId: 'number', userId: 'text' },
  'not-your-resource': { resourceId: 'text', ownerId: 'text', userId: 'text' },
  'not-a-registrar': { registrars: 'texts', userId: 'text' },
  'claim-by-others': { userId: 'text' },
  'provisioning-by-others': { resourceId: 'text', userId: 'text' },
  'use-by-others': { resourceId: 'text', userId: 'text' },

  // Limits of the manager.
  'manager-full': { reservations: 'number', reservationsMax: 'number' },
  'manager-resources-full': { resources: 'number', resourcesMax: 'number' },
  'user-reservations-taken': {
    userId: 'text',
    resourceId: 'text',
    reservations: 'number',
    reservationsMax: 'number',
  },

  // What the status of a reservation does not allow.
  'reservation-over': { reservationId: 'number', status },
  'reservation-over-ask-again': { reservationId: 'number', status },
  'reservation-begun': { reservationId: 'number', begunMs: 'number' },
  'confirmation-too-late': { reservationId: 'number', begunMs: 'number', unclaimedMsMax: 'number' },
  'reservation-not-in-use': { reservationId: 'number', status },
  'cancellation-without-reason': { reservationId: 'number', userId: 'text' },
  'key-of-another-reservation': {
    key: 'text',
    reservationId: 'number',
    resourceId: 'text',
    requestedUnixMs: 'number',
  },
  'reservation-of-another-resource': { reservationId: 'number', resourceId: 'text', wantedResourceId: 'text' },
  'group-member-confirmed': { reservationId: 'number', status },
  'group-member-taken': { reservationId: 'number' },
  'provisioning-above-total': {
    readyAmount: 'number',
    requestedAmount: 'number',
    totalAmount: 'number',
    resourceId: 'text',
  },

  // Claims.
  'claim-forged': {},
  'claim-forgotten': { reservationId: 'number', userId: 'text' },
  'claim-of-another-user': { userId: 'text', shownBy: 'text' },
  'claim-for-another-resource': { resourceId: 'text', shownAt: 'text' },
  'claim-unconfirmed': { reservationId: 'number' },
  'claim-used': { reservationId: 'number', claimedMs: 'number' },
  'claim-early': { reservationId: 'number', untilStartMs: 'number' },
  'claim-late': { reservationId: 'number', endedMs: 'number' },
  'claim-of-old-revision': { reservationId: 'number', claimRevision: 'number', revision: 'number' },
  'claim-start-differs': { reservationId: 'number', claimUnixMs: 'number', reservationUnixMs: 'number' },
  'claim-end-differs': { reservationId: 'number', claimUnixMs: 'number', reservationUnixMs: 'number' },
  'claim-amount-differs': { reservationId: 'number', claimAmount: 'number', reservationAmount: 'number' },
  'claim-resource-differs': { reservationId: 'number', claimResourceId: 'text', resourceId: 'text' },
  'claim-units-differ': { reservationId: 'number' },
  'use-at-another-resource': { reservationId: 'number', resourceId: 'text', usedAt: 'text' },
  'use-by-another-user': { reservationId: 'number', userId: 'text', usedBy: 'text' },

  // Resources.
  'resource-quantity-unreadable': { quantity: 'text' },
  'resource-known-otherwise': { resourceId: 'text', totalAmount: 'number', dimension },
  'resource-capacity-invalid': { capacity: 'number' },
  'resource-units-too-many': { units: 'number', unitsMax: 'number' },
  'resource-offer-invalid': { offeredPpm: 'number', ppmMax: 'number' },
  'resource-duration-max-invalid': { durationMsMax: 'number' },
  'resource-user-amount-max-invalid': { amountMax: 'number' },
  'resource-moves-max-invalid': { movesMax: 'number' },
  'maintenance-ends-too-early': { endUnixMs: 'number', startUnixMs: 'number', nowUnixMs: 'number' },
  'maintenance-above-total': { amount: 'number', resourceId: 'text', totalAmount: 'number' },
  'maintenance-known-otherwise': {
    name: 'text',
    startUnixMs: 'number',
    endUnixMs: 'number',
    amount: 'number',
  },
  'failure-above-rest': { amount: 'number', resourceId: 'text', totalAmount: 'number', workingAmount: 'number' },
  'failed-amount-invalid': { amount: 'number' },
  'resource-without-units': { resourceId: 'text', unit: 'number' },
  'resource-unit-unknown': { resourceId: 'text', unit: 'number', unitMax: 'number' },
} as const satisfies ReasonTable;
