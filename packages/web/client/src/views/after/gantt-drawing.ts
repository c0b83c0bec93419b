import type { Gantt } from '../../../../src/schema/index.ts';
import type { GanttWindow, laneBars } from '../../model/gantt.ts';
import { barInks, inkOf } from '../../model/palette.ts';
import { placeOf, timeTicksOf, type Scale } from '../../model/scale.ts';
import { sayDuration } from '../../model/words.ts';
import { fillOf, type Brush } from '../../parts/canvas.tsx';

export const labelWidth = 116;
export const axisHeight = 22;

/** How high a row is, in pixels, when so many have to fit. */
export function rowHeightOf(rowCount: number): number {
  return Math.max(5, Math.min(20, Math.floor(420 / Math.max(1, rowCount))));
}

/** What the chart is drawn from. */
export interface GanttScene {
  readonly gantt: Gantt;
  readonly lanes: ReturnType<typeof laneBars>;
  readonly window: GanttWindow;
  readonly rowHeight: number;
}

/** Where instants of the window are. */
export function timeScale({ window: { from, until } }: Pick<GanttScene, 'window'>, width: number): Scale {
  return { from, until, start: labelWidth, end: width - 8 };
}

/** Draws the chart: names of machines, an axis of time since the beginning, and bars or cells. */
export function drawGantt(brush: Brush, scene: GanttScene): void {
  const time = timeScale(scene, brush.width);
  drawTime(brush, scene, time);
  drawNames(brush, scene);
  brush.context.save();
  brush.context.beginPath();
  brush.context.rect(labelWidth, 0, brush.width - labelWidth, brush.height - axisHeight);
  brush.context.clip();
  if (scene.gantt.bars !== null) drawBars(brush, scene, time);
  else drawCells(brush, scene, time);
  brush.context.restore();
}

function drawTime({ context, height, width, font, faint, line }: Brush, { gantt, window }: GanttScene, time: Scale): void {
  Object.assign(context, { font, fillStyle: faint, strokeStyle: line, lineWidth: 1, textAlign: 'center' });
  const { ticks } = timeTicksOf(window.from - gantt.from_unix_ms, window.until - gantt.from_unix_ms, { about: Math.max(2, width / 130) });
  for (const tick of ticks) {
    const x = Math.round(placeOf(time, gantt.from_unix_ms + tick)) + 0.5;
    context.beginPath(); context.moveTo(x, 0); context.lineTo(x, height - axisHeight); context.stroke();
    context.fillText(tick === 0 ? 'start' : sayDuration(tick), Math.min(width - 22, Math.max(labelWidth + 14, x)), height - 6);
  }
}

function drawNames({ context, height, font, faint, text }: Brush, { gantt: { rows }, window, rowHeight }: GanttScene): void {
  Object.assign(context, { font, textAlign: 'left', textBaseline: 'middle' });
  const step = Math.max(1, Math.ceil(13 / rowHeight));
  for (let row = window.firstRow; row < rows.length; row += step) {
    const y = (row - window.firstRow) * rowHeight;
    if (y + rowHeight > height - axisHeight + 1) break;
    const name = rows[row]?.machine_id ?? '';
    context.fillStyle = rows[row - step]?.provider_id === rows[row]?.provider_id ? faint : text;
    context.fillText(name.length > 17 ? `${name.slice(0, 16)}…` : name, 0, y + Math.min(rowHeight, 14) / 2);
  }
  context.textBaseline = 'alphabetic';
}

function drawBars(brush: Brush, { gantt: { bars, kinds }, lanes, window, rowHeight }: GanttScene, time: Scale): void {
  if (bars === null) return;
  const { context, height } = brush;
  const lastRow = window.firstRow + Math.ceil((height - axisHeight) / rowHeight);
  const gap = rowHeight > 8 ? 2 : 1;
  kinds.forEach((name, kind) => {
    context.fillStyle = fillOf(brush, inkOf(barInks, name));
    context.beginPath();
    for (let index = 0; index < bars.row.length; index += 1) {
      const row = bars.row[index] as number;
      const [start, end] = [bars.start_unix_ms[index] as number, bars.end_unix_ms[index] as number];
      if (bars.kind[index] !== kind || row < window.firstRow || row >= lastRow || end < window.from || start > window.until) continue;
      const high = (rowHeight - gap) / (lanes.laneCounts[row] ?? 1);
      const x = placeOf(time, start);
      context.rect(x, (row - window.firstRow) * rowHeight + (lanes.lane[index] ?? 0) * high, Math.max(0.75, placeOf(time, end) - x - 0.5), Math.max(1, high - (high > 5 ? 1 : 0)));
    }
    context.fill();
  });
}

/** Cells: within each, its kinds from left to right by their share of the time. */
function drawCells(brush: Brush, { gantt, window, rowHeight }: GanttScene, time: Scale): void {
  const { cells, kinds, bin_ms: bin, from_unix_ms: origin } = gantt;
  if (cells === null) return;
  const { context } = brush;
  const filled = new Map<number, number>();
  cells.row.forEach((row, index) => {
    const number = cells.bin[index] as number;
    const start = origin + number * bin;
    if (row < window.firstRow || start + bin < window.from || start > window.until) return;
    const key = row * 100_000 + number;
    const before = filled.get(key) ?? 0;
    const share = Math.min(1 - before, (cells.busy_ms[index] as number) / bin);
    filled.set(key, before + share);
    const wide = placeOf(time, start + bin) - placeOf(time, start);
    context.fillStyle = fillOf(brush, inkOf(barInks, kinds[cells.kind[index] as number] ?? ''));
    context.fillRect(placeOf(time, start) + before * wide, (row - window.firstRow) * rowHeight, Math.max(0.5, share * wide), Math.max(1, rowHeight - 1));
  });
}
