import Type, { type Static, type TSchema } from 'typebox';

/** A value, or null where there is none. */
export function orNull<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A number of things. */
export const Count = Type.Integer({ minimum: 0 });
/** Unix milliseconds. */
export const InstantMs = Type.Integer({ minimum: 0 });
/** Milliseconds. */
export const DurationMs = Type.Integer({ minimum: 0 });
/** A job's number. */
export const JobId = Type.Integer({ minimum: 1 });
/** A task's position in its job, from 0. */
export const TaskIndex = Type.Integer({ minimum: 0 });

/** Tasks of a job by their status; they add up to the job's tasks. */
export const TaskCounts = Type.Object(
  {
    waiting: Count,
    ready: Count,
    running: Count,
    verifying: Count,
    finished: Count,
    failed: Count,
    cancelled: Count,
  },
  { description: '0 where the broker counts `verifying` tasks among `running`.' },
);
export type TaskCounts = Static<typeof TaskCounts>;

/** The status of a task. */
export const TaskStatusName = Type.Union([
  Type.Literal('waiting'),
  Type.Literal('ready'),
  Type.Literal('running'),
  Type.Literal('verifying'),
  Type.Literal('finished'),
  Type.Literal('failed'),
  Type.Literal('cancelled'),
]);
export type TaskStatusName = Static<typeof TaskStatusName>;

/** What was done. */
export const Done = Type.Object({ done: Type.Literal(true) });
export type Done = Static<typeof Done>;
