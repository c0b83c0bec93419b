// Charts of calendars, of plans and of the last minutes: what is drawn of the data.
import test from 'ava';
import type { ReservationCalendar, WorkflowPlan } from '@mutirao/web/schema';
import { buildCalendarOption, calendarTable, type CalendarScene } from '../../../client/src/charts/calendar-chart.ts';
import {
  buildBusyOption,
  buildPaceOption,
  busyTable,
  paceTable,
  siteBands,
} from '../../../client/src/charts/history-charts.ts';
import { lightLook, type ChartOption } from '../../../client/src/charts/look.ts';
import { buildPlanOption, planHeight, planTable } from '../../../client/src/charts/plan-chart.ts';
import { pileReservations, type Reservation } from '../../../client/src/model/calendar.ts';
import type { GridSample } from '../../../client/src/model/history.ts';
import { sayClock } from '../../../client/src/model/words.ts';
import { drawChartSvg } from '../../../src/server/drawing/chart-svg.ts';

interface Series {
  readonly id: string;
  readonly data: readonly unknown[];
  readonly markArea?: { readonly data: readonly (readonly unknown[])[] };
  readonly markLine?: { readonly data: readonly unknown[] };
}
const getSeries = (option: ChartOption): readonly Series[] => option.series as unknown as readonly Series[];
const getTip = (option: ChartOption, reported: unknown): string[] =>
  (option.tooltip as { readonly formatter: (reported: unknown) => string }).formatter(reported).split('\n');

const hour = 3_600_000;
const now = 1_800_000_000_000;
const clock = (hours: number): string => sayClock(now + hours * hour, now);
const reservation = (
  id: number,
  isMine: boolean,
  [start, end, amount]: readonly [number, number, number],
): Reservation => ({
  reservation_id: id,
  resource_id: 'alpha',
  user_id: isMine ? 'rosa' : 'kim',
  is_mine: isMine,
  status: 'confirmed',
  start_unix_ms: now + start * hour,
  end_unix_ms: now + end * hour,
  amount,
  unit: '',
  units: [],
  earliest_start_unix_ms: null,
  latest_end_unix_ms: null,
  hold_until_unix_ms: null,
  requested_unix_ms: now,
  revision: 1,
  reason: null,
  provisioning: null,
});
const calendar: ReservationCalendar = {
  resource: {
    resource_id: 'alpha',
    owner_id: '',
    type: 'processors',
    kind: 'units',
    total: 8,
    unit: '',
    cap_percent: 100,
    duration_ms_max: 0,
    failed: 0,
    reservation_count: 2,
    maintenances: [
      {
        maintenance_id: 'm',
        start_unix_ms: now + 5 * hour,
        end_unix_ms: now + 6 * hour,
        amount: 8,
        reason: 'new disks',
      },
    ],
  },
  from_unix_ms: now - hour,
  until_unix_ms: now + 11 * hour,
  truncated: false,
  utilisation: 0.3,
  reservations: [reservation(1, true, [1, 3, 2]), reservation(2, false, [2, 4, 3])],
  slots: [
    [-2, 1, 0],
    [1, 2, 2],
    [2, 3, 5],
    [3, 4, 3],
    [4, 12, 0],
  ].map(([start = 0, end = 0, used = 0]) => ({
    start_unix_ms: now + start * hour,
    end_unix_ms: now + end * hour,
    used,
  })),
};
const scene: CalendarScene = {
  calendar,
  boxes: pileReservations(calendar.reservations),
  ghost: undefined,
  isDragging: false,
  now,
};
const getTaken = (of: CalendarScene): Series | undefined =>
  getSeries(buildCalendarOption(of, lightLook)).find(({ id }) => id === 'taken');

test('a calendar shows what is taken as steps within what is shown, with the present instant', (t) => {
  const taken = getTaken(scene);
  t.deepEqual(taken?.data, [
    [now - hour, 0],
    [now + hour, 2],
    [now + 2 * hour, 5],
    [now + 3 * hour, 3],
    [now + 4 * hour, 0],
    [now + 11 * hour, 0],
  ]);
  t.deepEqual([taken?.markLine?.data, taken?.markArea?.data], [[{ xAxis: now }], []]);
  t.deepEqual(getTaken({ ...scene, now: now + 20 * hour })?.markLine?.data, []);
});

test('the requested slot is drawn within the grid, and while it is dragged the tip shows nothing else', (t) => {
  const option = buildCalendarOption(
    { ...scene, ghost: { start: now + 4 * hour, end: now + 20 * hour, amount: 5, bottom: 6 }, isDragging: true },
    lightLook,
  );
  t.deepEqual(getSeries(option).find(({ id }) => id === 'taken')?.markArea?.data, [
    [
      { xAxis: now + 4 * hour, yAxis: 6 },
      { xAxis: now + 11 * hour, yAxis: 8 },
    ],
  ]);
  t.deepEqual(getTip(option, [{ axisValue: now + hour }]), ['']);
});

