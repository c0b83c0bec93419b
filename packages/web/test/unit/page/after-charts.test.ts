// What is shown of a job after it ran, as options of ECharts: what is drawn, what a tip says, and that it becomes a
// picture without a browser.
import test from 'ava';
import { init } from 'echarts/core';
import type { Gantt, TaskTimes } from '@mutirao/web/schema';
import { durationUnit } from '../../../client/src/charts/axes.ts';
import {
  buildGanttDrawing,
  buildGanttOption,
  ganttHeight,
  ganttRows,
  ganttTable,
  getShapeIndex,
} from '../../../client/src/charts/gantt-chart.ts';
import { darkLook, lightLook, replacedParts, type ChartOption } from '../../../client/src/charts/look.ts';
import { buildStragglersOption, stragglersTable } from '../../../client/src/charts/stragglers-chart.ts';
import { buildTimesOption, timesHeight, timesTable } from '../../../client/src/charts/times-chart.ts';
import { layOutGantt } from '../../../client/src/model/gantt.ts';
import { sayTimeOfDay } from '../../../client/src/model/words.ts';
import { drawChartSvg } from '../../../src/server/drawing/chart-svg.ts';

const hostile = '<script>alert(1)</script>';
const kinds = ['inputs', 'outputs', 'accepted', 'loser', 'failed', 'killed', 'lost', 'running'];
const start = 1_777_000_000_000;
const clock = (seconds: number): string => sayTimeOfDay(start + seconds * 1000);
const bars = {
  row: [0, 0, 1],
  start_unix_ms: [start + 12_000, start + 10_000, start],
  end_unix_ms: [start + 29_000, start + 11_000, start + 40_000],
  kind: [2, 0, 3],
  task_index: [12, 12, 1234],
  replica_id: [71, 71, 72],
};
const gantt: Gantt = {
  job_id: 1,
  from_unix_ms: start,
  until_unix_ms: start + 60_000,
  job_from_unix_ms: start,
  job_until_unix_ms: start + 60_000,
  kinds,
  rows: [
    { machine_id: 'lab-pc-3', provider_id: 'lab' },
    { machine_id: hostile, provider_id: 'lab' },
  ],
  rows_left_out: 0,
  bars,
  cells: null,
  bin_ms: 250,
  read_task_count: 2,
  task_count: 2,
};
const picture = layOutGantt(gantt);
const times: TaskTimes = {
  job_id: 1,
  count: 4,
  mean_ms: 2000,
  ms_max: 90_000,
  quantiles: [
    { share: 0.5, ms_max: 1000 },
    { share: 0.9, ms_max: 90_000 },
  ],
  bins: [
    { from_ms: 0, until_ms: 1000, accepted: 1, other: 0 },
    { from_ms: 1000, until_ms: 2000, accepted: 2, other: 5 },
    { from_ms: 2000, until_ms: 90_000, accepted: 1, other: 0 },
  ],
  stragglers: [
    {
      task_index: 7,
      machine_id: hostile,
      replica_id: 9,
      took_ms: 90_000,
      is_running: false,
      times_half: 90,
      started_unix_ms: start,
      failures_before: 2,
      why: 'lab-pc-3 is slow.',
    },
  ],
  straggler_count: 1,
  by_machine: [],
  read_task_count: 4,
  task_count: 4,
};

interface Reported {
  readonly tooltip: { readonly formatter: (reported: unknown) => string };
  readonly series: readonly {
    readonly id: string;
    readonly name: string;
    readonly data: readonly (readonly number[])[];
  }[];
}
const reported = (option: ChartOption): Reported => option as unknown as Reported;

