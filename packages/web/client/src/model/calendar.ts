import type { RouteReply } from '../../../src/schema/index.ts';
import { sayCount, sayDuration } from './words.ts';

type Calendar = RouteReply<'getCalendar'>;
export type Reservation = Calendar['reservations'][number];
export type ReservableResource = Calendar['resource'];

/**
 * A piece of a reservation in the picture of a calendar: it lies at another height where what lies below it changes.
 */
export interface CalendarBox {
  readonly reservation: Reservation;
  readonly start: number;
  readonly end: number;
  readonly bottom: number;
  readonly top: number;
}

const takes = new Set(['held', 'confirmed', 'claimed']);

/** Whether a reservation takes something of its resource. */
export function isOpen({ status }: Pick<Reservation, 'status'>): boolean {
  return takes.has(status);
}

/**
 * Piles reservations up: between two changes all that there are lie on each other, those that begin first lowest, so
 * that the top of the pile is what they take. Pieces are in the order of time; one that goes on at its height is one.
 */
export function pileReservations(reservations: readonly Reservation[]): CalendarBox[] {
  const open = reservations
    .filter(isOpen)
    .toSorted((one, other) => one.start_unix_ms - other.start_unix_ms || one.reservation_id - other.reservation_id);
  const changes = [...new Set(open.flatMap(({ start_unix_ms: start, end_unix_ms: end }) => [start, end]))].sort(
    (one, other) => one - other,
  );
  const boxes: CalendarBox[] = [];
  const last = new Map<Reservation, number>();
  changes.slice(0, -1).forEach((start, index) => {
    const end = changes[index + 1] ?? start;
    let bottom = 0;
    for (const reservation of open) {
      if (reservation.start_unix_ms > start) break;
      if (reservation.end_unix_ms < end) continue;
      const before = last.get(reservation) ?? -1;
      const box = boxes[before];
      if (box !== undefined && box.bottom === bottom) boxes[before] = { ...box, end };
      else last.set(reservation, boxes.push({ reservation, start, end, bottom, top: bottom + reservation.amount }) - 1);
      bottom += reservation.amount;
    }
  });
  return boxes;
}

/** A press on the calendar: where, and how far from an edge still counts as it, in milliseconds. */
export interface CalendarPress {
  readonly instant: number;
  readonly amount: number;
  readonly edge: number;
}

/** What is under a press: a reservation's middle, or its end; undefined for free room. */
export function hitCalendar(
  boxes: readonly CalendarBox[],
  { instant, amount, edge }: CalendarPress,
): { readonly box: CalendarBox; readonly part: 'middle' | 'end' } | undefined {
  const box = boxes.findLast(
    ({ start, end, bottom, top }) => start <= instant && instant <= end && bottom <= amount && amount <= top,
  );
  if (box === undefined) return undefined;
  const { start_unix_ms: start, end_unix_ms: end } = box.reservation;
  return { box, part: end - instant <= Math.min(edge, (end - start) / 3) ? 'end' : 'middle' };
}

/** A window and an amount, as they are drawn or asked for. */
export interface Slot {
  readonly start: number;
  readonly end: number;
  readonly amount: number;
}

/**
 * The slot that a drag over free capacity draws: rounded to steps of time, at least one step and one unit, within the
 * free capacity, and not in the past.
 */
export function slotOfDrag(
  from: { readonly instant: number; readonly amount: number },
  to: { readonly instant: number; readonly amount: number },
  { step, total, now }: { readonly step: number; readonly total: number; readonly now: number },
): Slot {
  const start = Math.max(Math.ceil(now / step) * step, Math.floor(Math.min(from.instant, to.instant) / step) * step);
  const end = Math.max(start + step, Math.ceil(Math.max(from.instant, to.instant) / step) * step);
  const amount = Math.ceil(Math.max(from.amount, to.amount)) - Math.floor(Math.min(from.amount, to.amount));
  return { start, end, amount: Math.max(1, Math.min(total, amount)) };
}

/** What a reservation becomes when it is dragged so far: moved as a whole, or ended elsewhere. */
export function dragReservation(
  { start_unix_ms: start, end_unix_ms: end, amount }: Reservation,
  part: 'middle' | 'end',
  { by, step }: { readonly by: number; readonly step: number },
): Slot {
  const shift = Math.round(by / step) * step;
  return part === 'middle'
    ? { start: start + shift, end: end + shift, amount }
    : { start, end: Math.max(start + step, end + shift), amount };
}

/** An amount as the reservation manager reads it: units as they are, a capacity as its share. */
export function getQuantity({ kind, total }: Pick<ReservableResource, 'kind' | 'total'>, amount: number): string {
  return kind === 'units' ? String(amount) : `${Number(((100 * amount) / total).toFixed(2))}%`;
}

/** What a resource is counted in: its unit, or what its units are. */
export function getUnit({ unit, type }: Pick<ReservableResource, 'unit' | 'type'>): string {
  return unit || type || 'units';
}

/** An amount of a resource, as people say it: `3 processors`, `1 processor`, `800 B/s`. */
export function sayAmount(amount: number, resource: Pick<ReservableResource, 'unit' | 'type'>): string {
  const unit = getUnit(resource);
  return `${sayCount(amount)} ${amount === 1 ? unit.replace(/(?<=^[a-z]{3,})s$/, '') : unit}`;
}

/** A start up to this long ago is one that was now when it was typed. */
const typingTime = 120_000;

/** What is wrong with a slot before anybody is asked; undefined where nothing is. @param now undefined allows the past. */
export function refuseSlot(
  { start, end, amount }: Slot,
  {
    total,
    duration_ms_max: longest,
    ...resource
  }: Pick<ReservableResource, 'resource_id' | 'total' | 'duration_ms_max' | 'unit' | 'type'>,
  now?: number,
): string | undefined {
  if (!Number.isFinite(start) || !Number.isFinite(end)) return 'Enter the start and the end.';
  if (end <= start) return 'The end is before the start.';
  if (now !== undefined && start < now - typingTime) return 'The start is in the past.';
  if (!(amount > 0)) return `Enter how much, up to ${sayAmount(total, resource)}.`;
  if (amount > total) return `${resource.resource_id} has ${sayAmount(total, resource)}.`;
  return longest > 0 && end - start > longest
    ? `Reservations of ${resource.resource_id} last ${sayDuration(longest)} at most.`
    : undefined;
}
