import Type, { type Static } from 'typebox';
import { Count, JobId, orNull } from './parts.ts';
import { Workflow } from './workflow.ts';

/** What a job was given. */
const jobOptions = {
  label: Type.Optional(Type.String({ maxLength: 256 })),
  directory: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: "Absolute: where outputs go and relative paths begin; the session's own when left out.",
    }),
  ),
  client_job_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'Chosen by the page: the same key is the same job, so that a repeated call submits once.',
    }),
  ),
};

const inPlace = Type.Optional(
  Type.Boolean({
    description:
      'Tasks start in that folder instead of an empty one, on machines that share it, as `--in-place` has it.',
  }),
);

/** What the tasks of a bag differ by: the first that is not empty. */
export const BagValues = Type.Union([
  Type.Object({ kind: Type.Literal('single') }),
  Type.Object({
    kind: Type.Literal('array'),
    selector: Type.String({ minLength: 1, maxLength: 10_000, description: '`1-1000`, `0-90:10`, `1,3,5-8`' }),
  }),
  Type.Object({
    kind: Type.Literal('list'),
    values: Type.Array(Type.String({ maxLength: 100_000 }), { minItems: 1, maxItems: 100_000 }),
  }),
  Type.Object({
    kind: Type.Literal('csv'),
    text: Type.String({
      maxLength: 8_000_000,
      description: 'With a heading: `{name}` in the command stands for the column of that name.',
    }),
  }),
]);
export type BagValues = Static<typeof BagValues>;

/** A file that was dropped on the page: each task gets it in its playpen. */
export const DroppedFile = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Without folders.' }),
  content_base64: Type.String({ description: 'All of them together are bounded by `body_bytes_max` of the session.' }),
});

/** A bag of tasks that is submitted by hand. */
export const BagSpec = Type.Object({
  ...jobOptions,
  in_place: inPlace,
  command: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description: 'A line for the shell; `{}` stands for the value of the task, `{#}` for its index.',
  }),
  values: BagValues,
  files: Type.Optional(Type.Array(DroppedFile, { maxItems: 100 })),
  put: Type.Optional(
    Type.Array(Type.String({ maxLength: 8192, description: '`SRC[:DST]`, as `--put` takes it.' }), { maxItems: 1000 }),
  ),
  get: Type.Optional(Type.Array(Type.String({ maxLength: 8192 }), { maxItems: 1000 })),
  requirements: Type.Optional(Type.String({ maxLength: 10_000 })),
  check: Type.Optional(Type.String({ maxLength: 10_000 })),
  environment: Type.Optional(Type.Record(Type.String(), Type.String())),
  processors: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
  replicas_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
  retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 99 })),
  run_time_ms_max: Type.Optional(Type.Integer({ minimum: 0 })),
  deadline_unix_ms: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type BagSpec = Static<typeof BagSpec>;

/** What a bag would be: made without submitting it, as it is typed. */
export const BagPreview = Type.Object({
  task_count: Count,
  first_commands: Type.Array(Type.String(), { description: 'Of the first 5 tasks, as their shells get them.' }),
  command_line: Type.String({
    description:
      'The equivalent `mutirao job submit ...`; a list that is too long for it is named as a file to be made.',
  }),
});
export type BagPreview = Static<typeof BagPreview>;

/** A job file in JDF. */
export const JdfSpec = Type.Object({
  ...jobOptions,
  text: Type.String({ maxLength: 8_000_000 }),
  name: Type.Optional(Type.String({ maxLength: 256, description: 'Of the file.' })),
});
export type JdfSpec = Static<typeof JdfSpec>;

/** What is in a job file and what is wrong or odd in it. */
export const JdfCheck = Type.Object({
  faults: Type.Array(
    Type.Object({
      severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
      code: Type.String(),
      line: Type.Integer({ description: 'From 1; 0 for the whole.' }),
      column: Type.Integer({ description: 'From 1.' }),
      message: Type.String(),
      nearest: orNull(Type.String()),
    }),
    { description: 'All errors of the file, then all warnings.' },
  ),
  is_cut: Type.Boolean({ description: 'True where reading stopped early, after too many errors.' }),
  label: Type.String(),
  task_count: Count,
  group_count: Count,
});
export type JdfCheck = Static<typeof JdfCheck>;

/** A workflow to be run. */
export const WorkflowSubmission = Type.Object({
  ...jobOptions,
  workflow: Workflow,
  in_place: inPlace,
  task_command: Type.Optional(
    Type.String({
      maxLength: 100_000,
      description:
        'Of tasks that have none; `{id}`, `{kind}`, `{seconds}`, `{dimension}`, `{inputs}`, `{outputs}` stand for values of the task.',
    }),
  ),
  scheduler: Type.Optional(
    Type.String({ description: 'As `--scheduler` takes it; `plan` runs it by a plan of the whole grid.' }),
  ),
});
export type WorkflowSubmission = Static<typeof WorkflowSubmission>;

/** A job that was accepted. */
export const Submitted = Type.Object({ job_id: JobId, task_count: Count });
export type Submitted = Static<typeof Submitted>;

/** What was asked for once, for the form that asks again. */
export const BagDraftOfJob = Type.Object({
  bag: BagSpec,
  left_out: Type.Array(Type.String(), { description: 'What the job has and the form cannot ask for, in words.' }),
});
export type BagDraftOfJob = Static<typeof BagDraftOfJob>;
