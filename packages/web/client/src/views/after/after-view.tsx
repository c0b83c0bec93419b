import { lazy, Suspense, useRef, type ReactNode } from 'react';
import type { JobDetail } from '../../../../src/schema/index.ts';
import { getProblem } from '../../gateway/gateway.ts';
import { getJobState } from '../../model/job-state.ts';
import { taskInks, type TaskState } from '../../model/palette.ts';
import { getPath } from '../../model/place.ts';
import { sayAgo, sayCount, sayDuration, sayMany, sayRemaining } from '../../model/words.ts';
import { useAnswer, useLive, usePage } from '../../page-context.tsx';
import { StackedBar, Swatch } from '../../parts/legend.tsx';
import { Answered, Empty, Loading, Panel } from '../../parts/notices.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { LedgerPicture } from '../now/ledger-panel.tsx';
import { Downloads } from './downloads.tsx';
import { EndNotice } from './end-notice.tsx';
import { FailuresPanel } from './failures-panel.tsx';
import { GanttChart } from './gantt-chart.tsx';
import { AgainButton, SteerButtons, SteerForm } from './steering.tsx';
import { TimesPanels } from './times-panel.tsx';
import { useTaskSpec } from './use-task-spec.ts';

const TasksPanel = lazy(async () => ({ default: (await import('./tasks-panel.tsx')).TasksPanel }));
const JobGraphPanel = lazy(async () => ({ default: (await import('./job-graph-panel.tsx')).JobGraphPanel }));

/** What became of a job. */
export function AfterView({ jobId }: { readonly jobId: number }): ReactNode {
  return <OneJob key={jobId} jobId={jobId} />;
}

function OneJob({ jobId }: { readonly jobId: number }): ReactNode {
  const live = useLive((state) => (state.job?.job.job_id === jobId ? state.job : undefined));
  const answer = useAnswer('getJob', { params: { job_id: jobId } });
  const detail = live ?? answer.value;
  if (detail !== undefined) return <KnownJob detail={detail} />;
  return (
    <div className="view">
      <section className="panel">
        <h1>Job {jobId}</h1>
        <Answered answer={answer} what={`job ${jobId}`}>
          {() => null}
        </Answered>
        <p>
          <AllJobsLink />
        </p>
      </section>
    </div>
  );
}

/** Failures come first where there are any, and what lies below waits for them, so that it does not move. */
function KnownJob({ detail }: { readonly detail: JobDetail }): ReactNode {
  const { job_id: jobId, status, tasks: counts } = detail.job;
  const everyMs = status === 'running' ? 4000 : 0;
  const failed = useAnswer('getFailures', { params: { job_id: jobId } }, everyMs);
  const [spec, setSpec] = useTaskSpec();
  const tasks = useRef<HTMLDivElement>(null);
  const pick = (picked: TaskState): void => {
    setSpec({ status: picked, search: '' });
    tasks.current?.scrollIntoView({ block: 'start' });
  };
  const failures = <FailuresPanel jobId={jobId} answer={failed} />;
  const hasFailed = counts.failed > 0;
  return (
    <div className="view job">
      <JobHead detail={detail} pick={pick} />
      {hasFailed ? failures : null}
      {hasFailed && failed.isLoading ? null : (
        <>
          {detail.is_workflow ? (
            <div className="whole graph-place">
              <Suspense fallback={<Loading what="the graph" />}>
                <JobGraphPanel jobId={jobId} everyMs={everyMs === 0 ? 0 : 1000} />
              </Suspense>
            </div>
          ) : null}
          <div className="whole tasks-place" ref={tasks} style={{ minHeight: tasksHeight(detail.job.task_count) }}>
            <Suspense fallback={<Loading what="the tasks" />}>
              <TasksPanel job={detail.job} spec={spec} setSpec={setSpec} />
            </Suspense>
          </div>
          {detail.job.replica_count === 0 ? null : (
            <WhatRan jobId={jobId} everyMs={everyMs} failures={hasFailed ? null : failures} />
          )}
          <StatedPanel detail={detail} />
        </>
      )}
    </div>
  );
}

/** Pictures of what ran: of no use before anything has. */
function WhatRan({
  jobId,
  everyMs,
  failures,
}: {
  readonly jobId: number;
  readonly everyMs: number;
  readonly failures: ReactNode;
}): ReactNode {
  return (
    <>
      <GanttPanel jobId={jobId} everyMs={everyMs} />
      <TimesPanels jobId={jobId} everyMs={everyMs} />
      {failures}
      <CostPanel jobId={jobId} everyMs={everyMs} />
    </>
  );
}

