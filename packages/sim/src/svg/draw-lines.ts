/** A line of a figure. */
export interface FigureLine {
  readonly label: string;
  /** A value for each of the figure's `ticks`; NaN where there is none. */
  readonly values: readonly number[];
}

/** A figure: lines over a few positions, the values on a logarithmic axis. */
export interface LineFigure {
  readonly title: string;
  readonly across: string;
  readonly up: string;
  /** Names of the positions, from left to right. */
  readonly ticks: readonly string[];
  readonly lines: readonly FigureLine[];
}

const frame = { left: 64, top: 40, width: 420, height: 320, right: 190, bottom: 52 };
const colours = ['#1b6ca8', '#c8553d', '#588157', '#8e5aa8', '#b8860b', '#2a9d8f', '#6c757d', '#d1495b', '#30343f', '#7cb518', '#f08a24', '#4361ee'];
const dashes = ['', '6 3', '2 3'];

/** Draws a figure as SVG, the same text for the same figure. Values that are not above 0 are left out. */
export function drawLines(figure: LineFigure): string {
  const [low, high] = rangeOf(figure);
  const place: Place = {
    x: (index) => frame.left + (frame.width * (index + 0.5)) / figure.ticks.length,
    y: (value) => frame.top + (frame.height * Math.log10(high / value)) / Math.log10(high / low),
  };
  const width = frame.left + frame.width + frame.right;
  const height = frame.top + frame.height + frame.bottom;
  const middle = frame.left + frame.width / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(figure.title, { x: middle, y: 22, anchor: 'middle', size: 14 }),
    ...drawAxes(figure, place, { low, high }),
    text(figure.across, { x: middle, y: frame.top + frame.height + 40, anchor: 'middle' }),
    `<g transform="translate(16 ${frame.top + frame.height / 2}) rotate(-90)">${text(figure.up, { x: 0, y: 0, anchor: 'middle' })}</g>`,
    ...figure.lines.flatMap((line, index) => drawLine(line, index, place)),
    '</svg>', '',
  ].join('\n');
}

interface Place {
  x(index: number): number;
  y(value: number): number;
}

/** The least range of the axis that holds all values and 1, with a little room. */
function rangeOf({ lines }: LineFigure): [low: number, high: number] {
  const values = lines.flatMap((line) => line.values).filter((value) => value > 0 && Number.isFinite(value));
  return [Math.min(0.9, ...values) / 1.1, Math.max(1.1, ...values) * 1.1];
}

function drawAxes({ ticks }: LineFigure, { x, y }: Place, { low, high }: { readonly low: number; readonly high: number }): string[] {
  const right = frame.left + frame.width;
  const bottom = frame.top + frame.height;
  const marks = marksBetween(low, high).flatMap((mark) => [
    `<line x1="${frame.left}" x2="${right}" y1="${at(y(mark))}" y2="${at(y(mark))}" stroke="${mark === 1 ? '#555555' : '#dddddd'}"/>`,
    text(String(mark), { x: frame.left - 6, y: y(mark) + 4, anchor: 'end' }),
  ]);
  return [
    ...marks, `<rect x="${frame.left}" y="${frame.top}" width="${frame.width}" height="${frame.height}" fill="none" stroke="#333333"/>`,
    ...ticks.map((tick, index) => text(tick, { x: x(index), y: bottom + 18, anchor: 'middle' })),
  ];
}

function marksBetween(low: number, high: number): number[] {
  const steps = high / low > 100 ? [1] : [1, 2, 5];
  const powers = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5];
  const marks = powers.flatMap((power) => steps.map((step) => Number(`${step}e${power}`)));
  return marks.filter((mark) => mark >= low && mark <= high);
}

function drawLine({ label, values }: FigureLine, index: number, { x, y }: Place): string[] {
  const colour = colours[index % colours.length] ?? '#000000';
  const dash = dashes[index % dashes.length] ?? '';
  const points = values.flatMap((value, tick) => (value > 0 && Number.isFinite(value) ? [{ x: at(x(tick)), y: at(y(value)) }] : []));
  const look = `stroke="${colour}" stroke-width="1.8"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`;
  const legend = { x: frame.left + frame.width + 12, y: frame.top + 10 + 18 * index };
  return [
    `<polyline fill="none" ${look} points="${points.map((point) => `${point.x},${point.y}`).join(' ')}"/>`,
    ...points.map((point) => `<circle cx="${point.x}" cy="${point.y}" r="2.6" fill="${colour}"/>`),
    `<line x1="${legend.x}" x2="${legend.x + 26}" y1="${legend.y}" y2="${legend.y}" ${look}/>`,
    text(label, { x: legend.x + 32, y: legend.y + 4, anchor: 'start' }),
  ];
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly size?: number;
}

function text(content: string, { x, y, anchor, size }: TextPlace): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}"${size === undefined ? '' : ` font-size="${size}"`}>${escaped}</text>`;
}

/** Tenths of a pixel are fine enough. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}
