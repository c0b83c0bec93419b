/** Documents about the queue of a cluster that is ordered by scores. */
export const scoreShapes = {
  cluster_submission: {
    cluster: ['string', 'Name of the cluster.'],
    request_id: ['string', 'What the cluster calls the request.'],
    walltime_gain: [
      'walltime_gain or null',
      'What a tighter walltime would have gained; null where that is nothing, or the queue is not ordered by scores.',
    ],
  },
  cluster_scores: {
    cluster: ['string', 'Name of the cluster.'],
    orders_queue: ['boolean', 'Whether the queue is ordered by scores.'],
    weight_s: [
      'number or null',
      'What scores and walltimes weigh against waiting: a point of score is worth 0.8 of it. Null unless it is.',
    ],
    lead_ms_max: [
      'integer or null',
      'By how much later a request may come, at the most, and still go before another one; null unless it is.',
    ],
    scores: ['array of user_score', 'The best first.'],
  },
  user_score: {
    user_id: ['string', 'Whose it is.'],
    score: ['number', 'From 0 to 100.'],
    counted_count: ['integer', 'Ended requests that it was made of; 0 for a user who was never seen.'],
    precision_mean: ['number', 'Mean share of their walltimes that these ran for, from 0 to 1.'],
  },
  walltime_gain: {
    walltime_ms: [
      'integer',
      "The tighter walltime: of the user's mean precision and a quarter more, or half where nothing is known of her.",
    ],
    ahead_count: ['integer', 'Requests ahead of it as it is.'],
    tighter_ahead_count: ['integer', 'Requests that would be ahead of it with that walltime.'],
    expected_wait_ms: [
      'integer',
      'How long it is expected to wait as it is, by the walltimes of who runs and is ahead.',
    ],
    tighter_expected_wait_ms: ['integer', 'How long it would be expected to wait.'],
  },
} as const;
