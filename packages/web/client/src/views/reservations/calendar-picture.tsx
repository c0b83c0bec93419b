import { useCallback, useMemo, useRef, useState, type PointerEvent, type ReactNode } from 'react';
import type { RouteReply } from '../../../../src/schema/index.ts';
import { dragReservation, hitCalendar, pileReservations, sayAmount, slotOfDrag, type CalendarBox, type Reservation, type Slot } from '../../model/calendar.ts';
import { valueAt } from '../../model/scale.ts';
import { sayCount, sayDuration } from '../../model/words.ts';
import { Canvas, type Brush } from '../../parts/canvas.tsx';
import { Legend } from '../../parts/legend.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';
import { calendarHeight, calendarInks, calendarScales, drawCalendar, type CalendarScene } from './calendar-drawing.ts';
import type { Wish } from './reservation-form.tsx';

type Calendar = RouteReply<'getCalendar'>;
type Ghost = NonNullable<CalendarScene['ghost']>;

interface Held {
  readonly instant: number;
  readonly amount: number;
  readonly hit: { readonly box: CalendarBox; readonly part: 'middle' | 'end' } | undefined;
}

/** What is taken over time; free room is drawn on, reservations of one's own are dragged. */
export function CalendarPicture({ calendar, wish, draw, change }: { readonly calendar: Calendar; readonly wish: Wish | undefined; readonly draw: (slot: Slot) => void; readonly change: (reservation: Reservation, slot?: Slot) => void }): ReactNode {
  const [ref, width] = useWidth(900);
  const [tip, setTip] = useTip();
  const [drawn, setDrawn] = useState<Ghost>();
  const held = useRef<Held>(undefined);
  const boxes = useMemo(() => pileReservations(calendar.reservations), [calendar]);
  const ghost = drawn ?? ghostOf(wish, boxes, calendar);
  const paint = useCallback((brush: Brush) => drawCalendar(brush, { calendar, boxes, ghost }), [calendar, boxes, ghost?.start, ghost?.end, ghost?.amount, ghost?.bottom]);
  const [time, amount] = calendarScales(calendar, width);
  const step = stepOf(calendar);
  const at = (event: PointerEvent): { readonly instant: number; readonly amount: number } => ({ instant: valueAt(time, event.nativeEvent.offsetX), amount: valueAt(amount, event.nativeEvent.offsetY) });
  const hit = (place: { readonly instant: number; readonly amount: number }): Held['hit'] => hitCalendar(boxes, { ...place, edge: valueAt(time, 8) - valueAt(time, 0) });
  const dragged = (place: { readonly instant: number; readonly amount: number }): Ghost | undefined => {
    const from = held.current;
    if (from === undefined) return undefined;
    if (from.hit === undefined) return { ...slotOfDrag(from, place, { step, total: calendar.resource.total, now: Date.now() }), bottom: Math.max(0, Math.floor(Math.min(from.amount, place.amount))) };
    return { ...dragReservation(from.hit.box.reservation, from.hit.part, { by: place.instant - from.instant, step }), bottom: from.hit.box.bottom };
  };
  const press = (event: PointerEvent<HTMLCanvasElement>): void => {
    const place = at(event);
    const under = hit(place);
    if (event.button !== 0 || (under !== undefined && !under.box.reservation.is_mine)) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    held.current = { ...place, hit: under };
  };
  const move = (event: PointerEvent): void => {
    const place = at(event);
    if (held.current !== undefined) setDrawn(dragged(place));
    setTip({ x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY, text: tipOf(calendar, { place, under: hit(place), ghost: held.current === undefined ? undefined : dragged(place) }) });
  };
  const release = (event: PointerEvent): void => {
    const [from, slot] = [held.current, drawn];
    held.current = undefined;
    setDrawn(undefined);
    if (from === undefined) return;
    if (from.hit !== undefined) change(from.hit.box.reservation, slot);
    else if (slot !== undefined && Math.abs(at(event).instant - from.instant) > step / 8) draw(slot);
  };
  return (
    <div className="picture" ref={ref}>
      <Canvas draw={paint} height={calendarHeight} role="img" style={{ touchAction: 'pan-y', cursor: 'crosshair' }} aria-label={`Calendar of ${calendar.resource.resource_id}: ${Math.round(calendar.utilisation * 100)} % taken, ${boxes.length} reservations to be seen. "Reserve" and the table below do the same by keyboard.`}
        onPointerDown={press} onPointerMove={move} onPointerUp={release} onPointerCancel={() => { held.current = undefined; setDrawn(undefined); }} onPointerLeave={() => setTip(undefined)} />
      <TipBox tip={tip} width={width} />
      <Legend inks={Object.values(calendarInks)} />
    </div>
  );
}

function ghostOf(wish: Wish | undefined, boxes: readonly CalendarBox[], { slots }: Calendar): Ghost | undefined {
  if (wish === undefined) return undefined;
  const own = wish.kind === 'change' ? boxes.find(({ reservation }) => reservation.reservation_id === wish.reservation.reservation_id) : undefined;
  const used = slots.filter(({ start_unix_ms: start, end_unix_ms: end }) => start < wish.slot.end && end > wish.slot.start).reduce((most, slot) => Math.max(most, slot.used), 0);
  return { ...wish.slot, bottom: own?.bottom ?? used };
}

/** Steps that are drawn in: a hundredth of what is shown, at a size of clocks. */
function stepOf({ from_unix_ms: from, until_unix_ms: until }: Calendar): number {
  const minute = 60_000;
  return [minute, 5 * minute, 15 * minute, 30 * minute, 60 * minute].find((step) => step >= (until - from) / 150) ?? 360 * minute;
}

function tipOf({ slots, resource }: Calendar, { place, under, ghost }: { readonly place: { readonly instant: number }; readonly under: Held['hit']; readonly ghost: Ghost | undefined }): string {
  const clock = (instant: number): string => new Date(instant).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
  if (ghost !== undefined) return `${clock(ghost.start)} to ${clock(ghost.end)} (${sayDuration(ghost.end - ghost.start)}), ${sayAmount(ghost.amount, resource)}`;
  if (under !== undefined) {
    const { reservation } = under.box;
    return `#${reservation.reservation_id}, ${reservation.is_mine ? 'yours' : reservation.user_id}: ${sayAmount(reservation.amount, resource)}, ${clock(reservation.start_unix_ms)} to ${clock(reservation.end_unix_ms)}, ${reservation.status}`;
  }
  const used = slots.find(({ start_unix_ms: start, end_unix_ms: end }) => start <= place.instant && place.instant < end)?.used ?? 0;
  return `${clock(place.instant)}: ${sayCount(used)} of ${sayAmount(resource.total, resource)} taken`;
}
