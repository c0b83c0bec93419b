import type { ReactNode } from 'react';
import { getProblem } from '../gateway/gateway.ts';
import { usePage } from '../page-context.tsx';

/** Runs one task again. */
export function RetryTask({
  jobId,
  taskIndex,
  again,
}: {
  readonly jobId: number;
  readonly taskIndex: number;
  readonly again: () => void;
}): ReactNode {
  const { gateway, say } = usePage();
  const retry = (): void => {
    gateway.call('retryTasks', { params: { job_id: jobId }, body: { task_indexes: [taskIndex] } }).then(
      () => {
        say(`Task ${taskIndex} of job ${jobId} runs again.`);
        again();
      },
      (error: unknown) => say(getProblem(error).message, true),
    );
  };
  return (
    <button type="button" className="quiet small" onClick={retry} aria-label={`Retry task ${taskIndex}`}>
      Retry
    </button>
  );
}
