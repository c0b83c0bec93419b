import Type, { type Static } from 'typebox';
import { Reason } from './reason.ts';
import { Count, InstantMs, JobId, orNull, TaskIndex, TaskStatusName } from './parts.ts';

/** One run of a task. */
export const Replica = Type.Object({
  replica_id: Count,
  machine_id: Type.String(),
  request_id: Type.String({ description: 'The allocation request that it ran in; may be empty.' }),
  dispatched_unix_ms: InstantMs,
  started_unix_ms: orNull(InstantMs),
  ended_unix_ms: orNull(InstantMs),
  outcome: Type.String({
    description: '`succeeded`, `failed`, `cancelled`, `limited` or `broken`; empty while it runs.',
  }),
  exit_status: Type.Integer(),
  accepted: Type.Boolean(),
  is_withdrawn: Type.Boolean({ description: 'Taken back before its command began, as copies staged ahead are.' }),
  reason: Type.String(),
  detail: orNull(Reason),
});
export type Replica = Static<typeof Replica>;

/** A task and its replicas. */
export const Task = Type.Object({
  job_id: JobId,
  task_index: TaskIndex,
  value: Type.String({ description: 'What `{}` stands for; of a workflow, the id of the task.' }),
  status: TaskStatusName,
  failure_count: Count,
  waits_for: Type.Array(TaskIndex),
  replicas: Type.Array(Replica),
  reused_from: orNull(Type.Object({ job_id: JobId, task_index: TaskIndex })),
});
export type Task = Static<typeof Task>;

/** Tasks by index. */
export const TaskPage = Type.Object({ tasks: Type.Array(Task), next_task_index: orNull(TaskIndex) });
export type TaskPage = Static<typeof TaskPage>;

/** What a task printed and wrote. Texts are data: whatever is in them is shown as it is, never as markup. */
export const TaskOutput = Type.Object({
  job_id: JobId,
  task_index: TaskIndex,
  replica_id: Count,
  standard_output: Type.String({ description: 'The last `tail_bytes` of it, as UTF-8.' }),
  standard_error: Type.String(),
  is_cut: Type.Boolean({
    description: 'Whether the beginning of one of them is left out here, or the output limit cut it.',
  }),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      local_path: Type.String(),
      size_bytes: Count,
      sha256: Type.String(),
      gathered_in: orNull(Type.String()),
    }),
  ),
});
export type TaskOutput = Static<typeof TaskOutput>;

/** A message of the stream `GET /api/v1/jobs/:job_id/tasks/:task_index/tail`: what a task prints while it runs. */
export const TailMessage = Type.Object({
  status: TaskStatusName,
  replica_id: Type.Integer({
    description: 'Another one than before starts from its beginning; 0 while none has begun.',
  }),
  machine_id: Type.String(),
  standard_output: Type.String({ description: 'What was printed since the message before, as UTF-8.' }),
  standard_error: Type.String(),
  is_cut: Type.Boolean({ description: 'Whether something between the message before and this one is not kept.' }),
  is_unreadable: Type.Boolean({ description: 'Whether the machine gives output only when the task has ended.' }),
});
export type TailMessage = Static<typeof TailMessage>;
