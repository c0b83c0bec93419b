import { useState, type ReactNode } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { isOpen, sayAmount, type ReservableResource, type Reservation, type Slot } from '../../model/calendar.ts';
import { sayCount, sayMany } from '../../model/words.ts';
import { useAnswer } from '../../page-context.tsx';
import { Answered, Empty, Panel } from '../../parts/notices.tsx';
import { CalendarPicture } from './calendar-picture.tsx';
import { ReservationForm, type Spec } from './reservation-form.tsx';
import { ReservationTable } from './reservation-table.tsx';

const hour = 3_600_000;
const spans = [
  [6 * hour, '6 hours'],
  [24 * hour, 'A day'],
  [7 * 24 * hour, 'A week'],
  [28 * 24 * hour, '4 weeks'],
] as const;

/** What is reserved of each resource, and reserving by drawing. */
export function ReservationsView(): ReactNode {
  const resources = useAnswer('listResources', {}, 30_000);
  const [chosen, setChosen] = useState<string>();
  return (
    <div className="view">
      <h1>Reservations</h1>
      <Answered answer={resources} what="the resources">
        {({ resources: list }) => {
          const resource = list.find(({ resource_id: id }) => id === chosen) ?? list[0];
          if (resource === undefined)
            return (
              <section className="panel">
                <Empty title="Nothing can be reserved in this grid.">
                  A reservation manager is started with <code>mutirao run reservations</code>; resources are added to it
                  with <code>mutirao reservation resource add</code>.
                </Empty>
              </section>
            );
          return (
            <>
              <div className="tabs" role="tablist" aria-label="Resources">
                {list.map((one) => (
                  <button
                    key={one.resource_id}
                    type="button"
                    role="tab"
                    aria-selected={one === resource}
                    className="tab"
                    onClick={() => setChosen(one.resource_id)}
                  >
                    {one.resource_id}
                    <span className="faint">
                      {sayAmount(one.total, one)}
                      {one.failed > 0 ? `, ${sayCount(one.failed)} failed` : ''}
                    </span>
                  </button>
                ))}
              </div>
              <Calendar key={resource.resource_id} resource={resource} />
            </>
          );
        }}
      </Answered>
    </div>
  );
}

/** How full the resource is in what is shown, and how much of that its viewer may see. */
function describe({ resource, utilisation, reservations }: RouteReply<'getCalendar'>): string {
  const seen = reservations.filter(isOpen).length;
  const owner = resource.owner_id === '' ? '' : ` The resource is ${resource.owner_id}'s.`;
  return (
    `${Math.round(utilisation * 100)} % is reserved in the time shown. ` +
    `${seen === 0 ? 'There are no reservations that you may see.' : `You may see ${sayMany(seen, 'reservation')}.`}${owner}`
  );
}

function Calendar({ resource }: { readonly resource: ReservableResource }): ReactNode {
  const [span, setSpan] = useState<number>(24 * hour);
  const [from, setFrom] = useState(() => Math.floor((Date.now() - hour) / hour) * hour);
  const [spec, setSpec] = useState<Spec>();
  const [typed, setTyped] = useState<Slot>();
  const drawn = spec === undefined || typed === undefined ? spec : { ...spec, slot: typed };
  const calendar = useAnswer(
    'getCalendar',
    { query: { resource_id: resource.resource_id, from_unix_ms: from, until_unix_ms: from + span } },
    5000,
  );
  const move = (shares: number): void => setFrom((old) => Math.max(0, old + Math.round((span * shares) / hour) * hour));
  const done = (): void => {
    setSpec(undefined);
    calendar.again();
  };
  const draw = (slot: Slot): void => setSpec({ kind: 'request', slot });
  const change = (reservation: Reservation, slot?: Slot): void =>
    setSpec({
      kind: 'change',
      reservation,
      slot: slot ?? { start: reservation.start_unix_ms, end: reservation.end_unix_ms, amount: reservation.amount },
    });
  const fresh = (): void => draw(freshSlot());
  return (
    <>
      <Panel
        title={`Calendar of ${resource.resource_id}`}
        aside={
          <CalendarTools
            span={span}
            setSpan={setSpan}
            move={move}
            showToday={() => setFrom(Math.floor((Date.now() - hour) / hour) * hour)}
            reserve={fresh}
          />
        }
      >
        <Answered answer={calendar} what="the calendar">
          {(read) => (
            <>
              <p className="hint">
                {describe(read)} Draw a slot with the pointer, drag one of yours to move it, or its end to make it
                longer.
              </p>
              <CalendarPicture calendar={read} spec={drawn} draw={draw} change={change} />
              {read.truncated ? <p className="hint">Later slots are left out; choose less time.</p> : null}
            </>
          )}
        </Answered>
      </Panel>
      {spec === undefined ? null : (
        <ReservationForm
          key={JSON.stringify([spec.kind, spec.slot, spec.kind === 'change' ? spec.reservation.reservation_id : 0])}
          resource={resource}
          spec={spec}
          show={setTyped}
          close={() => setSpec(undefined)}
          done={done}
        />
      )}
      <Panel title="Reservations">
        {calendar.value === undefined ? (
          <p className="hint">Reading …</p>
        ) : (
          <ReservationTable
            resource={resource}
            reservations={calendar.value.reservations}
            change={change}
            done={done}
          />
        )}
      </Panel>
    </>
  );
}

/** An hour from the next quarter on. */
function freshSlot(): Slot {
  const start = Math.ceil((Date.now() + 60_000) / (hour / 4)) * (hour / 4);
  return { start, end: start + hour, amount: 1 };
}

/** How much time the calendar shows, from when, and a new reservation. */
function CalendarTools({
  span,
  setSpan,
  move,
  showToday,
  reserve,
}: {
  readonly span: number;
  readonly setSpan: (span: number) => void;
  readonly move: (shares: number) => void;
  readonly showToday: () => void;
  readonly reserve: () => void;
}): ReactNode {
  return (
    <span className="row">
      <span className="choice" role="group" aria-label="How much time">
        {spans.map(([length, title]) => (
          <button
            key={length}
            type="button"
            className="small"
            aria-pressed={span === length}
            onClick={() => setSpan(length)}
          >
            {title}
          </button>
        ))}
      </span>
      <button type="button" className="small" onClick={() => move(-0.5)} aria-label="Earlier">
        ←
      </button>
      <button type="button" className="small" onClick={showToday}>
        Today
      </button>
      <button type="button" className="small" onClick={() => move(0.5)} aria-label="Later">
        →
      </button>
      <button type="button" className="primary small" onClick={reserve}>
        Reserve …
      </button>
    </span>
  );
}
