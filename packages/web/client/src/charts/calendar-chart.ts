import type { RouteReply } from '../../../src/schema/index.ts';
import { sayAmount, getUnit, type CalendarBox, type Slot } from '../model/calendar.ts';
import { okabeIto, type Ink } from '../model/palette.ts';
import { sayClock, sayCount, sayDuration, sayShare } from '../model/words.ts';
import { countAxis, timeAxis } from './axes.ts';
import { boxSeries, type ChartBox } from './boxes.ts';
import { axisLook, baseOption, fillOfInk, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

export const calendarInks = {
  mine: { colour: okabeIto.blue, pattern: 'plain', mark: '', title: 'yours' },
  held: { colour: okabeIto.sky, pattern: 'stripes', mark: '', title: 'yours, not confirmed' },
  others: { colour: okabeIto.grey, pattern: 'hollow', mark: '', title: 'taken' },
  seen: { colour: okabeIto.grey, pattern: 'plain', mark: '', title: 'others' },
  maintenance: { colour: okabeIto.orange, pattern: 'stripes', mark: '', title: 'maintenance' },
} as const satisfies Record<string, Ink>;

type Calendar = RouteReply<'getCalendar'>;

/** What a calendar is drawn from. */
export interface CalendarScene {
  readonly calendar: Calendar;
  readonly boxes: readonly CalendarBox[];
  /**
   * What is being drawn or dragged, or asked for in the form, with where it begins from below; undefined where nothing
   * is.
   */
  readonly ghost: (Slot & { readonly bottom: number }) | undefined;
  /** Whether it is being dragged: then the tip shows it alone. */
  readonly isDragging: boolean;
  readonly now: number;
}

/** Room around the grid, in pixels: it stays where it is while something is dragged over it. */
function calendarEdges(total: number): {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly outerBoundsMode: 'none';
} {
  return {
    left: Math.max(40, 14 + sayCount(total).length * 6.5),
    right: 44,
    top: 40,
    bottom: 26,
    outerBoundsMode: 'none',
  };
}

/**
 * What of a resource is taken over time, in units on the left and as a share on the right: all of it as steps, and in
 * boxes the reservations that the viewer may see.
 */
export function buildCalendarOption(scene: CalendarScene, look: ChartLook): ChartOption {
  const {
    calendar: { resource, slots, from_unix_ms: from, until_unix_ms: until },
    isDragging,
  } = scene;
  const axis = axisLook(look);
  const last = slots.at(-1);
  const steps = slots.map(({ start_unix_ms: start, used }): [number, number] => [Math.max(from, start), used]);
  const taken = {
    type: 'line' as const,
    step: 'end' as const,
    symbol: 'none',
    silent: true,
    data: last === undefined ? [] : [...steps, [Math.min(until, last.end_unix_ms), last.used]],
  };
  return {
    ...baseOption(look),
    // In a corner that no slot covers.
    title: {
      text: sayGhost(scene, look),
      right: 4,
      top: 0,
      padding: 0,
      textStyle: { color: look.accent, fontSize: 12, lineHeight: 15, fontWeight: 600, fontFamily: look.font },
    },
    grid: calendarEdges(resource.total),
    xAxis: { ...timeAxis(look, { from, until }), splitLine: { show: true, ...axis.splitLine } },
    yAxis: [
      // Above the word for the present instant.
      { ...countAxis(look, { name: getUnit(resource), most: Math.max(1, resource.total) }), nameGap: 22 },
      {
        ...axis,
        type: 'value',
        min: 0,
        max: 100,
        interval: 50,
        splitLine: { show: false },
        axisLabel: { ...axis.axisLabel, formatter: '{value} %' },
      },
    ],
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'axis',
      axisPointer: { type: isDragging ? 'none' : 'line', lineStyle: { color: look.faint } },
      formatter: (reported: unknown) => (isDragging ? '' : reportInstant(scene, getInstant(reported))),
    },
    series: [
      {
        ...taken,
        id: 'share',
        z: 1,
        lineStyle: { width: 0 },
        areaStyle: { color: fillOfInk(calendarInks.others, look).color, opacity: 1 },
      },
      { ...taken, id: 'taken', z: 3, lineStyle: { color: look.text, width: 1.2 }, ...getMarks(scene, look) },
      boxSeries([...maintenanceBoxes(scene.calendar), ...scene.boxes.map(reservationBox)], {
        id: 'reservations',
        look,
      }),
    ],
  };
}

