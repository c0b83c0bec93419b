import type { CustomSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { TaskTimes } from '../../../src/schema/index.ts';
import { barInks, getInk, type Ink } from '../model/palette.ts';
import { sayCount, sayDuration, sayMany, sayShare } from '../model/words.ts';
import { durationUnit } from './axes.ts';
import { axisLook, baseOption, fillOfInk, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

/** Height of the chart in pixels. */
export const timesHeight = 300;

const parts: readonly {
  readonly name: string;
  readonly ink: Ink;
  readonly of: (bin: TaskTimes['bins'][number]) => number;
}[] = [
  { name: 'accepted', ink: getInk(barInks, 'accepted'), of: ({ accepted }) => accepted },
  { name: 'not accepted', ink: getInk(barInks, 'loser'), of: ({ other }) => other },
];
const shareName = 'ended within that time';

/** How long runs took: how many of each length, and which share of the accepted ones ended within a time. */
export function buildTimesOption(times: TaskTimes, look: ChartLook): ChartOption {
  const { bins } = times;
  const width = (bins[0]?.until_ms ?? 1) - (bins[0]?.from_ms ?? 0);
  // The last bin holds all that is longer; drawn as wide as that is it would be the whole chart.
  const end = (bins.at(-1)?.from_ms ?? 0) + (bins.length === 1 ? Math.max(1, width) : width);
  const [unit, size] = durationUnit(end);
  const axis = axisLook(look);
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 46, right: 4 }),
    legend: {
      top: 0,
      left: 0,
      itemWidth: 14,
      itemHeight: 10,
      textStyle: { color: look.faint, fontSize: 12 },
      inactiveColor: look.line,
      data: [...parts.map(({ name }) => ({ name, icon: 'rect' })), { name: shareName }],
    },
    xAxis: {
      ...axis,
      type: 'value',
      min: 0,
      max: end / size,
      axisLabel: { ...axis.axisLabel, formatter: `{value} ${unit}`, showMaxLabel: false },
      splitLine: { show: false },
      splitNumber: Math.max(2, Math.round(look.width / 110)),
    },
    yAxis: [
      {
        ...axis,
        type: 'value',
        minInterval: 1,
        axisLabel: { ...axis.axisLabel, formatter: (value: number) => sayCount(value) },
        splitNumber: 4,
      },
      {
        ...axis,
        type: 'value',
        min: 0,
        max: 100,
        position: 'right',
        splitLine: { show: false },
        interval: 25,
        axisLabel: { ...axis.axisLabel, formatter: '{value} %' },
      },
    ],
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'item',
      formatter: (reported: unknown) => reportBin(times, getBinIndex(reported)),
    },
    series: [
      ...parts.map((part) => binSeries(times, part, { size, width, look })),
      shareSeries(times, { size, width, look, end }),
    ],
  };
}

/** The share of accepted runs that ended within a time, with marks at the median and the 90th percentile. */
function shareSeries(
  times: TaskTimes,
  { size, width, look, end }: BinScale & { readonly end: number },
): LineSeriesOption {
  return {
    type: 'line',
    id: 'share',
    name: shareName,
    yAxisIndex: 1,
    showSymbol: false,
    symbol: 'circle',
    symbolSize: 9,
    lineStyle: { color: look.text, width: 1.5 },
    itemStyle: { color: look.text },
    data: [
      [0, 0, -1],
      ...getShares(times).map((share, index) => [
        Math.min(end, (times.bins[index]?.from_ms ?? 0) + width) / size,
        share,
        index,
      ]),
    ],
    markLine: {
      silent: true,
      symbol: 'none',
      lineStyle: { color: look.faint, type: 'dashed' },
      label: { color: look.text, fontSize: 11, distance: 3 },
      data: times.quantiles
        .filter(({ share, ms_max: most }) => (share === 0.5 || share === 0.9) && most < end)
        .map(({ share, ms_max: most }) => ({
          xAxis: most / size,
          label: { formatter: share === 0.5 ? 'half' : '90 %' },
        })),
    },
  };
}

/** By bin: how many of a hundred accepted runs ended by its end. */
function getShares({ bins }: TaskTimes): number[] {
  const all = bins.reduce((sum, { accepted }) => sum + accepted, 0);
  let sum = 0;
  return bins.map(({ accepted }) => {
    sum += accepted;
    return all === 0 ? 0 : (100 * sum) / all;
  });
}

interface BinScale {
  readonly size: number;
  readonly width: number;
  readonly look: ChartLook;
}

/** Entries are `[middle, upper edge of the bar, bin, lower edge]`. */
function binSeries(
  { bins }: TaskTimes,
  { name, ink, of }: (typeof parts)[number],
  { size, width, look }: BinScale,
): CustomSeriesOption {
  const fill = fillOfInk(ink, look);
  const isUpper = name !== 'accepted';
  const shown = bins.map((bin, index) => ({ bin, index })).filter(({ bin }) => of(bin) > 0);
  return {
    type: 'custom',
    id: name,
    name,
    clip: true,
    itemStyle: fill,
    encode: { x: 0, y: 1 },
    data: shown.map(({ bin, index }) => {
      const under = isUpper ? bin.accepted : 0;
      return [(bin.from_ms + width / 2) / size, under + of(bin), index, under];
    }),
    renderItem: (_, api) => {
      const reported = (dimension: number): number => Number(api.value(dimension));
      const [middle = 0, top = 0] = api.coord([reported(0), reported(1)]);
      const [, bottom = 0] = api.coord([reported(0), reported(3)]);
      const wide = (api.size?.([width / size, 0]) as readonly number[] | undefined)?.[0] ?? 4;
      const drawn = Math.max(1, wide - (wide > 5 ? 1.5 : 0));
      return {
        type: 'rect',
        shape: { x: middle - drawn / 2, y: Math.min(top, bottom - 1), width: drawn, height: Math.max(1, bottom - top) },
        style: { fill: fill.color, ...(fill.decal === undefined ? {} : { decal: fill.decal }) },
      };
    },
  };
}

function getBinIndex(reported: unknown): number {
  const value = (reported as { readonly value?: unknown } | null)?.value;
  const index = Array.isArray(value) ? (value as unknown[])[2] : undefined;
  return typeof index === 'number' ? index : -1;
}

function reportBin(times: TaskTimes, index: number): string {
  const bin = times.bins[index];
  if (bin === undefined) return '';
  const share = getShares(times)[index] ?? 0;
  const lines = [
    `${sayDuration(bin.from_ms)} to ${sayDuration(bin.until_ms)}`,
    `${sayMany(bin.accepted, 'run')} accepted, ${sayShare(bin.accepted, times.count)} of them`,
  ];
  return [
    ...lines,
    ...(bin.other > 0 ? [`${sayCount(bin.other)} not accepted`] : []),
    `${share >= 99.95 ? 'all' : `${share.toFixed(share < 10 ? 1 : 0)} %`} ended within ${sayDuration(bin.until_ms)}`,
  ].join('\n');
}

/** The same as a table. */
export function timesTable(times: TaskTimes): ChartTable {
  const shares = getShares(times);
  return {
    heads: ['From', 'Until', 'Accepted', 'Not accepted', 'Ended within that time'],
    rows: times.bins.map(({ from_ms: from, until_ms: until, accepted, other }, index) => [
      sayDuration(from),
      sayDuration(until),
      sayCount(accepted),
      sayCount(other),
      `${(shares[index] ?? 0).toFixed(1)} %`,
    ]),
  };
}
