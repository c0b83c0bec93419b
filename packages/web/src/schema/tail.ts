import Type, { type Static } from 'typebox';
import { TaskStatusName } from './parts.ts';

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