function maintenanceBoxes({ resource: { maintenances, total } }: Calendar): ChartBox[] {
  return maintenances.map(({ start_unix_ms: start, end_unix_ms: end, amount, reason }) => ({
    start,
    end,
    bottom: total - amount,
    top: total,
    ink: calendarInks.maintenance,
    label: reason || 'maintenance',
  }));
}

function reservationBox({ reservation, start, end, bottom, top }: CalendarBox): ChartBox {
  const { reservation_id: id, is_mine: isMine, status, user_id: user } = reservation;
  return {
    start,
    end,
    bottom,
    top,
    ink: isMine ? (status === 'held' ? calendarInks.held : calendarInks.mine) : calendarInks.seen,
    label: isMine ? `#${id}` : user,
  };
}

type Marks = Pick<Extract<NonNullable<ChartOption['series']>, { readonly type?: 'line' }>, 'markLine' | 'markArea'>;

/** The present instant, and the slot that is wanted. */
function getMarks(
  { calendar: { from_unix_ms: from, until_unix_ms: until, resource }, ghost, now }: CalendarScene,
  { accent, isDark }: ChartLook,
): Marks {
  const isShown = from < now && now < until;
  return {
    markLine: {
      silent: true,
      symbol: 'none',
      animation: false,
      lineStyle: { color: accent, type: 'dashed', width: 1.5 },
      label: { formatter: 'now', color: accent, fontSize: 11, distance: 2 },
      data: isShown ? [{ xAxis: now }] : [],
    },
    markArea: {
      silent: true,
      animation: false,
      z: 10,
      itemStyle: { color: accent, opacity: isDark ? 0.4 : 0.28, borderColor: accent, borderWidth: 2 },
      label: { show: false },
      data:
        ghost === undefined
          ? []
          : [
              [
                { xAxis: Math.max(from, ghost.start), yAxis: ghost.bottom },
                { xAxis: Math.min(until, ghost.end), yAxis: Math.min(resource.total, ghost.bottom + ghost.amount) },
              ],
            ],
    },
  };
}

/** The slot that is wanted; on two lines where there is little room. */
function sayGhost({ ghost, now, calendar: { resource } }: CalendarScene, { width }: ChartLook): string {
  if (ghost === undefined) return '';
  return (
    `${sayClock(ghost.start, now)} to ` +
    `${sayClock(ghost.end, ghost.start)}${width < 700 ? '\n' : ', '}${sayDuration(ghost.end - ghost.start)}, ` +
    `${sayAmount(ghost.amount, resource)}`
  );
}

function getInstant(reported: unknown): number {
  return (reported as readonly { readonly axisValue: number }[])[0]?.axisValue ?? 0;
}

const reportedMax = 8;

function reportInstant({ calendar: { slots, resource }, boxes, now }: CalendarScene, instant: number): string {
  const slot = slots.find(({ start_unix_ms: start, end_unix_ms: end }) => start <= instant && instant < end);
  const there = boxes.filter(({ start, end }) => start <= instant && instant < end);
  const maintained = resource.maintenances.filter(
    ({ start_unix_ms: start, end_unix_ms: end }) => start <= instant && instant < end,
  );
  return [
    `${sayClock(instant, now)}: ` +
      `${slot === undefined ? 'not known' : `${sayAmount(slot.used, resource)} of ${resource.total} taken, ${sayShare(slot.used, resource.total)}`}`,
    ...maintained.map(
      ({ amount, reason }) => `maintenance of ${sayAmount(amount, resource)}${reason === '' ? '' : `: ${reason}`}`,
    ),
    ...there
      .slice(0, reportedMax)
      .map(
        ({ reservation: one }) =>
          `#${one.reservation_id}, ${one.is_mine ? 'yours' : one.user_id}: ${sayAmount(one.amount, resource)}, ` +
          `${sayClock(one.start_unix_ms, now)} to ${sayClock(one.end_unix_ms, now)}, ${one.status}`,
      ),
    ...(there.length > reportedMax ? [`and ${there.length - reportedMax} more`] : []),
  ].join('\n');
}

/** What is taken when, as a table. */
export function calendarTable({ calendar: { slots, resource }, now }: CalendarScene): ChartTable {
  return {
    heads: ['From', 'Until', 'Taken', 'Share'],
    rows: slots.map(({ start_unix_ms: start, end_unix_ms: end, used }) => [
      sayClock(start, now),
      sayClock(end, now),
      sayAmount(used, resource),
      sayShare(used, resource.total),
    ]),
  };
}
