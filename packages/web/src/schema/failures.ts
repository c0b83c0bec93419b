import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, JobId, orNull, TaskIndex } from './parts.ts';

/** Replicas that failed for the same cause. */
export const FailureGroup = Type.Object({
  cause: Type.String({
    description: 'What happened, for people: "exit status 2", or how much memory one of them took.',
  }),
  advice: Type.String({ description: 'What to do; empty where the output says more.' }),
  outcome: Type.String(),
  exit_status: Type.Integer(),
  reason: Type.String({ description: 'A code of the error registry; may be empty.' }),
  detail: orNull(Reason),
  is_loss: Type.Boolean({ description: 'Lost with its machine: that does not count as a failure of the task.' }),
  replica_count: Count,
  task_count: Count,
  given_up_count: Type.Integer({ description: 'Tasks of them that failed for good.' }),
  task_indexes: Type.Array(TaskIndex, { description: 'The first 20.' }),
  task_values: Type.Array(Type.String(), {
    description: 'What `{}` stands for in each of these; of a workflow, its id. Empty where it could not be read.',
  }),
  machines: Type.Array(Type.Object({ machine_id: Type.String(), count: Count }), {
    description: 'The 10 with the most.',
  }),
  sample: orNull(
    Type.Object(
      { task_index: TaskIndex, replica_id: Count, standard_output: Type.String(), standard_error: Type.String() },
      {
        description: 'The end of what the first task of them that has an output printed, 4 KiB of each.',
      },
    ),
  ),
});
export type FailureGroup = Static<typeof FailureGroup>;

/** What went wrong in a job: failures, then losses, of each the most frequent cause first; 50 causes at most. */
export const Failures = Type.Object({
  job_id: JobId,
  groups: Type.Array(FailureGroup),
  replica_count: Type.Integer({ description: 'Replicas that failed; those that were lost are counted apart.' }),
  lost_count: Count,
  causes_left_out: Count,
  read_task_count: Count,
  task_count: Count,
});
export type Failures = Static<typeof Failures>;
