import type { ReactNode } from 'react';
import type { Replica, TaskOutput } from '../../../src/schema/index.ts';
import { sayBytes, sayDuration } from '../model/words.ts';
import { useAnswer, usePage } from '../page-context.tsx';
import { Answered } from './notices.tsx';
import { StatusBadge } from './status-badge.tsx';

/** A task's replicas and what it printed. */
export function TaskCard({ jobId, taskIndex }: { readonly jobId: number; readonly taskIndex: number }): ReactNode {
  const asked = { params: { job_id: jobId, task_index: taskIndex } };
  const task = useAnswer('getTask', asked, 3000);
  const output = useAnswer('getTaskOutput', { ...asked, query: { tail_bytes: 16_384 } });
  return (
    <>
      <Answered answer={task} what="the task">
        {({ value, status, failure_count: failures, replicas }) => (
          <>
            <p className="row">
              <StatusBadge status={status} />
              {value === '' ? null : <code>{value}</code>}
              {failures > 0 ? <span className="faint">{failures} failed</span> : null}
            </p>
            {replicas.length === 0 ? null : (
              <>
                <h3>Replicas</h3>
                <ul className="plain-list">
                  {replicas.map((replica) => (
                    <ReplicaRow key={replica.replica_id} replica={replica} />
                  ))}
                </ul>
              </>
            )}
          </>
        )}
      </Answered>
      <Answered answer={output} what="the output">
        {(printed) => <Printed output={printed} />}
      </Answered>
    </>
  );
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
          <h3>Standard output{isCut ? ' (its end)' : ''}</h3>
          <pre tabIndex={0}>{out}</pre>
        </>
      )}
      {errors === '' ? null : (
        <>
          <h3>Standard error</h3>
          <pre tabIndex={0}>{errors}</pre>
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