test('a tip of a calendar shows what is taken at an instant and by which users, as far as that is visible', (t) => {
  const lines = getTip(buildCalendarOption(scene, lightLook), [{ axisValue: now + 2.5 * hour }]);
  t.deepEqual(lines, [
    `${clock(2.5)}: 5 processors of 8 taken, 63 %`,
    `#1, yours: 2 processors, ${clock(1)} to ${clock(3)}, confirmed`,
    `#2, kim: 3 processors, ${clock(2)} to ${clock(4)}, confirmed`,
  ]);
  t.is(
    getTip(buildCalendarOption(scene, lightLook), [{ axisValue: now + 5.5 * hour }])[1],
    'maintenance of 8 processors: new disks',
  );
  t.is(calendarTable(scene).rows.length, calendar.slots.length);
});

test('a calendar is drawn with whose its reservations are and why it is maintained', (t) => {
  const svg = drawChartSvg(buildCalendarOption(scene, lightLook), { width: 1000, height: 300, title: 'Calendar' });
  t.true(['#1', 'kim', 'new disks', 'processors', '100 %'].every((text) => svg.includes(`>${text}<`)));
});

const plan: WorkflowPlan = {
  algorithm: 'heft',
  processors: ['p1', 'p2'],
  makespan_s: 30,
  bound_s: 20,
  speedup: 1.5,
  efficiency: 0.75,
  placements: [
    {
      task: 'first',
      processors: [0],
      start_s: 0,
      end_s: 10,
      reason: { code: '', parameters: {}, text: 'earliest finish' },
    },
    { task: 'wide', processors: [0, 1], start_s: 10, end_s: 30, reason: { code: '', parameters: {}, text: '' } },
  ],
};

test('a plan has a box for each processor of a task, and a tip for the one that is pointed at', (t) => {
  const option = buildPlanOption(plan, lightLook);
  t.deepEqual(getSeries(option)[0]?.data, [
    { value: [0, 10_000, 0, 0], name: 'first' },
    { value: [10_000, 30_000, 0, 0], name: 'wide' },
    { value: [10_000, 30_000, 1, 1], name: 'wide' },
  ]);
  t.deepEqual(getTip(option, { dataIndex: 0 }), ['first: 10 s, from 0 ms to 10 s', 'earliest finish']);
  t.deepEqual(planTable(plan).rows[1], ['wide', '10 s', '30 s', 'p1, p2']);
  const svg = drawChartSvg(option, { width: 1000, height: planHeight(plan), title: 'Plan' });
  t.true(['first', 'wide', 'p2', '10 s'].every((text) => svg.includes(`>${text}<`)));
});

const sample = (
  at: number,
  busy: Readonly<Record<string, number>> | undefined,
  pace: number | undefined = 2,
): GridSample => ({
  at: now + at * 1000,
  finishedPerSecond: busy === undefined ? undefined : pace,
  processors: 20,
  busy: busy === undefined ? undefined : new Map(Object.entries(busy)),
});
const samples = [sample(0, { alpha: 3, beta: 4 }), sample(1, undefined), sample(2, { alpha: 5 })];

test('the last minutes are drawn with a gap where nothing was reported, and a site that left has none', (t) => {
  t.deepEqual(getSeries(buildPaceOption(samples, lightLook))[0]?.data, [
    [now, 2],
    [now + 1000, '-'],
    [now + 2000, 2],
  ]);
  const busy = getSeries(buildBusyOption(samples, lightLook));
  t.deepEqual(
    busy.map(({ id, data }) => [id, data.map((point) => (point as readonly unknown[])[1])]),
    [
      ['site alpha', [3, '-', 5]],
      ['site beta', [4, '-', 0]],
      ['all', [20, 20, 20]],
    ],
  );
  t.deepEqual(getTip(buildBusyOption(samples, lightLook), [{ axisValue: now + 500 }]).slice(1), [
    '7 of 20 processors busy',
    'alpha: 3',
    'beta: 4',
  ]);
  t.deepEqual(
    [paceTable(samples).rows.map((row) => row[1]), busyTable(samples).rows.map((row) => row.slice(1))],
    [
      ['2.0', '', '2.0'],
      [
        ['20', '5', '0'],
        ['20', '', ''],
        ['20', '3', '4'],
      ],
    ],
  );
});

test('of more sites than there are colours the busiest have one, and the others are drawn together', (t) => {
  const many = [sample(0, Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`s${index}`, index])))];
  const bands = siteBands(many);
  t.deepEqual(
    bands.map(({ ink, of }) => [ink.title, of(many[0]!)]),
    [
      ['s9', 9],
      ['s8', 8],
      ['s7', 7],
      ['s6', 6],
      ['s5', 5],
      ['s4', 4],
      ['s3', 3],
      ['all others', 3],
    ],
  );
});