test('a bar says its task, its machine, how long it took, what became of it and when', (t) => {
  const { tooltip, series } = reported(buildGanttOption(picture, lightLook));
  t.is(
    tooltip.formatter({ value: series.find(({ id }) => id === 'accepted')?.data[0] }),
    `task 12 on lab-pc-3, 17 s\naccepted: its result is that of the task\n${clock(12)} to ${clock(29)}, replica 71`,
  );
  t.regex(
    tooltip.formatter({ value: series.find(({ id }) => id === 'inputs')?.data[0] }),
    /^task 12 on lab-pc-3, 1\.0 s\ntransfer of inputs/,
  );
  t.is(tooltip.formatter(undefined), '');
});

test('runs are drawn by what became of them, and the legend leaves out absent kinds', (t) => {
  const { series } = reported(buildGanttOption(picture, lightLook));
  t.deepEqual(
    series.map(({ id, name, data }) => [id, name, data.length]),
    [
      ['inputs', 'inputs', 1],
      ['accepted', 'accepted', 1],
      ['loser', 'loser', 1],
    ],
  );
});

test('what is pressed leads to the bar that it is', (t) => {
  const { series } = reported(buildGanttOption(picture, lightLook));
  const index = getShapeIndex(series.find(({ id }) => id === 'loser')?.data[0]);
  t.is(gantt.bars?.task_index[picture.shapes[index]?.bar ?? -1], 1234);
  t.is(getShapeIndex('no entry'), -1);
});

test('sums say what a machine did in a stretch of time', (t) => {
  const summed = layOutGantt({
    ...gantt,
    bars: null,
    bin_ms: 1000,
    cells: { row: [0, 0], bin: [3, 3], kind: [2, 3], busy_ms: [500, 250] },
  });
  const { tooltip, series } = reported(buildGanttOption(summed, darkLook));
  t.is(
    tooltip.formatter({ value: series[0]?.data[0] }),
    `lab-pc-3, ${clock(3)} to ${clock(4)}\naccepted about 50 %\nloser about 25 %\nzoom in to see single tasks`,
  );
  t.deepEqual(ganttTable(summed).rows[0], ['lab-pc-3', '', '', '0.5 processor-s', '0.3 processor-s', '', '', '', '']);
});

const many = layOutGantt({
  ...gantt,
  rows: Array.from({ length: 1000 }, (_, row) => ({ machine_id: `m${row}`, provider_id: 'p' })),
});

test('of a thousand machines some are visible at once, in a chart of the usual height', (t) => {
  const { seen } = ganttRows(1000);
  t.true(seen < 100 && ganttHeight(many) < 600);
  const zooms = (
    buildGanttOption(many, lightLook) as {
      readonly dataZoom: readonly { readonly id: string; readonly maxValueSpan?: number }[];
    }
  ).dataZoom;
  t.is(zooms.find(({ id }) => id === 'machines')?.maxValueSpan, seen - 1);
  t.deepEqual(ganttRows(2), { rowHeight: 22, seen: 2 });
});

test('machines that were scrolled to and kinds that were hidden stay so when the job goes on', (t) => {
  interface Seen {
    readonly dataZoom: readonly { readonly id: string; readonly startValue: number; readonly endValue: number }[];
    readonly legend: readonly { readonly selected: Readonly<Record<string, boolean>> }[];
  }
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 1000, height: 500 });
  t.teardown(() => chart.dispose());
  const draw = (shown: typeof many): void =>
    chart.setOption(buildGanttOption(shown, lightLook), { replaceMerge: replacedParts });
  const sight = (): unknown[] => {
    const { dataZoom, legend } = chart.getOption() as unknown as Seen;
    return [
      ...dataZoom
        .filter(({ id }) => id.startsWith('machines'))
        .map(({ startValue, endValue }) => [startValue, endValue]),
      legend[0]?.selected['loser'] ?? true,
    ];
  };
  draw(many);
  const last = ganttRows(1000).seen - 1;
  t.deepEqual(sight(), [[0, last], [0, last], true]);
  chart.dispatchAction({ type: 'dataZoom', dataZoomId: 'machines', startValue: 300, endValue: 300 + last });
  chart.dispatchAction({ type: 'legendUnSelect', name: 'loser' });
  draw({
    ...many,
    gantt: { ...many.gantt, bars: { ...bars, end_unix_ms: [start + 29_000, start + 11_000, start + 55_000] } },
  });
  t.deepEqual(sight(), [[300, 300 + last], [300, 300 + last], false]);
  t.regex(chart.renderToSVGString(), />loser 55\.0 s</, 'the sum is that of the new picture');
});