/** Room for the list of tasks before it has been read, so that what lies below does not move. */
function tasksHeight(taskCount: number): number {
  return 118 + Math.min(420, 34 + 33 * taskCount);
}

function AllJobsLink(): ReactNode {
  const { go } = usePage();
  return (
    <a
      href={getPath({ view: 'after' })}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go({ view: 'after' });
      }}
    >
      All jobs
    </a>
  );
}

function JobHead({
  detail: { job, is_workflow: isWorkflow },
  pick,
}: {
  readonly detail: JobDetail;
  readonly pick: (status: TaskState) => void;
}): ReactNode {
  const states = Object.keys(taskInks) as TaskState[];
  const took = (job.ended_unix_ms ?? Date.now()) - job.submitted_unix_ms;
  return (
    <section className="panel whole job-head">
      <div className="row">
        <h1>
          Job {job.job_id} <span className="faint">{job.label}</span>
        </h1>
        <StatusBadge status={getJobState(job)} />
        <JobTags job={job} />
        <JobActions job={job} isWorkflow={isWorkflow} />
      </div>
      <p className="hint">
        Submitted {sayAgo(job.submitted_unix_ms, Date.now())},{' '}
        {job.status === 'running' ? sayLeft(job) : `took ${sayDuration(took)}`}; {sayMany(job.task_count, 'task')}
        {job.doubtful_count > 0 ? `; ${sayCount(job.doubtful_count)} results are doubtful` : ''}
        {job.cancel_reason === null ? '' : `; cancelled: ${job.cancel_reason.text}`}
      </p>
      <JobWaiting job={job} />
      <StackedBar
        parts={states.map((state) => ({ ink: taskInks[state], value: job.tasks[state] }))}
        label={`${sayCount(job.tasks.finished)} of ${sayCount(job.task_count)} tasks finished`}
      />
      <StateCounts tasks={job.tasks} pick={pick} />
    </section>
  );
}

/** Special settings of a job: open for more tasks, held tasks, priority, or a limit of tasks at once. */
function JobTags({ job }: { readonly job: JobDetail['job'] }): ReactNode {
  const isRunning = job.status === 'running';
  const tags = [
    isRunning && job.is_open ? 'open for more tasks' : '',
    isRunning && job.held_count > 0 ? `${sayMany(job.held_count, 'task')} held` : '',
    job.priority === 0 ? '' : `priority ${job.priority}`,
    isRunning && job.running_max !== null ? `at most ${sayCount(job.running_max)} at once` : '',
  ];
  return tags
    .filter((tag) => tag !== '')
    .map((tag) => (
      <span key={tag} className="state">
        {tag}
      </span>
    ));
}

/** The jobs or the time that a job without running tasks waits for. */
function JobWaiting({ job }: { readonly job: JobDetail['job'] }): ReactNode {
  if (job.waiting === null || job.status !== 'running') return null;
  return job.is_blocked ? (
    <p className="refusal" role="alert">
      <b>Blocked.</b> {job.waiting.text}
    </p>
  ) : (
    <p className="hint">{job.waiting.text}</p>
  );
}

/** The buttons of a job. */
function JobActions({ job, isWorkflow }: { readonly job: JobDetail['job']; readonly isWorkflow: boolean }): ReactNode {
  const { gateway, explain, say } = usePage();
  const act = (what: Promise<string>): void => {
    what.then(
      (text) => say(text),
      (error: unknown) => say(getProblem(error).message, true),
    );
  };
  const cancel = (): void => {
    if (window.confirm(`Cancel job ${job.job_id}? Its running tasks are stopped.`))
      act(
        gateway
          .call('cancelJob', { params: { job_id: job.job_id }, body: { reason: 'cancelled on the page' } })
          .then(() => `Job ${job.job_id} is cancelled.`),
      );
  };
  const retry = (withCurrentInputs: boolean): void =>
    act(
      gateway
        .call('retryTasks', { params: { job_id: job.job_id }, body: { current_inputs: withCurrentInputs } })
        .then(({ retried_count: count }) => `${sayMany(count, 'task')} run again.`),
    );
  return (
    <span className="row end">
      <Downloads jobId={job.job_id} what="report" formats={['html']} />
      <button type="button" onClick={() => explain({ kind: 'job', jobId: job.job_id })}>
        Why?
      </button>
      <EndNotice job={job} />
      {isWorkflow ? null : <AgainButton jobId={job.job_id} />}
      {job.status === 'running' ? <SteerButtons job={job} /> : null}
      {job.tasks.failed + job.tasks.cancelled > 0 ? <RetryButtons retry={retry} /> : null}
      {job.status === 'running' ? (
        <button type="button" className="danger" onClick={cancel}>
          Cancel
        </button>
      ) : null}
    </span>
  );
}

