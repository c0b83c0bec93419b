import type { ReactNode } from 'react';
import type { GridEvent } from '../../../../src/schema/index.ts';
import { sayEvent } from '../../model/events.ts';
import { isSampled } from '../../model/live-state.ts';
import type { Subject } from '../../model/subject.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Empty, Panel } from '../../parts/notices.tsx';

const shown = 60;

/** What happened last, the newest first. */
export function EventsPanel(): ReactNode {
  const events = useLive((state) => state.events);
  const areSampled = useLive(isSampled);
  return (
    <Panel
      title="Events"
      aside={areSampled ? <span className="faint">some are left out while there are many</span> : undefined}
    >
      {events.length === 0 ? (
        <Empty title="No events yet." />
      ) : (
        <ol className="events" tabIndex={0} aria-label="The latest events">
          {events
            .slice(-shown)
            .reverse()
            .map((event) => (
              <EventLine key={event.sequence} event={event} />
            ))}
        </ol>
      )}
    </Panel>
  );
}

/** Each job, task, machine and request that it names opens its own "why". */
function EventLine({ event }: { readonly event: GridEvent }): ReactNode {
  const { subject, topic, fact, machineId, more } = sayEvent(event);
  return (
    <li>
      <time>{new Date(event.at_unix_ms).toLocaleTimeString()}</time>{' '}
      {topic === undefined ? subject : <Why subject={topic}>{subject}</Why>} <b>{fact}</b>{' '}
      {machineId === '' ? null : (
        <>
          on <Why subject={{ kind: 'machine', machineId }}>{machineId}</Why>{' '}
        </>
      )}
      <span className="faint">{more}</span>
    </li>
  );
}

function Why({ subject, children }: { readonly subject: Subject; readonly children: ReactNode }): ReactNode {
  const { explain } = usePage();
  return (
    <button type="button" className="link" onClick={() => explain(subject)}>
      {children}
    </button>
  );
}
