import { useEffect, type ReactNode } from 'react';
import type { Replica, Task, TaskOutput } from '../../../src/schema/index.ts';
import { sayBytes, sayDuration, sayMany } from '../model/words.ts';
import { useAnswer, usePage } from '../page-context.tsx';
import { Answered } from './notices.tsx';
import { LiveOutput } from './live-output.tsx';
import { OutputText } from './output-text.tsx';
import { RetryTask } from './retry-task.tsx';
import { StatusBadge } from './status-badge.tsx';

/** A task's runs and what it printed. */
export function TaskCard({ jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number }): ReactNode {
  const task = useAnswer('getTask', { params: { job_id: jobId, task_index: taskIndex } }, 3000);
  return (
    <>
      <Answered answer={task} what="the task">
        {(value) => <Runs task={value} again={task.again} />}
      </Answered>
      {task.value === undefined ? null : <Output task={task.value} />}
    </>
  );
}

function Runs({ task, again }: { readonly task: Task; readonly again: () => void }): ReactNode {
  const { value, status, failure_count: failures, replicas, job_id: jobId, task_index: taskIndex } = task;
  const runs = replicas.filter((replica) => !replica.is_withdrawn);
  const withdrawn = replicas.length - runs.length;
  return (
    <>
      <p className="row">
        <StatusBadge status={status} />
        {value === '' ? null : <code>{value}</code>}
        {failures > 0 ? <span className="faint">{sayMany(failures, 'run')} failed</span> : null}
        {status === 'failed' || status === 'cancelled' ? (
          <RetryTask jobId={jobId} taskIndex={taskIndex} again={again} />
        ) : null}
      </p>
      {runs.length === 0 ? null : (
        <>
          <h3>Runs</h3>
          <ul className="plain-list">
            {runs.map((replica) => (
              <ReplicaRow key={replica.replica_id} replica={replica} />
            ))}
          </ul>
        </>
      )}
      {withdrawn === 0 ? null : (
        <p className="hint">
          {sayMany(withdrawn, 'copy', 'copies')} staged ahead on other machines and withdrawn before{' '}
          {withdrawn === 1 ? 'it' : 'they'} began.
        </p>
      )}
    </>
  );
}

/** A run has an output when it has ended; one that was taken back before it began never has. */
function Output({ task }: { readonly task: Task }): ReactNode {
  const { job_id: jobId, task_index: taskIndex, status, replicas, reused_from: reused } = task;
  const ended = replicas.filter((replica) => !replica.is_withdrawn && replica.ended_unix_ms !== null).length;
  const hasOutput = reused !== null || ended > 0;
  const output = useAnswer(
    'getTaskOutput',
    hasOutput && status !== 'running'
      ? { params: { job_id: jobId, task_index: taskIndex }, query: { tail_bytes: 65_536 } }
      : undefined,
    status === 'verifying' ? 3000 : 0,
  );
  const { again } = output;
  useEffect(() => {
    if (ended > 0) again();
  }, [ended, status, again]);
  if (status === 'running') return <LiveOutput jobId={jobId} taskIndex={taskIndex} />;
  if (hasOutput)
    return (
      <Answered answer={output} what="the output">
        {(printed) => <Printed output={printed} />}
      </Answered>
    );
  return null;
}

function ReplicaRow({ replica }: { readonly replica: Replica }): ReactNode {
  const { explain } = usePage();
  const {
    machine_id: machineId,
    started_unix_ms: started,
    ended_unix_ms: ended,
    outcome,
    accepted,
    exit_status: exitStatus,
    reason,
    detail,
  } = replica;
  const took = started === null ? 'staging' : sayDuration((ended ?? Date.now()) - started);
  const how =
    outcome === ''
      ? 'runs'
      : accepted
        ? 'accepted'
        : outcome === 'failed'
          ? `failed with status ${exitStatus}`
          : outcome;
  return (
    <li>
      <button type="button" className="link" onClick={() => explain({ kind: 'machine', machineId })}>
        {machineId}
      </button>{' '}
      <span>{how}</span>{' '}
      <span className="faint">
        {took}
        {reason === '' ? '' : `; ${reason}`}
        {detail === null ? '' : `: ${detail.text}`}
      </span>
    </li>
  );
}

function Printed({ output }: { readonly output: TaskOutput }): ReactNode {
  const { standard_output: out, standard_error: errors, is_cut: isCut, files } = output;
  return (
    <>
      {out === '' ? null : (
        <>
          <h3>Standard output{isCut ? ' (a part of it)' : ''}</h3>
          <OutputText text={out} label="Standard output" />
        </>
      )}
      {errors === '' ? null : (
        <>
          <h3>Standard error</h3>
          <OutputText text={errors} label="Standard error" />
        </>
      )}
      {files.length === 0 ? null : (
        <>
          <h3>Files</h3>
          <ul className="plain-list">
            {files.map(({ path, local_path: localPath, size_bytes: size }) => (
              <li key={path}>
                <code>{localPath || path}</code> <span className="faint">{sayBytes(size)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
