import type { ReactNode } from 'react';
import type { JobRow } from '../../../../src/schema/index.ts';
import { getJobState, sayRest } from '../../model/job-state.ts';
import { taskInks } from '../../model/palette.ts';
import { sayCount, sayShare } from '../../model/words.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Legend } from '../../parts/legend.tsx';
import { Loading, Panel } from '../../parts/notices.tsx';
import { FirstUse } from './first-use.tsx';
import { JobLink, JobProgress, WhyJob } from '../../parts/job-parts.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';

const shown = 8;

/** The jobs that run before those that have ended, the newest first. */
function first(jobs: readonly JobRow[]): JobRow[] {
  return jobs
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'))
    .slice(0, shown);
}

/** Jobs that run, and those that ended last, with their progress. */
export function JobsPanel(): ReactNode {
  const { go } = usePage();
  const jobs = useLive((state) => state.jobs?.jobs);
  return (
    <Panel title="Jobs" className="wide" aside={<Legend inks={Object.values(taskInks)} />}>
      {jobs === undefined ? (
        <Loading what="the jobs" />
      ) : jobs.length === 0 ? (
        <FirstUse />
      ) : (
        <>
          <JobTable jobs={first(jobs)} />
          <p className="more-jobs">
            <a
              href="/jobs"
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                go({ view: 'after' });
              }}
            >
              All jobs: search, filter, sort
            </a>
          </p>
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
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Status</th>
            <th scope="col" className="grow">
              Progress
            </th>
            <th scope="col" className="right">
              Done
            </th>
            <th scope="col">Remaining</th>
            <th scope="col">
              <span className="unseen">Why</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobLine key={job.job_id} job={job} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function JobLine({ job }: { readonly job: JobRow }): ReactNode {
  const { job_id: jobId, label, tasks, task_count: count } = job;
  return (
    <tr>
      <td>
        <JobLink jobId={jobId}>
          <b>{jobId}</b> {label === '' ? <span className="faint">no label</span> : <span>{label}</span>}
        </JobLink>
      </td>
      <td>
        <StatusBadge status={getJobState(job)} />
      </td>
      <td className="grow">
        <JobProgress job={job} />
      </td>
      <td className="right numbers">
        {sayShare(tasks.finished, count)} <span className="faint">of {sayCount(count)}</span>
      </td>
      <td className="numbers rest" title={sayRest(job, Date.now())}>
        {sayRest(job, Date.now())}
      </td>
      <td className="right">
        <WhyJob jobId={jobId} />
      </td>
    </tr>
  );
}
