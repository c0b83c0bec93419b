import type { LineSeriesOption } from 'echarts/charts';
import type { GridSample } from '../model/history.ts';
import { okabeIto, type Ink } from '../model/palette.ts';
import { sayCount, sayMany } from '../model/words.ts';
import { countAxis, timeAxis } from './axes.ts';
import { baseOption, fillOfInk, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

/** The shortest time that is shown, in milliseconds. */
const shownMin = 60_000;

const paceInk: Ink = { colour: okabeIto.green, pattern: 'plain', mark: '', title: 'tasks finished per second' };

function getRange(samples: readonly GridSample[]): { readonly from: number; readonly until: number } {
  const until = samples.at(-1)?.at ?? 0;
  return { from: Math.min(samples[0]?.at ?? until, until - shownMin), until };
}

function getLine({
  id,
  ink,
  look,
  data,
}: {
  readonly id: string;
  readonly ink: Ink;
  readonly look: ChartLook;
  readonly data: readonly (readonly [number, number | null])[];
}): LineSeriesOption {
  const fill = fillOfInk(ink, look);
  return {
    type: 'line',
    id,
    name: id,
    symbol: 'none',
    silent: true,
    lineStyle: { color: ink.colour, width: 1.5 },
    itemStyle: fill,
    areaStyle: { color: fill.color, opacity: 0.75 },
    data: data.map(([at, value]) => [at, value ?? '-']),
  };
}

function findFrame(
  samples: readonly GridSample[],
  {
    look,
    name,
    report,
  }: { readonly look: ChartLook; readonly name: string; readonly report: (sample: GridSample) => string[] },
): ChartOption {
  const nearest = (reported: unknown): GridSample | undefined => {
    const instant = (reported as readonly { readonly axisValue: number }[])[0]?.axisValue ?? 0;
    return samples.findLast(({ at }) => at <= instant) ?? samples[0];
  };
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 26 }),
    xAxis: timeAxis(look, getRange(samples)),
    yAxis: countAxis(look, { name }),
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { color: look.faint } },
      formatter: (reported: unknown) => {
        const sample = nearest(reported);
        return sample === undefined ? '' : [sayTime(sample.at), ...report(sample)].join('\n');
      },
    },
  };
}

/** Tasks that finished per second, over the last minutes. */
export function buildPaceOption(samples: readonly GridSample[], look: ChartLook): ChartOption {
  return {
    ...findFrame(samples, {
      look,
      name: 'tasks per second',
      report: ({ finishedPerSecond: pace }) => [
        pace === undefined ? 'not known' : `${sayPace(pace)} tasks finished per second`,
      ],
    }),
    series: [
      getLine({
        id: 'pace',
        ink: paceInk,
        look,
        data: samples.map(({ at, finishedPerSecond }) => [at, finishedPerSecond ?? null]),
      }),
    ],
  };
}

/** The same as a table, the newest first. */
export function paceTable(samples: readonly GridSample[]): ChartTable {
  return {
    heads: ['At', 'Tasks per second'],
    rows: samples
      .toReversed()
      .map(({ at, finishedPerSecond: pace }) => [sayTime(at), pace === undefined ? '' : sayPace(pace)]),
  };
}

const siteInks: readonly Omit<Ink, 'title'>[] = [
  { colour: okabeIto.blue, pattern: 'plain', mark: '' },
  { colour: okabeIto.orange, pattern: 'stripes', mark: '' },
  { colour: okabeIto.green, pattern: 'plain', mark: '' },
  { colour: okabeIto.purple, pattern: 'dots', mark: '' },
  { colour: okabeIto.sky, pattern: 'plain', mark: '' },
  { colour: okabeIto.vermillion, pattern: 'cross', mark: '' },
  { colour: okabeIto.yellow, pattern: 'stripes', mark: '' },
];
const rest = 'all others';

/** A site in the chart of busy processors, or all that have no colour of their own. */
export interface SiteBand {
  readonly ink: Ink;
  /** Its busy processors in a sample; undefined if unknown. */
  readonly of: (sample: GridSample) => number | undefined;
}

/**
 * The sites that are shown apart: by name as long as there are colours, and then those that had the most busy
 * processors.
 */
export function siteBands(samples: readonly GridSample[]): SiteBand[] {
  const most = new Map<string, number>();
  for (const { busy } of samples)
    for (const [site, count] of busy ?? []) most.set(site, Math.max(count, most.get(site) ?? 0));
  const reported = [...most]
    .sort(
      ([one, count], [other, otherCount]) =>
        (most.size > siteInks.length ? otherCount - count : 0) || one.localeCompare(other, 'en', { numeric: true }),
    )
    .slice(0, siteInks.length)
    .map(([site]) => site);
  const bands = reported.map(
    (site, index): SiteBand => ({
      ink: { ...(siteInks[index] as Ink), title: site },
      of: ({ busy }) => (busy === undefined ? undefined : (busy.get(site) ?? 0)),
    }),
  );
  if (most.size === reported.length) return bands;
  const others = ({ busy }: GridSample): number | undefined =>
    busy === undefined
      ? undefined
      : [...busy].reduce((sum, [site, count]) => sum + (reported.includes(site) ? 0 : count), 0);
  return [...bands, { ink: { colour: okabeIto.grey, pattern: 'hollow', mark: '', title: rest }, of: others }];
}

/** Busy processors, site upon site, over the last minutes; the dashed line is all that there are. */
export function buildBusyOption(samples: readonly GridSample[], look: ChartLook): ChartOption {
  const bands = siteBands(samples);
  const report = (sample: GridSample): string[] =>
    sample.busy === undefined
      ? ['not known']
      : [
          `${sayCount([...sample.busy.values()].reduce((sum, count) => sum + count, 0))} of ` +
            `${sayMany(sample.processors ?? 0, 'processor')} busy`,
          ...bands.map(({ ink, of }) => `${ink.title}: ${sayCount(of(sample) ?? 0)}`),
        ];
  return {
    ...findFrame(samples, { look, name: 'processors', report }),
    series: [
      ...bands.map(
        ({ ink, of }): LineSeriesOption => ({
          ...getLine({
            id: `site ${ink.title}`,
            ink,
            look,
            data: samples.map((sample) => [sample.at, of(sample) ?? null]),
          }),
          stack: 'busy',
          lineStyle: { color: look.ground, width: 1 },
          areaStyle: { color: fillOfInk(ink, look).color, opacity: 1 },
        }),
      ),
      {
        type: 'line',
        id: 'all',
        name: 'all',
        symbol: 'none',
        silent: true,
        step: 'end',
        lineStyle: { color: look.faint, width: 1.2, type: 'dashed' },
        itemStyle: { color: look.faint },
        data: samples.map(({ at, processors }) => [at, processors ?? '-']),
      },
    ],
  };
}

/** The same as a table, the newest first. */
export function busyTable(samples: readonly GridSample[]): ChartTable {
  const bands = siteBands(samples);
  return {
    heads: ['At', 'Processors', ...bands.map(({ ink }) => ink.title)],
    rows: samples.toReversed().map((sample) => [
      sayTime(sample.at),
      sample.processors === undefined ? '' : sayCount(sample.processors),
      ...bands.map(({ of }) => {
        const count = of(sample);
        return count === undefined ? '' : sayCount(count);
      }),
    ]),
  };
}

function sayTime(instant: number): string {
  return new Date(instant).toLocaleTimeString();
}

function sayPace(pace: number): string {
  return pace >= 100 ? sayCount(pace) : pace.toFixed(1);
}
