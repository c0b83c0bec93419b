import { useState, type ReactNode } from 'react';
import type { JobRow } from '../../../../src/schema/index.ts';
import { taskInks, type TaskState } from '../../model/palette.ts';
import { sayAgo, sayCount, sayRemaining, sayShare } from '../../model/words.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Legend, StackedBar } from '../../parts/legend.tsx';
import { Empty, Loading, Panel } from '../../parts/notices.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';

const shownAtFirst = 8;
const states = Object.keys(taskInks) as TaskState[];

/** Jobs, the newest first, with their progress. */
export function JobsPanel(): ReactNode {
  const { go } = usePage();
  const jobs = useLive((state) => state.jobs?.jobs);
  const [shown, setShown] = useState(shownAtFirst);
  return (
    <Panel title="Jobs" className="wide" aside={<Legend inks={Object.values(taskInks)} />}>
      {jobs === undefined ? <Loading what="the jobs" /> : jobs.length === 0 ? <Empty title="There are no jobs yet."><button type="button" onClick={() => go({ view: 'submit' })}>Submit the first one</button></Empty> : (
        <>
          <JobTable jobs={jobs.slice(0, shown)} />
          {jobs.length > shown ? <button type="button" className="quiet more" onClick={() => setShown(shown + 40)}>Show more of the {sayCount(jobs.length)} latest</button> : null}
        </>
      )}
    </Panel>
  );
}

/** A table of jobs; each opens its own page, and its "why". */
export function JobTable({ jobs }: { readonly jobs: readonly JobRow[] }): ReactNode {
  return (
    <div className="scroll-x" tabIndex={0} role="region" aria-label="Table of jobs">
      <table className="jobs">
        <thead><tr><th scope="col">Job</th><th scope="col">Status</th><th scope="col" className="grow">Progress</th><th scope="col" className="right">Done</th><th scope="col">Remaining</th><th scope="col"><span className="unseen">Why</span></th></tr></thead>
        <tbody>{jobs.map((job) => <JobLine key={job.job_id} job={job} />)}</tbody>
      </table>
    </div>
  );
}

function JobLine({ job }: { readonly job: JobRow }): ReactNode {
  const { go, explain } = usePage();
  const { job_id: jobId, label, status, tasks, task_count: count } = job;
  const parts = states.map((state) => ({ ink: taskInks[state], value: tasks[state] }));
  const said = `${sayCount(tasks.finished)} of ${sayCount(count)} finished, ${sayCount(tasks.running)} running, ${sayCount(tasks.failed)} failed`;
  return (
    <tr>
      <td><a href={`/jobs/${jobId}`} className="job-name" onClick={(event) => { if (event.metaKey || event.ctrlKey) return; event.preventDefault(); go({ view: 'after', jobId }); }}><b>{jobId}</b> {label === '' ? <span className="faint">no label</span> : <span>{label}</span>}</a></td>
      <td><StatusBadge status={status} /></td>
      <td className="grow"><StackedBar parts={parts} label={said} /></td>
      <td className="right numbers">{sayShare(tasks.finished, count)} <span className="faint">of {sayCount(count)}</span></td>
      <td className="numbers">{remainingOf(job)}</td>
      <td className="right"><button type="button" className="quiet small" onClick={() => explain({ kind: 'job', jobId })} aria-label={`Why is job ${jobId} where it is?`}>why?</button></td>
    </tr>
  );
}

function remainingOf({ status, remaining_ms_min: least, remaining_ms_max: most, ended_unix_ms: ended, doubtful_count: doubtful }: JobRow): string {
  if (status === 'running') return sayRemaining(least, most);
  const when = ended === null ? '' : sayAgo(ended, Date.now());
  return doubtful > 0 ? `${when}; ${sayCount(doubtful)} doubtful` : when;
}
