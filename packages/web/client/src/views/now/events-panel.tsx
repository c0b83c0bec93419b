import type { ReactNode } from 'react';
import type { GridEvent } from '../../../../src/schema/index.ts';
import { sayMany } from '../../model/words.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Empty, Panel } from '../../parts/notices.tsx';

const shown = 60;

/** What happened last, the newest first. */
export function EventsPanel(): ReactNode {
  const events = useLive((state) => state.events);
  const isSampled = useLive((state) => state.isSampled);
  return (
    <Panel title="Events" aside={isSampled ? <span className="faint">some are left out while very many come</span> : undefined}>
      {events.length === 0 ? <Empty title="Nothing has happened yet." /> : <ol className="events" tabIndex={0} aria-label="The latest events">{events.slice(-shown).reverse().map((event) => <EventLine key={event.sequence} event={event} />)}</ol>}
    </Panel>
  );
}

function EventLine({ event }: { readonly event: GridEvent }): ReactNode {
  const { explain } = usePage();
  const { at_unix_ms: at, type, job_id: jobId, task_indexes: tasks, task_count: count, machine_id: machineId, provider_id: provider, request_id: request, reason } = event;
  const [first] = tasks;
  return (
    <li>
      <time>{new Date(at).toLocaleTimeString()}</time> <b>{type}</b>{' '}
      {jobId === null ? null : <button type="button" className="link" onClick={() => explain(count === 1 && first !== undefined ? { kind: 'task', jobId, taskIndex: first } : { kind: 'job', jobId })}>{count > 1 ? `${sayMany(count, 'task')} of job ${jobId}` : count === 1 ? `task ${first ?? ''} of job ${jobId}` : `job ${jobId}`}</button>}{' '}
      <span className="faint">{[machineId, request === '' ? provider : request, reason].filter((part) => part !== '').join(' · ')}</span>
    </li>
  );
}
