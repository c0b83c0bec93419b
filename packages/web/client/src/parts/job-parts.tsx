import type { ReactNode } from 'react';
import type { JobRow } from '../../../src/schema/index.ts';
import { taskInks, type TaskState } from '../model/palette.ts';
import { sayCount } from '../model/words.ts';
import { usePage } from '../page-context.tsx';
import { StackedBar } from './legend.tsx';

const states = Object.keys(taskInks) as TaskState[];

/** How far a job is, as a bar. */
export function JobProgress({ job: { tasks, task_count: count } }: { readonly job: JobRow }): ReactNode {
  const said =
    `${sayCount(tasks.finished)} of ${sayCount(count)} finished, ${sayCount(tasks.running)} running, ` +
    `${sayCount(tasks.failed)} failed`;
  return <StackedBar parts={states.map((state) => ({ ink: taskInks[state], value: tasks[state] }))} label={said} />;
}

/** A link to a job's own page, followed without a load. */
export function JobLink({ jobId, children }: { readonly jobId: number; readonly children: ReactNode }): ReactNode {
  const { go } = usePage();
  return (
    <a
      href={`/jobs/${jobId}`}
      className="job-name"
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go({ view: 'after', jobId });
      }}
    >
      {children}
    </a>
  );
}

/** Opens why a job is where it is. */
export function WhyJob({ jobId }: { readonly jobId: number }): ReactNode {
  const { explain } = usePage();
  return (
    <button
      type="button"
      className="quiet small"
      onClick={() => explain({ kind: 'job', jobId })}
      aria-label={`Why is job ${jobId} in this state?`}
    >
      why?
    </button>
  );
}
