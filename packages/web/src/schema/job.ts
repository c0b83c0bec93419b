import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, DurationMs, InstantMs, JobId, orNull, TaskCounts, TaskIndex } from './parts.ts';

/** How a job is. */
export const JobStatusName = Type.Union([
  Type.Literal('running'),
  Type.Literal('finished'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
]);

/** A job in a list. */
export const JobRow = Type.Object(
  {
    job_id: JobId,
    label: Type.String({ description: 'What the user calls it; may be empty, and may hold anything.' }),
    user_id: Type.String(),
    status: JobStatusName,
    submitted_unix_ms: InstantMs,
    ended_unix_ms: orNull(InstantMs),
    task_count: Count,
    tasks: TaskCounts,
    replica_count: Count,
    is_blocked: Type.Boolean({ description: 'Whether no machine can take its tasks before somebody does something.' }),
    waiting: Type.Union([Reason, Type.Null()], {
      description: 'Why nothing of it runs although tasks are ready; null of jobs that run or were not asked about.',
    }),
    held_count: Type.Integer({ description: 'Tasks that wait for their release; they are among those that wait.' }),
    priority: Type.Integer(),
    running_max: orNull(Type.Integer({ description: 'Most of its tasks that run at once.' })),
    is_open: Type.Boolean({ description: 'Whether it takes more tasks, and does not end before it is closed.' }),
    cancel_reason: orNull(Reason),
    doubtful_count: Type.Integer({
      description: 'Finished tasks whose result rests on a machine that was caught when the job was over.',
    }),
    remaining_ms_min: orNull(DurationMs),
    remaining_ms_max: orNull(DurationMs),
    planned_end_unix_ms: orNull(InstantMs),
  },
  {
    description:
      'How long it still takes, at least and at most as far as is known: null where nothing of it runs, no task ' +
      'has ended, or nobody asked (of jobs far down the list).',
  },
);
export type JobRow = Static<typeof JobRow>;

/** Jobs, the newest first. */
export const JobList = Type.Object({
  jobs: Type.Array(JobRow),
  next_before_job_id: orNull(JobId),
});
export type JobList = Static<typeof JobList>;

/** Jobs that were asked for by their numbers, with how long they still take; those that are not there are left out. */
export const JobRows = Type.Object({ jobs: Type.Array(JobRow) });
export type JobRows = Static<typeof JobRows>;

/** What tasks of a group share. */
export const TaskGroupRow = Type.Object({
  task_count: Count,
  command: Type.String(),
  check: Type.String(),
  requirements: Type.String(),
  input_count: Count,
  output_count: Count,
  no_op: Type.Boolean(),
});

/** A job with what its user stated. */
export const JobDetail = Type.Object({
  job: JobRow,
  is_workflow: Type.Boolean({ description: 'Whether tasks wait for each other: then `/graph` draws it.' }),
  edge_count: Count,
  slot_count: Type.Integer({ description: 'Its replicas that run now.' }),
  task_time_ms_half: orNull(DurationMs),
  task_time_ms_ninetieth: orNull(DurationMs),
  timed_count: Count,
  cut_off_count: Count,
  processors: Count,
  is_gang: Type.Boolean(),
  replicas_max: Count,
  failures_max: Count,
  scheduler: Type.String(),
  replication_budget: Type.String({
    description: '`none` (no cap), `idle`, or per cent of what results took (`20%`).',
  }),
  verification: Type.String({ description: 'As `--verify` takes it; empty where checks alone decide.' }),
  home_directory: Type.String(),
  deadline_unix_ms: orNull(InstantMs),
  environment: Type.Record(Type.String(), Type.String()),
  run_time_ms_max: DurationMs,
  memory_bytes_max: Count,
  output_bytes_max: Count,
  groups: Type.Array(TaskGroupRow, { description: 'The first 100 of them.' }),
  group_count: Count,
  doubtful_task_indexes: Type.Array(TaskIndex),
});
export type JobDetail = Static<typeof JobDetail>;
