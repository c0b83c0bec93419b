/** What machines have done for their trust. */
export const trustShapes = {
  trust: {
    identity: ['string', 'What the machine is known by, whatever its name.'],
    machine_id: ['string', 'Its last name.'],
    passes: ['integer', 'Results that other machines confirmed, since its trust record was reset, if it was.'],
    credibility: ['number', 'The probability of a result of it to be right, at least.'],
    quarantined_unix_ms: ['integer or null', 'Since when it is quarantined; null while it is trusted.'],
    evidence: [
      'array of object',
      '`kind` (`outvoted`, `mismatch`, `word`, `attribute`, `report`), `at_unix_ms`, `job_id`, `task_index` ' +
        '(null where none is meant), `digest`, `accepted_digest`, `against` (machines that disagreed), `detail` ' +
        '(a reason, or null).',
    ],
  },
  shown_machine: {
    machine_id: ['string', 'Its name, now or last.'],
    machine: ['machine or null', 'What it is now; null where it is not here.'],
    trust: [
      'trust or null',
      'What votes and spot checks have shown of it, in all jobs; null where nothing was compared.',
    ],
  },
  trusted_machine: {
    machine_id: ['string', 'The machine that was meant.'],
  },
} as const;
