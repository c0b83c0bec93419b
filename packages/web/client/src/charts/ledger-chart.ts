import type { Ledger } from '../../../src/schema/index.ts';
import { ledgerInks, type Ink } from '../model/palette.ts';
import { sayProcessorTime, sayShare } from '../model/words.ts';
import { axisLook, baseOption, fillOfInk, gridWithin, textOn, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

type Times = Ledger['total'];
interface LedgerLine {
  readonly name: string;
  readonly times: Times;
}

const parts: readonly { readonly ink: Ink; readonly of: (times: Times) => number }[] = [
  { ink: ledgerInks.used, of: (times) => times.used_processor_ms },
  { ink: ledgerInks.losers, of: (times) => times.losers_processor_ms },
  { ink: ledgerInks.killed, of: (times) => times.killed_processor_ms },
  { ink: ledgerInks.idle, of: (times) => times.idle_processor_ms },
];

/** A line for all that was held and, where there are several, one for each provider that held something. */
function listLines({ total, by_provider: providers }: Ledger): LedgerLine[] {
  const each = providers
    .filter(({ held_processor_ms: held }) => held > 0)
    .map(({ provider_id: name, ...times }) => ({ name, times }));
  return [{ name: 'all', times: total }, ...each];
}

/** Height of the chart in pixels. */
export function ledgerHeight(ledger: Ledger): number {
  return listLines(ledger).length * 32 + 28;
}

/** Where processor-time went: a bar for all and one for each provider, its parts as shares of what was held. */
export function buildLedgerOption(ledger: Ledger, look: ChartLook): ChartOption {
  const lines = listLines(ledger);
  const axis = axisLook(look);
  const names = {
    type: 'category' as const,
    inverse: true,
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { ...axis.axisLabel, fontSize: 12, color: look.text },
  };
  const nameWidth = look.width < 480 ? 70 : 120;
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 0 }),
    xAxis: {
      ...axis,
      type: 'value',
      min: 0,
      max: 100,
      axisLabel: { ...axis.axisLabel, formatter: '{value} %' },
      interval: look.width < 480 ? 50 : 25,
    },
    yAxis: [
      {
        ...names,
        data: lines.map(({ name }) => name),
        axisLabel: { ...names.axisLabel, width: nameWidth, overflow: 'truncate' },
      },
      {
        ...names,
        position: 'right',
        data: lines.map(({ times }) => sayProcessorTime(times.held_processor_ms)),
        axisLabel: { ...names.axisLabel, color: look.faint },
      },
    ],
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'axis',
      axisPointer: { type: 'none' },
      formatter: (reported: unknown) => reportLine(lines[getLineIndex(reported)]),
    },
    series: parts.map(({ ink, of }) => {
      const fill = fillOfInk(ink, look);
      return {
        type: 'bar',
        id: ink.title,
        name: ink.title,
        stack: 'held',
        barWidth: 18,
        itemStyle: { ...fill, borderColor: look.ground, borderWidth: 0.5 },
        data: lines.map(({ times }) => {
          const share = (100 * of(times)) / Math.max(1, times.held_processor_ms);
          return {
            value: share,
            label: {
              show: share * look.width > 4500 && ink.pattern !== 'cross',
              formatter: sayShare(of(times), times.held_processor_ms),
              color: textOn(fill.color),
              fontSize: 11,
            },
          };
        }),
      };
    }),
  };
}

function getLineIndex(reported: unknown): number {
  return (reported as readonly { readonly dataIndex: number }[])[0]?.dataIndex ?? -1;
}

function reportLine(line: LedgerLine | undefined): string {
  if (line === undefined) return '';
  const { name, times } = line;
  return [
    `${name}: ${sayProcessorTime(times.held_processor_ms)} allocated`,
    ...parts.map(
      ({ ink, of }) => `${ink.title} ${sayProcessorTime(of(times))}, ${sayShare(of(times), times.held_processor_ms)}`,
    ),
  ].join('\n');
}

/** The same as a table. */
export function ledgerTable(ledger: Ledger): ChartTable {
  return {
    heads: ['Provider', 'Allocated', ...parts.map(({ ink }) => ink.title)],
    rows: listLines(ledger).map(({ name, times }) => [
      name,
      sayProcessorTime(times.held_processor_ms),
      ...parts.map(({ of }) => sayProcessorTime(of(times))),
    ]),
  };
}
