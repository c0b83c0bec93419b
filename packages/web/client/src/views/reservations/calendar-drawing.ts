import type { RouteReply } from '../../../../src/schema/index.ts';
import { unitOf, type CalendarBox, type Slot } from '../../model/calendar.ts';
import { okabeIto, type Ink } from '../../model/palette.ts';
import { placeOf, ticksOf, timeTicksOf, type Scale } from '../../model/scale.ts';
import { sayCount } from '../../model/words.ts';
import { fillOf, type Brush } from '../../parts/canvas.tsx';

export const calendarHeight = 280;
const left = 44;
const bottom = 24;
/** The unit stands above the highest amount. */
const headroom = 22;

export const calendarInks = {
  mine: { colour: okabeIto.blue, pattern: 'plain', mark: '', title: 'yours' },
  held: { colour: okabeIto.sky, pattern: 'stripes', mark: '', title: 'yours, held for a while' },
  others: { colour: okabeIto.grey, pattern: 'hollow', mark: '', title: 'taken' },
  seen: { colour: okabeIto.grey, pattern: 'plain', mark: '', title: 'of others' },
  maintenance: { colour: okabeIto.orange, pattern: 'stripes', mark: '', title: 'maintenance' },
} as const satisfies Record<string, Ink>;

type Calendar = RouteReply<'getCalendar'>;

/** What the picture is drawn from. */
export interface CalendarScene {
  readonly calendar: Calendar;
  readonly boxes: readonly CalendarBox[];
  /** What is being drawn or dragged, with where it begins from below; undefined where nothing is. */
  readonly ghost: (Slot & { readonly bottom: number }) | undefined;
}

/** Where instants and amounts are. */
export function calendarScales({ from_unix_ms: from, until_unix_ms: until, resource }: Calendar, width: number): readonly [Scale, Scale] {
  return [{ from, until, start: left, end: width - 4 }, { from: 0, until: Math.max(1, resource.total), start: calendarHeight - bottom, end: headroom }];
}

export function drawCalendar(brush: Brush, scene: CalendarScene): void {
  const { context, accent } = brush;
  const { calendar, boxes, ghost } = scene;
  const [time, amount] = calendarScales(calendar, brush.width);
  drawGrid(brush, { time, amount, unit: unitOf(calendar.resource) });
  for (const { start_unix_ms: start, end_unix_ms: end, used } of calendar.slots) if (used > 0) fill(brush, { time, amount, ink: calendarInks.others }, { start, end, bottom: 0, top: used });
  for (const { start_unix_ms: start, end_unix_ms: end, amount: taken } of calendar.resource.maintenances) fill(brush, { time, amount, ink: calendarInks.maintenance }, { start, end, bottom: calendar.resource.total - taken, top: calendar.resource.total });
  for (const box of boxes) {
    const { is_mine: isMine, status } = box.reservation;
    fill(brush, { time, amount, ink: isMine ? (status === 'held' ? calendarInks.held : calendarInks.mine) : calendarInks.seen }, box);
    drawName(brush, { time, amount }, box);
  }
  drawUsed(brush, { time, amount }, calendar);
  drawNow(brush, time);
  if (ghost === undefined) return;
  Object.assign(context, { strokeStyle: accent, fillStyle: accent, lineWidth: 2 });
  const [x, y] = [placeOf(time, ghost.start), placeOf(amount, ghost.bottom + ghost.amount)];
  const [wide, high] = [placeOf(time, ghost.end) - x, placeOf(amount, ghost.bottom) - y];
  context.globalAlpha = 0.22;
  context.fillRect(x, y, wide, high);
  context.globalAlpha = 1;
  context.strokeRect(x, y, wide, high);
}

interface Scales { readonly time: Scale; readonly amount: Scale }

