// Charts as options of ECharts: what is drawn of the data, and that the same option becomes a picture without a
// browser.
import { readFileSync } from 'node:fs';
import test from 'ava';
import type { Ledger } from '@mutirao/web/schema';
import { buildLedgerOption, ledgerHeight, ledgerTable } from '../../../client/src/charts/ledger-chart.ts';
import { darkLook, fillOfInk, lightLook, textOn, type ChartLook } from '../../../client/src/charts/look.ts';
import { ledgerInks } from '../../../client/src/model/palette.ts';
import { drawChartSvg } from '../../../src/server/drawing/chart-svg.ts';

const times = (held: number, used: number): Ledger['total'] => ({
  requested_processor_ms: held * 2,
  held_processor_ms: held,
  used_processor_ms: used,
  losers_processor_ms: 10,
  killed_processor_ms: 0,
  idle_processor_ms: held - used - 10,
});
const ledger: Ledger = {
  job_id: null,
  total: times(1000, 800),
  by_provider: [
    { provider_id: '<alpha>', allocation_count: 2, ...times(1000, 800) },
    { provider_id: 'unused', allocation_count: 0, ...times(0, 0) },
  ],
  rows: [],
  rows_left_out: 0,
};

interface Bars {
  readonly name: string;
  readonly data: readonly { readonly value: number }[];
}

test('the ledger is drawn as shares that add up, without providers that held nothing', (t) => {
  const { series } = buildLedgerOption(ledger, lightLook) as { readonly series: readonly Bars[] };
  t.deepEqual(
    series.map(({ name, data }) => [name, data.map(({ value }) => value)]),
    [
      ['used', [80, 80]],
      ['duplicate runs', [1, 1]],
      ['failed or killed', [0, 0]],
      ['idle', [19, 19]],
    ],
  );
  t.true(ledgerHeight(ledger) > 0);
});

test('the table of a ledger says the same, and a tip describes the line under the pointer', (t) => {
  t.deepEqual(
    ledgerTable(ledger).rows.map((row) => row.slice(0, 3)),
    [
      ['all', '1.0 processor-s', '0.8 processor-s'],
      ['<alpha>', '1.0 processor-s', '0.8 processor-s'],
    ],
  );
  const { tooltip } = buildLedgerOption(ledger, lightLook) as {
    readonly tooltip: { readonly formatter: (reported: unknown) => string };
  };
  t.is(tooltip.formatter([{ dataIndex: 1 }]).split('\n')[0], '<alpha>: 1.0 processor-s allocated');
  t.is(tooltip.formatter([]), '');
});

test('an option is drawn without a browser, and names in it are text', (t) => {
  const svg = drawChartSvg(buildLedgerOption(ledger, { ...lightLook, width: 600 }), {
    width: 600,
    height: ledgerHeight(ledger),
    title: 'Where it went & why',
  });
  t.regex(svg, /^<svg [^>]*role="img"><title>Where it went &amp; why<\/title>/);
  t.true(svg.includes('&lt;alpha&gt;') && !svg.includes('<alpha>'));
  t.true(svg.includes(ledgerInks.used.colour) && svg.includes('<pattern'));
});

/** The values of the variables in the first block of a style sheet that begins so. */
function listColours(style: string, block: string): Map<string, string> {
  const rules = style.slice(style.indexOf(block), style.indexOf('}', style.indexOf(block)));
  return new Map([...rules.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name = '', value = '']) => [name, value]));
}

test('charts have the colours of the page, by day and by night', (t) => {
  const style = readFileSync(new URL('../../../client/src/style/base.css', import.meta.url), 'utf8');
  const said = ({ text, faint, line, ground, accent }: ChartLook): Record<string, string> => ({
    text,
    faint,
    line,
    ground,
    accent,
  });
  for (const [look, block] of [
    [lightLook, ':root {'],
    [darkLook, ':root[data-theme="dark"] {'],
  ] as const) {
    const colours = listColours(style, block);
    t.deepEqual(said(look), {
      text: colours.get('text') ?? '',
      faint: colours.get('faint') ?? '',
      line: colours.get('line') ?? '',
      ground: colours.get('panel') ?? '',
      accent: colours.get('accent') ?? '',
    });
  }
});

test('each pattern fills otherwise, and words on a fill can be read', (t) => {
  t.is(new Set(Object.values(ledgerInks).map((ink) => JSON.stringify(fillOfInk(ink, lightLook)))).size, 4);
  t.deepEqual(['#ffffff', '#000000', '#0072b2', '#56b4e9', '#f0e442'].map(textOn), [
    '#10181f',
    '#ffffff',
    '#ffffff',
    '#10181f',
    '#10181f',
  ]);
});
