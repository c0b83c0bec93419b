import Type, { type Static } from 'typebox';
import { Count, InstantMs, JobId } from './parts.ts';

/** What a stretch of time on a machine was, by its index: `bars.kind` and the `cells` refer to it. */
export const barKinds = ['inputs', 'outputs', 'accepted', 'loser', 'failed', 'killed', 'lost', 'running'] as const;

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
  busy_ms: Type.Array(Count, {
    description:
      'Time of replicas of that kind within the bin, added up: on a machine of several processors it may be ' +
      'more than `bin_ms`.',
  }),
});

/**
 * What ran where and when: bars where they are few, else cells of a grid of machines and times. Bounded whatever the
 * size of the job.
 */
export const Gantt = Type.Object({
  job_id: JobId,
  from_unix_ms: InstantMs,
  until_unix_ms: InstantMs,
  job_from_unix_ms: Type.Integer({
    minimum: 0,
    description: 'When the first replica was placed, whatever part was asked for.',
  }),
  job_until_unix_ms: Type.Integer({
    minimum: 0,
    description: 'When the last one ended; of a job that runs, when this was made.',
  }),
  kinds: Type.Array(Type.String(), {
    description:
      'inputs (on their way to the machine, or being put in place; known once a replica has ended, and often ' +
      'while another one runs there), outputs (on their way home), accepted, loser (a sibling was first, or ' +
      'others agreed on another result), failed, killed (its job was cancelled), lost (with its machine, or ' +
      'taken back), running.',
  }),
  rows: Type.Array(Type.Object({ machine_id: Type.String(), provider_id: Type.String() }), {
    description: 'Machines, by provider and name; 2,000 at most.',
  }),
  rows_left_out: Count,
  bars: Type.Union([Bars, Type.Null()], {
    description: 'Null where there are more runs than `bars_max`; files on their way are bars of their own.',
  }),
  cells: Type.Union([Cells, Type.Null()], { description: 'Null where there are bars.' }),
  bin_ms: Count,
  read_task_count: Type.Integer({
    description: 'Tasks that were read so far; what is missing comes with a later call.',
  }),
  task_count: Count,
});
export type Gantt = Static<typeof Gantt>;
