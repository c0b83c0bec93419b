import type { TaskTimes } from '../../../src/schema/index.ts';
import { barInks, getInk } from '../model/palette.ts';
import { sayTimeOfDay, sayCount, sayDuration } from '../model/words.ts';
import { durationUnit } from './axes.ts';
import { axisLook, baseOption, fillOfInk, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

type Straggler = TaskTimes['stragglers'][number];
const shownMax = 15;

/** Height of the chart in pixels. */
export function stragglersHeight({ stragglers }: Pick<TaskTimes, 'stragglers'>): number {
  return Math.min(shownMax, stragglers.length) * 24 + 52;
}

/** The runs that took longest, compared with the median of the tasks. */
export function buildStragglersOption({ stragglers, quantiles }: TaskTimes, look: ChartLook): ChartOption {
  const shown = stragglers.slice(0, shownMax);
  const half = quantiles.find(({ share }) => share === 0.5)?.ms_max ?? 0;
  const longest = shown[0]?.took_ms ?? 0;
  const [unit, size] = durationUnit(longest);
  const axis = axisLook(look);
  const fills = {
    accepted: fillOfInk(getInk(barInks, 'accepted'), look),
    running: fillOfInk(getInk(barInks, 'running'), look),
  };
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 18, right: 46 }),
    xAxis: {
      ...axis,
      type: 'value',
      min: 0,
      axisLabel: { ...axis.axisLabel, formatter: `{value} ${unit}` },
      splitNumber: Math.max(2, Math.round(look.width / 150)),
    },
    yAxis: {
      ...axis,
      type: 'category',
      inverse: true,
      data: shown.map(nameOf),
      axisTick: { show: false },
      axisLabel: {
        ...axis.axisLabel,
        color: look.text,
        width: look.width < 480 ? 150 : 210,
        overflow: 'truncate',
        interval: 0,
      },
    },
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'axis',
      axisPointer: { type: 'none' },
      formatter: (reported: unknown) => reportStraggler(shown[indexOf(reported)]),
    },
    series: [
      {
        type: 'bar',
        id: 'stragglers',
        name: 'took',
        barWidth: 14,
        data: shown.map(({ took_ms: took, is_running: runs, times_half: times }) => ({
          value: took / size,
          itemStyle: runs ? fills.running : fills.accepted,
          label: { show: true, position: 'right', formatter: `${times.toFixed(1)} ×`, color: look.text, fontSize: 11 },
        })),
        markLine: {
          silent: true,
          symbol: 'none',
          lineStyle: { color: look.faint, type: 'dashed' },
          label: {
            position: 'start',
            color: look.text,
            fontSize: 11,
            distance: 3,
            formatter: `median: ${sayDuration(half)}`,
          },
          data: [{ xAxis: half / size }],
        },
      },
    ],
  };
}

/** A run as its bar is named. */
function nameOf({ task_index: task, machine_id: machine }: Straggler): string {
  return `task ${sayCount(task)} on ${machine}`;
}

function indexOf(reported: unknown): number {
  return (reported as readonly { readonly dataIndex: number }[])[0]?.dataIndex ?? -1;
}

function reportStraggler(one: Straggler | undefined): string {
  if (one === undefined) return '';
  const lines = [
    `${nameOf(one)}, ${sayDuration(one.took_ms)}${one.is_running ? ' so far' : ''}`,
    `${one.times_half.toFixed(1)} times the median, from ${sayTimeOfDay(one.started_unix_ms)} on`,
  ];
  return [
    ...lines,
    ...(one.failures_before > 0
      ? [`it had failed ${one.failures_before === 1 ? 'once' : `${one.failures_before} times`} before`]
      : []),
    one.why,
  ].join('\n');
}

/** The same as a table, all of them. */
export function stragglersTable({ stragglers }: TaskTimes): ChartTable {
  return {
    heads: ['Task', 'Machine', 'Took', 'Times the median', 'Why'],
    rows: stragglers.map((one) => [
      sayCount(one.task_index),
      one.machine_id,
      `${sayDuration(one.took_ms)}${one.is_running ? ', running' : ''}`,
      one.times_half.toFixed(1),
      one.why,
    ]),
  };
}
