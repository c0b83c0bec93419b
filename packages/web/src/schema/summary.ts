import Type, { type Static } from 'typebox';
import { Count, DurationMs, InstantMs, orNull, TaskCounts } from './parts.ts';

/** The grid at a glance. */
export const Summary = Type.Object({
  jobs_running: Type.Integer({ description: 'Jobs that have not ended, blocked ones among them.' }),
  jobs_blocked: Count,
  jobs_ended: Type.Integer({ description: 'How many of the newest jobs have ended.' }),
  has_more_jobs: Type.Boolean({ description: 'Whether there are older jobs, which no count includes.' }),
  tasks: TaskCounts,
  finished_per_s: Type.Number({ description: 'Tasks that finished per second, over the last seconds.' }),
  machines: Type.Object({ idle: Count, busy: Count, draining: Count, quarantined: Count }),
  processors: Count,
  replicas_running: Count,
  providers_connected: Count,
  provider_count: Count,
  providers_away: Type.Array(Type.String(), { description: 'The first five that are not connected.' }),
  requests_queued: Count,
  requests_running: Count,
  remaining_ms_max: Type.Union([DurationMs, Type.Null()], {
    description: 'Until the last of the jobs that run has ended, as far as that is known; null where it is of none.',
  }),
  remaining_unknown_count: Type.Integer({ description: 'Jobs that run and are not blocked of which it is not known.' }),
  trouble: Type.String({
    description: 'Why the broker takes nothing new, a full disk for example; empty while all is well.',
  }),
});
export type Summary = Static<typeof Summary>;

/** How the grid was, as columns of equal length, the oldest first. */
export const History = Type.Object({
  every_ms: Type.Integer({ description: 'Between two samples, about; where more lies between two nobody looked.' }),
  at_unix_ms: Type.Array(InstantMs),
  finished_per_s: Type.Array(orNull(Type.Number()), { description: 'Null while the broker was away.' }),
  processors: Type.Array(Count),
  sites: Type.Array(
    Type.Object({
      provider_id: Type.String(),
      busy: Type.Array(orNull(Count), { description: 'Processors that ran something.' }),
    }),
  ),
});
export type History = Static<typeof History>;