function drawGrid({ context, width, font, faint, line, text }: Brush, { time, amount, unit }: Scales & { readonly unit: string }): void {
  Object.assign(context, { font, fillStyle: faint, strokeStyle: line, lineWidth: 1, textAlign: 'right', textBaseline: 'middle' });
  for (const tick of ticksOf(0, amount.until, 5)) {
    const y = Math.round(placeOf(amount, tick)) + 0.5;
    context.beginPath(); context.moveTo(left, y); context.lineTo(width, y); context.stroke();
    context.fillText(sayCount(tick), left - 6, y);
  }
  Object.assign(context, { textAlign: 'left', textBaseline: 'alphabetic' });
  context.fillText(unit, 0, 8);
  const shift = -new Date(time.from).getTimezoneOffset() * 60_000;
  const { ticks, step } = timeTicksOf(time.from, time.until, { about: Math.max(2, width / 105), shift });
  for (const tick of ticks) {
    const x = Math.round(placeOf(time, tick)) + 0.5;
    const isDay = (tick + shift) % 86_400_000 === 0;
    context.strokeStyle = line;
    context.beginPath(); context.moveTo(x, 8); context.lineTo(x, calendarHeight - bottom); context.stroke();
    context.textAlign = 'center';
    context.fillStyle = isDay ? text : faint;
    const at = new Date(tick);
    context.fillText(isDay || step >= 86_400_000 ? at.toLocaleDateString(undefined, { weekday: 'short', day: 'numeric', month: 'short' }) : at.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' }), Math.min(width - 30, Math.max(left + 18, x)), calendarHeight - 8);
  }
}

function fill(brush: Brush, { time, amount, ink }: Scales & { readonly ink: Ink }, box: { readonly start: number; readonly end: number; readonly bottom: number; readonly top: number }): void {
  const { context, ground } = brush;
  const [x, right] = [Math.max(left, placeOf(time, box.start)), Math.min(time.end, placeOf(time, box.end))];
  if (right <= x) return;
  const [y, high] = [placeOf(amount, box.top), placeOf(amount, box.bottom) - placeOf(amount, box.top)];
  context.fillStyle = fillOf(brush, ink);
  context.fillRect(x, y, right - x, high);
  if (ink === calendarInks.others) return;
  Object.assign(context, { strokeStyle: ground, lineWidth: 1.5 });
  context.strokeRect(x, y, right - x, high);
}

function drawName({ context, font }: Brush, { time, amount }: Scales, { reservation, start, end, bottom: low, top }: CalendarBox): void {
  const [x, right] = [Math.max(left, placeOf(time, start)), placeOf(time, end)];
  const high = placeOf(amount, low) - placeOf(amount, top);
  const name = reservation.is_mine ? `#${reservation.reservation_id}` : reservation.user_id;
  if (high < 14 || right - x < 10 + name.length * 7) return;
  Object.assign(context, { font, fillStyle: reservation.is_mine && reservation.status !== 'held' ? '#ffffff' : '#10181f', textAlign: 'left', textBaseline: 'top' });
  context.fillText(name, x + 5, placeOf(amount, top) + 4);
  context.textBaseline = 'alphabetic';
}

/** The line of all that is taken, whoever has it. */
function drawUsed({ context, text }: Brush, { time, amount }: Scales, { slots }: Calendar): void {
  Object.assign(context, { strokeStyle: text, lineWidth: 1.2 });
  context.beginPath();
  slots.forEach(({ start_unix_ms: start, end_unix_ms: end, used }, index) => {
    const y = placeOf(amount, used);
    if (index === 0) context.moveTo(Math.max(left, placeOf(time, start)), y);
    else context.lineTo(Math.max(left, placeOf(time, start)), y);
    context.lineTo(Math.min(time.end, placeOf(time, end)), y);
  });
  context.stroke();
}

function drawNow({ context, accent }: Brush, time: Scale): void {
  const now = Date.now();
  if (now < time.from || now > time.until) return;
  const x = Math.round(placeOf(time, now)) + 0.5;
  Object.assign(context, { strokeStyle: accent, lineWidth: 1.5 });
  context.setLineDash([4, 3]);
  context.beginPath(); context.moveTo(x, 8); context.lineTo(x, calendarHeight - bottom); context.stroke();
  context.setLineDash([]);
}
