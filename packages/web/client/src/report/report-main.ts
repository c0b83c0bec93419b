// The script of a saved report: zooming and tips of charts, sorting and searching of tables. It reads the data in the
// file and fetches nothing.
import { init, use, type ECharts } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import type { ReportData } from '../../../src/schema/index.ts';
import { buildGanttOption, ganttHeight } from '../charts/gantt-chart.ts';
import { chartKinds } from '../charts/kinds.ts';
import { buildLedgerOption, ledgerHeight } from '../charts/ledger-chart.ts';
import { darkLook, lightLook, replacedParts, type ChartLook, type ChartOption } from '../charts/look.ts';
import { buildStragglersOption, stragglersHeight } from '../charts/stragglers-chart.ts';
import { buildTimesOption, timesHeight } from '../charts/times-chart.ts';
import { layOutGantt } from '../model/gantt.ts';
import { withPlainTips } from '../parts/plain-tips.ts';
import { enhanceTable } from './tables.ts';

use([...chartKinds, CanvasRenderer]);

interface Drawing {
  readonly height: number;
  readonly build: (look: ChartLook) => ChartOption;
}

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const data = JSON.parse(document.getElementById('report-data')?.textContent ?? '{}') as ReportData;
const picture = layOutGantt(data.gantt);
const drawings: Readonly<Record<string, Drawing>> = {
  gantt: { height: ganttHeight(picture), build: (look) => buildGanttOption(picture, look) },
  times: { height: timesHeight, build: (look) => buildTimesOption(data.times, look) },
  stragglers: { height: stragglersHeight(data.times), build: (look) => buildStragglersOption(data.times, look) },
  ledger: { height: ledgerHeight(data.ledger), build: (look) => buildLedgerOption(data.ledger, look) },
};

/** Draws over the picture that stands in the file, which is what is printed. */
function openFigure(figure: HTMLElement): void {
  const drawing = drawings[figure.dataset['chart'] ?? ''];
  if (drawing === undefined) return;
  const place = document.createElement('div');
  place.className = 'live';
  place.style.height = `${drawing.height}px`;
  figure.prepend(place);
  figure.classList.add('drawn');
  const chart = init(place, null, { renderer: 'canvas' });
  draw(chart, drawing, figure);
  dark.addEventListener('change', () => draw(chart, drawing, figure));
  new ResizeObserver(() => {
    if (place.clientWidth > 0) draw(chart, drawing, figure);
  }).observe(place);
  figure
    .querySelector('button')
    ?.addEventListener('click', () =>
      chart.dispatchAction({ type: 'dataZoom', dataZoomId: 'time', start: 0, end: 100 }),
    );
}

function draw(chart: ECharts, { build }: Drawing, figure: HTMLElement): void {
  chart.resize();
  chart.setOption(
    withPlainTips(
      build({ ...(dark.matches ? darkLook : lightLook), width: chart.getWidth() }),
      figure.getAttribute('aria-label') ?? '',
    ),
    { replaceMerge: replacedParts },
  );
}

/** An instant in a table is shown by the clock of who reads it, as the charts do; its own words stay in its tip. */
function showLocalTime(cell: HTMLElement): void {
  const text = cell.textContent ?? '';
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return;
  cell.title = text;
  cell.textContent = new Date(text).toLocaleString();
}

for (const figure of document.querySelectorAll<HTMLElement>('figure[data-chart]')) openFigure(figure);
for (const table of document.querySelectorAll<HTMLTableElement>('table.rows')) enhanceTable(table);
for (const cell of document.querySelectorAll<HTMLElement>('td')) showLocalTime(cell);
