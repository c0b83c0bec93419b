import Type, { type Static } from 'typebox';
import { Count, DurationMs, InstantMs, JobId, orNull, TaskIndex } from './parts.ts';

/** How long tasks took, and which take much longer than the others. */
export const TaskTimes = Type.Object({
  job_id: JobId,
  count: Type.Integer({ description: 'Accepted replicas.' }),
  mean_ms: orNull(DurationMs),
  ms_max: orNull(DurationMs),
  quantiles: Type.Array(Type.Object({ share: Type.Number(), ms_max: DurationMs }), {
    description: 'Time within which that share of accepted replicas ended: 0.1, 0.25, 0.5, 0.75, 0.9, 0.99.',
  }),
  bins: Type.Array(Type.Object({ from_ms: DurationMs, until_ms: DurationMs, accepted: Count, other: Count }), {
    description:
      'Up to 60 bins of equal width; the last one holds all that is longer. `other` are replicas that ended ' +
      'without an accepted result.',
  }),
  stragglers: Type.Array(
    Type.Object({
      task_index: TaskIndex,
      machine_id: Type.String(),
      replica_id: Count,
      took_ms: DurationMs,
      is_running: Type.Boolean(),
      times_half: Type.Number({ description: 'How many times longer than half of the tasks.' }),
      started_unix_ms: InstantMs,
      failures_before: Type.Integer({ description: 'Runs of the task that failed.' }),
      why: Type.String({ description: 'A sentence: what is known of the cause.' }),
    }),
    { description: 'The 50 longest of those above twice the median.' },
  ),
  straggler_count: Type.Integer({ description: 'All above twice the median.' }),
  by_machine: Type.Array(
    Type.Object({ machine_id: Type.String(), count: Count, mean_ms: DurationMs, half_ms: DurationMs }),
    { description: 'The 100 slowest in the mean; half of the runs there ended within `half_ms`.' },
  ),
  read_task_count: Count,
  task_count: Count,
});
export type TaskTimes = Static<typeof TaskTimes>;
