import type { ReasonTable } from './parameters.ts';

/** Why a reservation is where it is, or is over, and what differs in an alternative: parts of sentences. */
export const reservationReasons = {
  // Its place.
  'reservation-placed': {
    /** After the earliest start that was requested. */
    afterMs: 'number',
    /** Reservations without a latest end that moved for it. */
    movedReservations: 'number',
  },
  'reservation-moved': {
    /** The one that it moved for; left out where its units were taken away. */
    forReservationId: 'number?',
    /** By how much it starts later; negative for earlier, 0 where it has other units at the same time. */
    laterMs: 'number',
  },
  'reservation-shortened': {
    shorterMs: 'number',
    outage: ['maintenance', 'failure'],
    cause: 'cause',
  },

  // Its use and its end.
  'reservation-in-use': {},
  'reservation-used-up': {},
  'reservation-released-early': { earlyMs: 'number' },
  'reservation-cancelled-by-user': {},
  'reservation-cancelled-by-other': { userId: 'text', cause: 'cause' },
  'reservation-displaced': {
    outage: ['maintenance', 'failure'],
    /** What kept it from moving. */
    obstacle: ['held', 'begun', 'no-capacity'],
    cause: 'cause',
  },
  'reservation-hold-expired': {},
  'reservation-group-undecided': {},
  'reservation-group-aborted': {},
  'reservation-unclaimed': {
    withinMs: 'number',
    /** Whether the time counts from its start, or from the last start of the manager, which came later. */
    since: ['start', 'manager-start'],
  },
  'reservation-missed': {},

  // Outages that ended.
  'outage-over': {},
  'outage-withdrawn': {},
  'outage-repaired': {},

  // Alternatives.
  'alternative-later': {},
  'alternative-later-deadline': {},
  'alternative-smaller': {},
  'alternative-shorter': {},
} as const satisfies ReasonTable;
