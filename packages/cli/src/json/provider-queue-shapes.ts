const instant = 'integer or null';

/** Documents about the queue of a resource as its provider sees it. */
export const providerQueueShapes = {
  provider_queue: {
    provider_id: ['string', 'Name of the provider.'],
    knowledge: [
      'string',
      "`complete`; `hidden` where the resource manager does not show others' requests; `stale` where it cannot " +
        'be read now; `none`.',
    ],
    trouble: ['reason or null', 'What is not known and why; null where all is.'],
    at_unix_ms: ['integer', 'When the provider reported it, by its clock, as are all instants here.'],
    read_unix_ms: [instant, 'When the queue was read; null where it never was.'],
    processors: ['integer', 'Of the resource.'],
    steps: ['array of free_step', 'Free processors over time, 2,000 steps at most.'],
    steps_until_unix_ms: [instant, 'From when on further steps were left out; null where all are there.'],
    entries: ['array of queue_entry', "Own requests first, then others', 1,000 at most."],
    running_count: ['integer', 'Requests that run, of all.'],
    waiting_count: ['integer', 'Requests that wait, of all.'],
    decision: ['queue_decision or null', 'What the request heuristic compared last; null before it compared anything.'],
  },
  free_step: {
    from_unix_ms: ['integer', 'From then until the next step; the last one lasts.'],
    free_processors: ['integer', 'By walltimes: what ends earlier frees more.'],
  },
  queue_entry: {
    manager_request_id: ['string', 'What the resource manager calls it; may be empty while it is submitted.'],
    request_id: ['string', "The provider's own number for it; empty for others' requests."],
    running: ['boolean', 'Whether it runs.'],
    width_processors: ['integer', 'Processors that it holds or asks for.'],
    walltime_ms: ['integer', 'Its walltime.'],
    starts_unix_ms: [instant, 'When it started or starts; null where it has no place.'],
    forecast: ['boolean', 'Whether that start is where it would be by walltimes, and no promise.'],
  },
  queue_decision: {
    at_unix_ms: [instant, 'When it was decided.'],
    heuristic: ['string', 'Which request heuristic decided.'],
    candidates: ['array of request_candidate', 'What it compared, the chosen ones first.'],
    reasons: ['array of reason', 'The deciding one first.'],
  },
  request_candidate: {
    width_processors: ['integer', 'Processors of the request that could have been made.'],
    walltime_ms: ['integer', 'Its walltime.'],
    starts_unix_ms: ['integer', 'When it would have started.'],
    throughput_tasks_per_hour: ['number', 'Whole tasks of the estimated time per hour, from the decision to its end.'],
    chosen: ['boolean', 'Whether it was asked for.'],
  },
} as const;
