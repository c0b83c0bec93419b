import type { ReactNode } from 'react';
import type { FailureGroup, Failures } from '../../../../src/schema/index.ts';
import { nameTask } from '../../model/task-list.ts';
import { sayCount, sayMany, saySentence } from '../../model/words.ts';
import { usePage, type Answer } from '../../page-context.tsx';
import { Downloads } from './downloads.tsx';
import { Answered, Empty, Panel } from '../../parts/notices.tsx';

/** What went wrong, by cause, with what one of each printed. */
export function FailuresPanel({
  jobId,
  answer,
}: {
  readonly jobId: number;
  readonly answer: Answer<Failures>;
}): ReactNode {
  const { value } = answer;
  return (
    <Panel
      title="Failures"
      className="whole"
      aside={
        value === undefined ? undefined : (
          <span className="row">
            <span className="faint">
              {sayMany(value.replica_count, 'run')} failed
              {value.lost_count > 0 ? `, ${sayCount(value.lost_count)} lost with their machine` : ''}
            </span>
            {value.groups.length === 0 ? null : <Downloads jobId={jobId} what="failures" formats={['csv', 'json']} />}
          </span>
        )
      }
    >
      <Answered answer={answer} what="failures">
        {({ groups, causes_left_out: left }) =>
          groups.length === 0 ? (
            <Empty title="Nothing failed." />
          ) : (
            <>
              {groups.map((group, index) => (
                <Cause key={index} group={group} jobId={jobId} />
              ))}
              {left > 0 ? <p className="hint">and {sayMany(left, 'other cause')}</p> : null}
            </>
          )
        }
      </Answered>
    </Panel>
  );
}

function Cause({ group, jobId }: { readonly group: FailureGroup; readonly jobId: number }): ReactNode {
  const { explain } = usePage();
  const { sample } = group;
  return (
    <details className="cause" open={sample !== null}>
      <summary>
        <b>{saySentence(group.cause)}</b>{' '}
        <span className="faint">
          {sayMany(group.replica_count, 'run')}
          {group.is_loss ? ' lost,' : ''} of {sayMany(group.task_count, 'task')}
          {group.given_up_count > 0 ? `, ${sayCount(group.given_up_count)} given up` : ''}
        </span>
      </summary>
      {group.advice === '' && group.reason === '' ? null : (
        <p className="hint">
          {group.advice} {group.reason === '' ? null : <code className="faint">{group.reason}</code>}
        </p>
      )}
      <p className="hint">
        Tasks{' '}
        {group.task_indexes.slice(0, 12).map((taskIndex, index) => (
          <span key={taskIndex}>
            <button type="button" className="link" onClick={() => explain({ kind: 'task', jobId, taskIndex })}>
              {nameTask(taskIndex, group.task_values[index] ?? '')}
            </button>
            {index < Math.min(12, group.task_indexes.length) - 1 ? ', ' : ' '}
          </span>
        ))}
        {group.task_count > 12 ? '… ' : ''}on{' '}
        {group.machines.slice(0, 6).map(({ machine_id: machineId, count }) => (
          <span key={machineId}>
            <button type="button" className="link" onClick={() => explain({ kind: 'machine', machineId })}>
              {machineId}
            </button>{' '}
            ({count}){' '}
          </span>
        ))}
      </p>
      {sample === null ? null : (
        <pre tabIndex={0} aria-label={`Output of task ${sample.task_index}`}>
          {sample.standard_error || sample.standard_output || '(no output)'}
        </pre>
      )}
    </details>
  );
}
