import type { ReactNode } from 'react';
import type { JobRow } from '../../../../src/schema/index.ts';
import { getJobState, sayRest } from '../../model/job-state.ts';
import { sayAgo, sayCount, sayShare } from '../../model/words.ts';
import { JobLink, JobProgress, WhyJob } from '../../parts/job-parts.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';

/** The cells of a job in the list of all. */
export function JobCells({ job }: { readonly job: JobRow }): ReactNode {
  const { job_id: jobId, label, tasks, task_count: count, submitted_unix_ms: submitted } = job;
  return (
    <>
      <td className="numbers">
        <JobLink jobId={jobId}>
          <b>{jobId}</b>
          <span className="unseen"> {label}</span>
        </JobLink>
      </td>
      <td className="label-cell" title={label}>
        {label === '' ? <span className="faint">no label</span> : label}
      </td>
      <td>
        <StatusBadge status={getJobState(job)} />
      </td>
      <td className="grow">
        <JobProgress job={job} />
      </td>
      <td className="right numbers">
        <span className="faint">{sayShare(tasks.finished, count)} of</span> {sayCount(count)}
      </td>
      <td className="numbers">
        <time dateTime={new Date(submitted).toISOString()} title={new Date(submitted).toLocaleString()}>
          {sayAgo(submitted, Date.now())}
        </time>
      </td>
      <td className="numbers rest" title={sayRest(job, Date.now())}>
        {sayRest(job, Date.now())}
      </td>
      <td className="right">
        <WhyJob jobId={jobId} />
      </td>
    </>
  );
}
