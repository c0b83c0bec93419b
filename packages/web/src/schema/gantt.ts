import Type, { type Static } from 'typebox';
import { Count, InstantMs, JobId } from './parts.ts';

/** What a stretch of time on a machine was, by its index: `bars.kind` and the `cells` refer to it. */
export const barKinds = ['staging', 'accepted', 'loser', 'failed', 'lost', 'running'] as const;

/** Columns of equal length; entry i of each is bar i. */
export const Bars = Type.Object({
  row: Type.Array(Count, { description: 'Index into `rows`.' }),
  start_unix_ms: Type.Array(InstantMs),
  end_unix_ms: Type.Array(InstantMs, { description: 'For what still runs, when this was made.' }),
  kind: Type.Array(Count, { description: 'Index into `kinds`.' }),
  task_index: Type.Array(Count),
  replica_id: Type.Array(Count),
});

/** Columns of equal length; cells that would be empty are left out. */
export const Cells = Type.Object({
  row: Type.Array(Count),
  bin: Type.Array(Count, { description: 'Counted from 0; bin b is from `from_unix_ms + b * bin_ms` on.' }),
  kind: Type.Array(Count),
  busy_ms: Type.Array(Count, { description: 'Time of replicas of that kind within the bin, added up: on a machine of several processors it may be more than `bin_ms`.' }),
});

/** What ran where and when: bars where they are few, else cells of a grid of machines and times. Bounded whatever the size of the job. */
export const Gantt = Type.Object({
  job_id: JobId,
  from_unix_ms: InstantMs,
  until_unix_ms: InstantMs,
  kinds: Type.Array(Type.String(), { description: 'staging (placed until started), accepted, loser (a sister was first, or the result was not taken), failed, lost (with its machine, or taken back), running.' }),
  rows: Type.Array(Type.Object({ machine_id: Type.String(), provider_id: Type.String() }), { description: 'Machines, by provider and name; 2,000 at most.' }),
  rows_left_out: Count,
  bars: Type.Union([Bars, Type.Null()], { description: 'Null where they would be more than `bars_max`.' }),
  cells: Type.Union([Cells, Type.Null()], { description: 'Null where there are bars.' }),
  bin_ms: Count,
  read_task_count: Type.Integer({ description: 'Tasks that were read so far; what is missing comes with a later call.' }),
  task_count: Count,
});
export type Gantt = Static<typeof Gantt>;
