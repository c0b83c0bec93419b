import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, DurationMs, InstantMs, orNull } from './parts.ts';

/** What a request heuristic compared with the one it chose. */
export const RequestCandidate = Type.Object({
  width_processors: Count,
  walltime_ms: DurationMs,
  starts_unix_ms: InstantMs,
  throughput_tasks_per_hour: Type.Number(),
  chosen: Type.Boolean(),
});

/** An allocation request and why it is what it is. */
export const AllocationRequest = Type.Object({
  provider_id: Type.String(),
  request_id: Type.String(),
  manager_request_id: Type.String(),
  status: Type.String({
    description: '`drafted`, `submitting`, `queued`, `running`, `ended`, `rejected` or `vanished`.',
  }),
  width_processors: Count,
  walltime_ms: DurationMs,
  submitted_unix_ms: orNull(InstantMs),
  started_unix_ms: orNull(InstantMs),
  ended_unix_ms: orNull(InstantMs),
  seen_unix_ms: orNull(InstantMs),
  heuristic: Type.String(),
  reasons: Type.Array(Reason),
  candidates: Type.Array(RequestCandidate, { description: 'The first 100, the chosen ones first.' }),
});
export type AllocationRequest = Static<typeof AllocationRequest>;

/** A provider as its broker knows it, with counts of its requests. */
export const ProviderRow = Type.Object({
  provider_id: Type.String(),
  address: Type.String(),
  connected: Type.Boolean(),
  machines: Count,
  last_error: Type.String(),
  requests_queued: Count,
  requests_running: Count,
  resource_id: orNull(Type.String({ description: 'What its resource is called at its reservation manager.' })),
  draining_since_unix_ms: orNull(InstantMs),
  draining_reason: Type.String({ description: 'The words of the owner who drains it; empty while it takes work.' }),
  running_tasks: Type.Integer({ minimum: 0, description: 'Tasks that are placed there and have not ended.' }),
});
export type ProviderRow = Static<typeof ProviderRow>;

/** All providers, and requests that have not ended, the newest 1,000. */
export const ProviderList = Type.Object({
  providers: Type.Array(ProviderRow),
  requests: Type.Array(AllocationRequest),
  requests_left_out: Count,
});
export type ProviderList = Static<typeof ProviderList>;

/**
 * The queue of a resource as a picture, as its provider's request heuristic sees it: free processors over time, and
 * whose requests take them. Instants are of the provider's clock.
 */
export const QueueProfile = Type.Object({
  at_unix_ms: InstantMs,
  processors: Count,
  steps: Type.Array(Type.Object({ from_unix_ms: InstantMs, free_processors: Count }), {
    description: 'Free from then until the next step; the last one lasts. By walltimes: what ends earlier frees more.',
  }),
  requests: Type.Array(
    Type.Object({
      request_id: Type.String(),
      is_ours: Type.Boolean(),
      status: Type.String(),
      width_processors: Count,
      start_unix_ms: orNull(InstantMs),
      end_unix_ms: orNull(InstantMs),
    }),
    {
      description:
        'Running and queued ones, ours first, with where they are by the queue, or by a forecast where it ' +
        'promises no start; null where they have no place. 1,000 at most.',
    },
  ),
  reservations: Type.Array(
    Type.Object({ reservation_id: Count, processors: Count, start_unix_ms: InstantMs, end_unix_ms: InstantMs }),
  ),
});
export type QueueProfile = Static<typeof QueueProfile>;

/** A provider in full. */
export const ProviderDetail = Type.Object({
  provider: ProviderRow,
  resource: orNull(
    Type.Object(
      {
        resource_kind: Type.String(),
        processors: Count,
        requests_max: Count,
        walltime_ms_max: DurationMs,
        width_processors_max: Count,
        walltime_granularity_ms: DurationMs,
        heuristic: Type.String(),
        queued_requests: Count,
        machines: Count,
        draining: Type.Boolean(),
        reasons: Type.Array(Reason),
      },
      { description: 'Null while the provider cannot be reached.' },
    ),
  ),
  requests: Type.Array(AllocationRequest, { description: 'The newest 200, ended ones too.' }),
  queue: orNull(
    Type.Object(
      {
        knowledge: Type.String({
          description:
            "`complete`; `hidden` where the resource manager does not show others' requests: processors that no " +
            'listed one has are taken to be held for the longest walltime; `stale` where it cannot be read now; ' +
            '`none`.',
        }),
        trouble: orNull(Reason),
        age_ms: orNull(DurationMs),
        running_count: Count,
        waiting_count: Count,
        decision: orNull(
          Type.Object(
            {
              at_unix_ms: orNull(InstantMs),
              heuristic: Type.String(),
              candidates: Type.Array(RequestCandidate, { description: 'The chosen ones first.' }),
              reasons: Type.Array(Reason),
            },
            {
              description:
                'What its request heuristic compared last, whether or not a request came of it; null before it ' +
                'compared anything.',
            },
          ),
        ),
      },
      { description: 'How well its queue is known, and since when; null where the provider does not report it.' },
    ),
  ),
  profile: orNull(QueueProfile),
  profile_missing: Type.String({
    description:
      'Why there is no profile: the resource is time-shared, or it cannot be reached. Empty where there is one.',
  }),
});
export type ProviderDetail = Static<typeof ProviderDetail>;
