import { plural } from '@mutirao/core/shared';

import type { Catalogue } from './catalogue.ts';
import { span } from './numbers.ts';

/** Why a reservation is where it is, or is over: parts of sentences. */
export const reservationSentences = {
  'reservation-placed': ({ afterMs, movedReservations }) => {
    const place =
      afterMs === 0 ? 'at the earliest requested start' : `${span(afterMs)} after the earliest requested start`;
    return movedReservations === 0
      ? place
      : `${place}; ${plural(movedReservations, 'reservation')} without a latest end moved for it`;
  },
  'reservation-moved': ({ forReservationId, laterMs }) => {
    const where =
      laterMs === 0
        ? 'to other units at the same time'
        : `to a start ${span(Math.abs(laterMs))} ${laterMs > 0 ? 'later' : 'earlier'}`;
    return forReservationId === undefined
      ? `moved ${where}, because its units became unavailable`
      : `moved ${where} for reservation ${forReservationId}, which has a latest end`;
  },
  'reservation-shortened': ({ shorterMs, outage, cause }, { say }) =>
    `shortened by ${span(shorterMs)}: ${outages[outage]} begins then${because(say(cause))}`,

  'reservation-in-use': () => 'in use',
  'reservation-used-up': () => 'used to its end',
  'reservation-released-early': ({ earlyMs }) => `released ${span(earlyMs)} before its end`,
  'reservation-cancelled-by-user': () => 'cancelled by its user',
  'reservation-cancelled-by-other': ({ userId, cause }, { say }) => `cancelled by ${userId}${because(say(cause))}`,
  'reservation-displaced': ({ outage, obstacle, cause }, { say }) =>
    `displaced by ${outages[outage]}; ${obstacles[obstacle]}${because(say(cause))}`,
  'reservation-hold-expired': () => 'the hold was not confirmed in time',
  'reservation-group-undecided': () => 'the decision about its group did not arrive in time',
  'reservation-group-aborted': () => 'the other reservations of its group were not available',
  'reservation-unclaimed': ({ withinMs, since }) =>
    since === 'start'
      ? `not claimed within ${span(withinMs)} of its start`
      : `not claimed within ${span(withinMs)} of the last start of the reservation manager, which came after its own`,
  'reservation-missed': () => 'it ended while the reservation manager was down, and it was not claimed',

  'outage-over': () => 'over',
  'outage-withdrawn': () => 'withdrawn',
  'outage-repaired': () => 'repaired',

  'alternative-later': () => 'as requested, but later',
  'alternative-later-deadline': () => 'with a later deadline',
  'alternative-smaller': () => 'as long, but smaller',
  'alternative-shorter': () => 'as large, but shorter',
} satisfies Partial<Catalogue>;

const outages = { maintenance: 'maintenance', failure: 'a failure' } as const;

const obstacles = {
  held: 'it was only held',
  begun: 'it had begun',
  'no-capacity': 'no other place within its limits is free',
} as const;

function because(words: string): string {
  return words === '' ? '' : `: ${words}`;
}
