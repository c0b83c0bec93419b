const instant = 'integer or null';

const reservationFields = {
  reservation_id: ['integer', 'The number of the reservation at its manager.'],
  resource_id: ['string', 'What is reserved.'],
  user_id: ['string', 'Whose it is.'],
  status: ['string', '`held`, `confirmed`, `claimed`, `released`, `expired` or `cancelled`.'],
  start_unix_ms: ['integer', 'When it begins.'],
  end_unix_ms: ['integer', 'When it ends.'],
  amount: ['integer', "Units, or capacity in the resource's own unit."],
  unit: ['string', "The resource's own unit: `B`, `B/s` or `Hz`; empty for units."],
  units: ['array of object', 'Which units, as ranges: `first`, `count`; empty for a capacity.'],
  earliest_start_unix_ms: [instant, 'The limit that was asked for; null where there is none.'],
  latest_end_unix_ms: [instant, 'The limit that was asked for; null where there is none.'],
  hold_until_unix_ms: [instant, 'When a hold lapses; null for what is not held.'],
  requested_unix_ms: ['integer', 'When it was asked for.'],
  claimed_unix_ms: [instant, 'When its use began.'],
  ended_unix_ms: [instant, 'When it was over.'],
  revision: ['integer', 'Grows whenever its place changes.'],
  reason: ['reason or null', 'Why it is where it is, or why it is over.'],
  client_request_id: ['string', 'The key that its user chose; may be empty.'],
  claim: [
    'string',
    "The signed claim, to be shown at the resource; empty in lists, for holds, and for what is over or another user's.",
  ],
  provisioning: [
    'object or null',
    'What who manages the resource holds ahead for it: `status` (`planned`, `asked`, `queued`, `held`, ' +
      '`honoured`, `late`, `lost`), `held` and `asked` units, `ask_unix_ms`, `expected_unix_ms`, `chance_percent` ' +
      '(each may be null), `reason`; null if nothing was reported.',
  ],
} as const;

/** What the commands about reservations print. */
export const reservationShapes = {
  honoured_reservation: {
    reservation_id: ['integer', "The reservation manager's number for it."],
    user_id: ['string', 'Whose it is.'],
    processors: ['integer', 'Processors that are set aside.'],
    processors_used: ['integer', 'Processors that requests inside it hold.'],
    start_unix_ms: ['integer', 'When it begins or began.'],
    end_unix_ms: ['integer', 'When it ends.'],
    late_ms: ['integer', 'How long after its start all its processors were there, or for how long they have not been.'],
  },
  reservation: reservationFields,
  reservation_placement: {
    placed: ['boolean', 'Whether there is a place; of a repeated key not where that reservation is over.'],
    reservation: ['reservation or null', 'The reservation; null where it is refused.'],
    moved_count: ['integer', 'Reservations of others that gave way.'],
    code: ['string', 'Why it is refused: a code of the error registry; empty where it is placed.'],
    message: ['string', 'The same in a sentence.'],
    alternatives: ['array of object', 'What could be had instead: `start_unix_ms`, `end_unix_ms`, `amount`, `reason`.'],
  },
  reservation_groups: {
    start_unix_ms: ['integer', 'When all of them begin.'],
    end_unix_ms: ['integer', 'When all of them end.'],
    rounds: ['integer', 'Windows that were tried.'],
    reservations: [
      'array of object',
      'In the order of the words: `manager` (empty for the usual one), and `reservation`, a ' +
        '[reservation](#reservation).',
    ],
  },
  reservation_verdict: {
    valid: ['boolean', 'Whether the claim may be used now.'],
    code: ['string', 'Why not: a code of the error registry; empty where it may.'],
    message: ['string', 'The same in a sentence.'],
    reservation: ['reservation or null', 'Null where the claim is forged.'],
  },
  reservation_calendar: {
    resource: ['reservable_resource', 'The resource.'],
    from_unix_ms: ['integer', 'Beginning of the window.'],
    until_unix_ms: ['integer', 'End of the window.'],
    slots: [
      'array of object',
      'Stretches of time in which nothing changes, without gaps: `start_unix_ms`, `end_unix_ms`, `used`.',
    ],
    truncated: ['boolean', 'Whether later slots are left out.'],
  },
  reservable_resource: {
    resource_id: ['string', 'Its name.'],
    owner_id: ['string', 'Who decides about it.'],
    type: ['string', 'What it is; may be empty.'],
    kind: ['string', '`units` or `capacity`.'],
    total: ['integer', 'Units, or capacity in its own unit.'],
    unit: ['string', '`B`, `B/s` or `Hz`; empty for units.'],
    cap_percent: ['number', 'The most that reservations may take together.'],
    algorithm: ['string', '`suvs` or `suvs-p`.'],
    placement: ['string', '`first-fit`, `min-lip` or `min-tip`.'],
    duration_ms_max: ['integer', 'Longest reservation; 0 for any.'],
    reservations_per_user_max: ['integer', 'Reservations of one user at a time; 0 for any.'],
    amount_per_user_max: ['integer', 'The most that one user may have at any instant; 0 for any.'],
    moves_max: ['integer', 'Reservations that one request may move, with `suvs-p`.'],
    unclaimed_ms_max: ['integer', 'A reservation that is not claimed within this time is cancelled; 0 = never.'],
    failed: ['integer', 'Of the total, what has failed.'],
    failed_units: ['array of object', 'Which units, as ranges: `first`, `count`.'],
    maintenances: ['array of object', '`maintenance_id`, `start_unix_ms`, `end_unix_ms`, `amount`, `reason`.'],
    reservation_count: ['integer', 'Reservations that are not over.'],
  },
} as const;
