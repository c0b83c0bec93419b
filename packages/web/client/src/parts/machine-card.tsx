import type { ReactNode } from 'react';
import type { MachineDetail } from '../../../src/schema/index.ts';
import { listUses } from '../model/machine-use.ts';
import { sayAgo, sayCount, sayDuration, sayMany } from '../model/words.ts';
import { useAnswer, usePage } from '../page-context.tsx';
import { Answered, Empty } from './notices.tsx';

/** A machine and what it runs. */
export function MachineCard({ machineId }: { readonly machineId: string }): ReactNode {
  const answer = useAnswer('getMachine', { query: { machine_id: machineId } }, 3000);
  return (
    <Answered answer={answer} what="the machine">
      {(detail) => (
        <>
          <Uses detail={detail} />
          <Facts detail={detail} />
          <Running detail={detail} />
        </>
      )}
    </Answered>
  );
}

/** A bar for each shared resource, with a piece for each task that holds some of it. */
function Uses({ detail }: { readonly detail: MachineDetail }): ReactNode {
  return (
    <dl className="uses">
      {listUses(detail).map(({ title, total, parts, says }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <span className="use-bar" role="img" aria-label={`${title}: ${says} held by tasks`}>
              {parts.map(({ task, amount }, index) => (
                <i key={index} title={task} style={{ width: `${(100 * amount) / Math.max(total, sum(parts))}%` }} />
              ))}
            </span>
            <span className="numbers">{says}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function sum(parts: readonly { readonly amount: number }[]): number {
  return parts.reduce((total, { amount }) => total + amount, 0);
}

function Facts({ detail: { machine } }: { readonly detail: MachineDetail }): ReactNode {
  const now = Date.now();
  const facts: (readonly [string, string])[] = [
    ['Status', machine.status],
    ['Provider', machine.provider_id],
    ['Processors', sayCount(machine.processors)],
    ['Joined', sayAgo(machine.joined_unix_ms, now)],
    [
      'Leaves',
      machine.until_unix_ms === null
        ? 'no end known'
        : machine.until_unix_ms > now
          ? `in ${sayDuration(machine.until_unix_ms - now)}`
          : 'now',
    ],
    ['Finished', sayMany(machine.finished_count, 'run')],
    ['Failed', sayMany(machine.failed_count, 'run')],
  ];
  if (machine.request_id !== '') facts.push(['Request', machine.request_id]);
  if (machine.credibility !== null) facts.push(['Credibility', machine.credibility.toFixed(4)]);
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Running({ detail: { running, is_complete: isComplete } }: { readonly detail: MachineDetail }): ReactNode {
  const { explain } = usePage();
  if (running.length === 0)
    return (
      <Empty title={isComplete ? 'No task is running here.' : 'Its tasks are not among those that the page lists.'} />
    );
  return (
    <>
      <h3>Running tasks</h3>
      <ul className="plain-list">
        {running
          .slice(0, 100)
          .map(({ job_id: jobId, task_index: taskIndex, value, replica_id: replicaId, started_unix_ms: started }) => (
            <li key={replicaId}>
              <button type="button" className="link" onClick={() => explain({ kind: 'task', jobId, taskIndex })}>
                task {taskIndex} of job {jobId}
              </button>{' '}
              <span className="faint">
                {value === '' ? '' : `${value}, `}
                {started === null ? 'staging' : `since ${sayDuration(Date.now() - started)}`}
              </span>
            </li>
          ))}
      </ul>
    </>
  );
}