test('the distribution of times counts every run, with the share that ended within each time', (t) => {
  const { tooltip, series } = reported(buildTimesOption(times, lightLook));
  t.deepEqual(
    series.map(({ id, data }) => [id, data.map(([, value]) => value)]),
    [
      ['accepted', [1, 2, 1]],
      ['not accepted', [7]],
      ['share', [0, 25, 75, 100]],
    ],
  );
  t.is(
    tooltip.formatter({ value: series[0]?.data[1] }),
    '1.0 s to 2.0 s\n2 runs accepted, 50 % of them\n5 not accepted\n75 % ended within 2.0 s',
  );
  t.deepEqual(timesTable(times).rows[2], ['2.0 s', '1 min 30 s', '1', '0', '100.0 %']);
});

test('the last bin, which holds all that is longer, is as wide as the others', (t) => {
  const { xAxis } = buildTimesOption(times, lightLook) as {
    readonly xAxis: { readonly max: number; readonly axisLabel: { readonly formatter: string } };
  };
  t.deepEqual([xAxis.max, xAxis.axisLabel.formatter], [3, '{value} s']);
});

test('an axis is in the longest unit of which it holds two', (t) => {
  t.deepEqual(
    [7_200_000, 7_199_999, 120_000, 2000, 1999, 0].map((longest) => durationUnit(longest)),
    [
      ['h', 3_600_000],
      ['min', 60_000],
      ['min', 60_000],
      ['s', 1000],
      ['ms', 1],
      ['ms', 1],
    ],
  );
});

test('a straggler says which it is, by how much and why', (t) => {
  const { tooltip } = reported(buildStragglersOption(times, lightLook));
  t.is(
    tooltip.formatter([{ dataIndex: 0 }]),
    `task 7 on ${hostile}, 1 min 30 s\n90.0 times the median, from ${clock(0)} on\nit had ` +
      'failed 2 times before\nlab-pc-3 is slow.',
  );
  t.deepEqual(stragglersTable(times).rows, [['7', hostile, '1 min 30 s', '90.0', 'lab-pc-3 is slow.']]);
});

test('all of them become pictures without a browser, and names in them are text', (t) => {
  for (const [option, height] of [
    [buildGanttDrawing(picture, lightLook), ganttHeight(picture)],
    [buildTimesOption(times, lightLook), timesHeight],
    [buildStragglersOption(times, darkLook), 100],
  ] as const) {
    const svg = drawChartSvg(option, { width: 800, height, title: hostile });
    t.regex(svg, /^<svg /);
    t.false(svg.includes('<script'));
    t.false(svg.includes('NaN'));
  }
  t.regex(
    drawChartSvg(buildGanttDrawing(picture, lightLook), { width: 800, height: 200, title: '' }),
    />accepted 17\.0 s</,
    'the legend of a file says the sums',
  );
});

test('the slider of time is as wide as the axis that it moves, however long the names of machines are', (t) => {
  for (const name of ['m', 'a machine with a long name', 'x'.repeat(200)]) {
    const named = { ...gantt, rows: gantt.rows.map((row) => ({ ...row, machine_id: name })) };
    for (const width of [380, 1200]) {
      const { grid, dataZoom } = buildGanttOption(layOutGantt(named), { ...lightLook, width }) as {
        readonly grid: { readonly left: number; readonly right: number };
        readonly dataZoom: readonly { readonly left?: number; readonly right?: number }[];
      };
      t.deepEqual([dataZoom[0]?.left, dataZoom[0]?.right], [grid.left, grid.right]);
      t.true(grid.left <= 158);
    }
  }
});