function sayLeft({ remaining_ms_min: least, remaining_ms_max: most }: JobDetail['job']): string {
  return least === null && most === null ? 'remaining time unknown' : `remaining ${sayRemaining(least, most)}`;
}

/** Tasks by state; each leads to the list of these. */
function StateCounts({
  tasks,
  pick,
}: {
  readonly tasks: JobDetail['job']['tasks'];
  readonly pick: (status: TaskState) => void;
}): ReactNode {
  return (
    <ul className="legend">
      {(Object.keys(taskInks) as TaskState[]).map((state) => (
        <li key={state}>
          <Swatch ink={taskInks[state]} />
          {tasks[state] === 0 ? (
            <>
              {state} <b>0</b>
            </>
          ) : (
            <button type="button" className="link" onClick={() => pick(state)} title={`List the ${state} tasks`}>
              {state} <b>{sayCount(tasks[state])}</b>
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function RetryButtons({ retry }: { retry(withCurrentInputs: boolean): void }): ReactNode {
  return (
    <>
      <button
        type="button"
        title="With the input files as they were when the job was submitted"
        onClick={() => retry(false)}
      >
        Retry failed tasks
      </button>
      <button
        type="button"
        title="With the input files as they are now, for example after correcting a script"
        onClick={() => retry(true)}
      >
        Retry with current inputs
      </button>
    </>
  );
}

function GanttPanel({ jobId, everyMs }: { readonly jobId: number; readonly everyMs: number }): ReactNode {
  const answer = useAnswer('getGantt', { params: { job_id: jobId }, query: { bars_max: 6000 } }, everyMs);
  return (
    <Panel
      title="By machine"
      className="whole"
      aside={<Downloads jobId={jobId} what="gantt" formats={['svg', 'json']} />}
    >
      <Answered answer={answer} what="the run history">
        {(gantt) => (gantt.rows.length === 0 ? <Empty title="Nothing has run yet." /> : <GanttChart gantt={gantt} />)}
      </Answered>
    </Panel>
  );
}

function CostPanel({ jobId, everyMs }: { readonly jobId: number; readonly everyMs: number }): ReactNode {
  const answer = useAnswer('getJobLedger', { params: { job_id: jobId } }, everyMs);
  return (
    <Panel title="Cost" aside={<Downloads jobId={jobId} what="ledger" formats={['csv', 'json']} />}>
      <Answered answer={answer} what="the cost">
        {(ledger) => <LedgerPicture ledger={ledger} />}
      </Answered>
    </Panel>
  );
}

function StatedPanel({ detail }: { readonly detail: JobDetail }): ReactNode {
  const facts: (readonly [string, string])[] = [
    ['Priority', String(detail.job.priority)],
    ['Tasks at once', detail.job.running_max === null ? 'no limit' : sayCount(detail.job.running_max)],
    ['Scheduler', detail.scheduler],
    ['Maximum replicas', String(detail.replicas_max)],
    ['Maximum failures', String(detail.failures_max)],
    ['Processors each', `${detail.processors}${detail.is_gang ? ', a gang' : ''}`],
    ['Folder', detail.home_directory || 'none'],
    ['Replication budget', detail.replication_budget],
    ['Verified by', detail.verification || 'checks, if any'],
  ];
  return (
    <Panel
      title="Options of the job"
      aside={<Downloads jobId={detail.job.job_id} what="replicas" formats={['csv', 'json']} />}
    >
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {detail.job.status === 'running' ? <SteerForm job={detail.job} /> : null}
      {detail.groups.slice(0, 8).map((group, index) => (
        <div key={index} className="group">
          <span className="faint">{sayMany(group.task_count, 'task')}</span>
          <code>{group.no_op ? '(nothing: a no-op)' : group.command}</code>
        </div>
      ))}
      {detail.group_count > 8 ? <p className="hint">and {sayMany(detail.group_count - 8, 'other group')}</p> : null}
    </Panel>
  );
}
