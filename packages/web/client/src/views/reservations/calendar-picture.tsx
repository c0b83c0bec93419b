import { useMemo, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { buildCalendarOption, calendarInks, calendarTable, type CalendarScene } from '../../charts/calendar-chart.ts';
import {
  dragReservation,
  hitCalendar,
  isOpen,
  pileReservations,
  slotOfDrag,
  type CalendarBox,
  type Reservation,
  type Slot,
} from '../../model/calendar.ts';
import { sayMany } from '../../model/words.ts';
import { Chart, type ChartHandle } from '../../parts/chart.tsx';
import { Legend } from '../../parts/legend.tsx';
import { useNow } from '../../parts/tip-state.ts';
import type { Spec } from './reservation-form.tsx';

type Calendar = RouteReply<'getCalendar'>;
type Ghost = NonNullable<CalendarScene['ghost']>;

/** An instant and an amount; `edge`, how far from an end of a reservation still counts as it, in milliseconds. */
interface Place {
  readonly instant: number;
  readonly amount: number;
  readonly edge: number;
}
type Hit = { readonly box: CalendarBox; readonly part: 'middle' | 'end' } | undefined;

const height = 300;
/** How far from the end of a reservation still counts as it, in pixels. */
const edgeWidth = 8;

/** What is taken over time; free room is drawn on, reservations of one's own are dragged. */
export function CalendarPicture({
  calendar,
  spec,
  draw,
  change,
}: {
  readonly calendar: Calendar;
  readonly spec: Spec | undefined;
  readonly draw: (slot: Slot) => void;
  readonly change: (reservation: Reservation, slot?: Slot) => void;
}): ReactNode {
  const handle = useRef<ChartHandle>(undefined);
  const now = useNow(30_000);
  const boxes = useMemo(() => pileReservations(calendar.reservations), [calendar]);
  const { drawn, ...pointer } = useDrag({
    calendar,
    boxes,
    draw,
    change,
    placeOf: (event) => placeOf(handle.current, event),
  });
  const scene = useMemo<CalendarScene>(
    () => ({ calendar, boxes, ghost: drawn ?? findGhost(spec, boxes, calendar), isDragging: drawn !== undefined, now }),
    [calendar, boxes, drawn, spec, now],
  );
  return (
    <div className="picture">
      <Legend inks={Object.values(calendarInks)} />
      <Chart
        data={scene}
        build={buildCalendarOption}
        table={calendarTable}
        height={height}
        handle={handle}
        className="drawn-on"
        {...pointer}
        label={
          `Calendar of ${calendar.resource.resource_id}: ${Math.round(calendar.utilisation * 100)} % reserved in ` +
          `the time shown, ${sayMany(calendar.reservations.filter(isOpen).length, 'reservation')} that you may ` +
          'see. "Reserve" and the table of reservations do by keyboard what the pointer does here.'
        }
      />
    </div>
  );
}

interface Drag {
  readonly calendar: Calendar;
  readonly boxes: readonly CalendarBox[];
  readonly draw: (slot: Slot) => void;
  readonly change: (reservation: Reservation, slot?: Slot) => void;
  readonly placeOf: (event: PointerEvent<HTMLDivElement>) => Place | undefined;
}

/** What the pointer does: over free room it draws a slot, on a reservation of one's own it moves it or its end. */
function useDrag({
  calendar,
  boxes,
  draw,
  change,
  placeOf: find,
}: Drag): { readonly drawn: Ghost | undefined } & Record<
  'onPointerDown' | 'onPointerMove' | 'onPointerUp' | 'onPointerCancel',
  (event: PointerEvent<HTMLDivElement>) => void
> {
  const [drawn, setDrawn] = useState<Ghost>();
  const held = useRef<Place & { readonly hit: Hit }>(undefined);
  const step = getStep(calendar);
  const dragged = (place: Place): Ghost | undefined => {
    const from = held.current;
    if (from === undefined) return undefined;
    if (from.hit === undefined)
      return {
        ...slotOfDrag(from, place, { step, total: calendar.resource.total, now: Date.now() }),
        bottom: Math.max(0, Math.floor(Math.min(from.amount, place.amount))),
      };
    return {
      ...dragReservation(from.hit.box.reservation, from.hit.part, { by: place.instant - from.instant, step }),
      bottom: from.hit.box.bottom,
    };
  };
  const letGo = (): void => {
    held.current = undefined;
    setDrawn(undefined);
  };
  return {
    drawn,
    onPointerDown: (event) => {
      const place = find(event);
      if (event.button !== 0 || place === undefined || !isOnGrid(calendar, place)) return;
      const hit = hitCalendar(boxes, place);
      if (hit !== undefined && !hit.box.reservation.is_mine) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      held.current = { ...place, hit };
    },
    onPointerMove: (event) => {
      const place = held.current === undefined ? undefined : find(event);
      if (place !== undefined) setDrawn(dragged(place));
    },
    onPointerUp: (event) => {
      const [from, place] = [held.current, find(event)];
      letGo();
      if (from === undefined || place === undefined) return;
      // A press that hardly moved does nothing on free capacity, and opens the form on a reservation.
      const isMoved = Math.abs(place.instant - from.instant) > step / 8;
      if (from.hit !== undefined)
        change(
          from.hit.box.reservation,
          isMoved
            ? dragReservation(from.hit.box.reservation, from.hit.part, { by: place.instant - from.instant, step })
            : undefined,
        );
      else if (isMoved) draw(slotOfDrag(from, place, { step, total: calendar.resource.total, now: Date.now() }));
    },
    onPointerCancel: letGo,
  };
}

/** The axis values at the pointer, also outside the grid of the chart; undefined before the chart is ready. */
function placeOf(handle: ChartHandle | undefined, event: PointerEvent<HTMLDivElement>): Place | undefined {
  const { left, top } = event.currentTarget.getBoundingClientRect();
  const [x, y] = [event.clientX - left, event.clientY - top];
  const [here, beside] = [handle?.placeAt({ x, y }), handle?.placeAt({ x: x + edgeWidth, y })];
  return here === undefined || beside === undefined
    ? undefined
    : { instant: here.x, amount: here.y, edge: beside.x - here.x };
}

function isOnGrid(
  { from_unix_ms: from, until_unix_ms: until, resource }: Calendar,
  { instant, amount }: Place,
): boolean {
  return from <= instant && instant <= until && amount >= 0 && amount <= resource.total;
}

function findGhost(spec: Spec | undefined, boxes: readonly CalendarBox[], { slots }: Calendar): Ghost | undefined {
  if (spec === undefined) return undefined;
  const own =
    spec.kind === 'change'
      ? boxes.find(({ reservation }) => reservation.reservation_id === spec.reservation.reservation_id)
      : undefined;
  const used = slots
    .filter(({ start_unix_ms: start, end_unix_ms: end }) => start < spec.slot.end && end > spec.slot.start)
    .reduce((most, slot) => Math.max(most, slot.used), 0);
  return { ...spec.slot, bottom: own?.bottom ?? used };
}

/** Steps that are drawn in: a hundredth of what is shown, at a size of clocks. */
function getStep({ from_unix_ms: from, until_unix_ms: until }: Calendar): number {
  const minute = 60_000;
  return (
    [minute, 5 * minute, 15 * minute, 30 * minute, 60 * minute].find((step) => step >= (until - from) / 150) ??
    360 * minute
  );
}
