import { useState, type ReactNode } from 'react';
import type { GridEvent } from '../../../../src/schema/index.ts';
import { foldEvents, isTrouble, sayEvent } from '../../model/events.ts';
import { isSampled } from '../../model/live-state.ts';
import type { Subject } from '../../model/subject.ts';
import { sayCount } from '../../model/words.ts';
import { useLive, usePage } from '../../page-context.tsx';
import { Empty, Panel } from '../../parts/notices.tsx';

const shown = 60;

/**
 * What happened last, the newest first. The list rests while a pointer or the focus is in it, so that nothing moves away
 * from under them.
 */
export function EventsPanel(): ReactNode {
  const live = useLive((state) => state.events);
  const areSampled = useLive(isSampled);
  const [rested, setRested] = useState<readonly GridEvent[]>();
  const [isOfTrouble, setOfTrouble] = useState(false);
  const events = rested ?? live;
  const lines = foldEvents(isOfTrouble ? events.filter(isTrouble) : events, shown);
  const rest = (): void => setRested((old) => old ?? live);
  const goOn = (): void => setRested(undefined);
  return (
    <Panel
      title="Events"
      aside={
        <span className="row">
          <span className="faint" role="status">
            {rested === undefined
              ? areSampled
                ? 'too many at once: some are not shown'
                : ''
              : sayPaused(live, events)}
          </span>
          <button type="button" className="small" aria-pressed={isOfTrouble} onClick={() => setOfTrouble(!isOfTrouble)}>
            Failures only
          </button>
        </span>
      }
    >
      {lines.length === 0 ? (
        <Empty title={isOfTrouble && events.length > 0 ? 'No failures among the latest events.' : 'No events yet.'} />
      ) : (
        <ol
          className="events"
          tabIndex={0}
          aria-label="The latest events"
          onPointerEnter={rest}
          onPointerLeave={goOn}
          onFocus={rest}
          onBlur={goOn}
        >
          {lines.map((event) => (
            <EventLine key={event.sequence} event={event} />
          ))}
        </ol>
      )}
    </Panel>
  );
}

function sayPaused(live: readonly GridEvent[], shownEvents: readonly GridEvent[]): string {
  const last = shownEvents.at(-1)?.sequence ?? 0;
  const newer = live.filter(({ sequence }) => sequence > last).length;
  return `paused${newer > 0 ? `, ${sayCount(newer)} newer` : ''}`;
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
