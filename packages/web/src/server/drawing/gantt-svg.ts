import type { Gantt } from '../../schema/index.ts';
import { escapeMarkup } from './escape-markup.ts';

/** Okabe and Ito's colours, which colour-blind people tell apart; in the order of the kinds. */
const colours = ['#f0e442', '#cc79a7', '#009e73', '#e69f00', '#d55e00', '#000000', '#8a939c', '#0072b2'];
const width = 1000;
const labelWidth = 160;
const rowsDrawn = 400;

/** Draws a Gantt chart as SVG: a row for each machine, the first 400 of them. Cost: O(bars or cells). */
export function drawGanttSvg(gantt: Gantt, title: string): string {
  const rows = gantt.rows.slice(0, rowsDrawn);
  const rowHeight = rows.length > 100 ? 6 : 14;
  const height = 50 + rows.length * rowHeight;
  const span = Math.max(1, gantt.until_unix_ms - gantt.from_unix_ms);
  const x = (instant: number): number => labelWidth + ((instant - gantt.from_unix_ms) * (width - labelWidth)) / span;
  const shapes = gantt.bars === null ? cellShapes(gantt, { x, rowHeight, rowCount: rows.length }) : barShapes(gantt, { x, rowHeight, rowCount: rows.length });
  const labels = rowHeight < 10 ? [] : rows.map(({ machine_id: id }, row) => `<text x="${labelWidth - 4}" y="${30 + (row + 0.8) * rowHeight}" text-anchor="end">${escapeMarkup(id.slice(-24))}</text>`);
  const legend = gantt.kinds.map((kind, index) => `<rect x="${labelWidth + index * 100}" y="6" width="10" height="10" fill="${colours[index] ?? '#000'}"/><text x="${labelWidth + 14 + index * 100}" y="15">${escapeMarkup(kind)}</text>`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10" role="img"><title>${escapeMarkup(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`, ...legend, ...labels, ...shapes,
    `<text x="${labelWidth}" y="${height - 6}">0 s</text><text x="${width - 2}" y="${height - 6}" text-anchor="end">${Math.round(span / 100) / 10} s</text></svg>`,
  ].join('\n');
}

interface Frame {
  readonly x: (instant: number) => number;
  readonly rowHeight: number;
  readonly rowCount: number;
}

function barShapes({ bars }: Gantt, { x, rowHeight, rowCount }: Frame): string[] {
  return (bars?.row ?? []).flatMap((row, at) => {
    if (row >= rowCount) return [];
    const [from, to] = [x(bars?.start_unix_ms[at] ?? 0), x(bars?.end_unix_ms[at] ?? 0)];
    return [rect({ x: from, y: 30 + row * rowHeight, width: Math.max(0.5, to - from), height: rowHeight - 1 }, bars?.kind[at] ?? 0, 1)];
  });
}

/** The more of a cell was busy, the fuller its colour. */
function cellShapes({ cells, bin_ms: binMs, from_unix_ms: from }: Gantt, { x, rowHeight, rowCount }: Frame): string[] {
  return (cells?.row ?? []).flatMap((row, at) => {
    if (row >= rowCount) return [];
    const begin = from + (cells?.bin[at] ?? 0) * binMs;
    return [rect({ x: x(begin), y: 30 + row * rowHeight, width: x(begin + binMs) - x(begin), height: rowHeight - 1 }, cells?.kind[at] ?? 0, Math.min(1, (cells?.busy_ms[at] ?? 0) / binMs))];
  });
}

function rect(place: Readonly<Record<'x' | 'y' | 'width' | 'height', number>>, kind: number, share: number): string {
  const attributes = Object.entries(place).map(([name, value]) => `${name}="${Math.round(value * 100) / 100}"`).join(' ');
  return `<rect ${attributes} fill="${colours[kind] ?? '#000'}"${share < 1 ? ` fill-opacity="${Math.max(0.05, Math.round(share * 100) / 100)}"` : ''}/>`;
}
