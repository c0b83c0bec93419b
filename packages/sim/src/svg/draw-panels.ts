import { text, tenths } from './svg-text.ts';

/** A line of a panel. */
export interface PanelLine {
  /** Lines of one label look alike and have one entry of the legend. */
  readonly label: string;
  /** Which colour, and which dash and mark; both from 0. */
  readonly look: { readonly colour: number; readonly mark: number };
  /** A value for each of the figure's `ticks`; NaN where there is none. */
  readonly values: readonly number[];
  /** Half of each value's interval; left out, none is drawn. */
  readonly halfIntervals?: readonly number[];
  /** Whether only marks are drawn, as for positions that have no order; left out, a line joins them. */
  readonly isUnjoined?: boolean;
}

/** Lines over a few positions. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly PanelLine[];
}

/** Panels side by side, with logarithmic axes unless a linear one is asked for, and a legend below. */
export interface PanelFigure {
  readonly title: string;
  readonly across: string;
  readonly up: string;
  /** Names of the positions, from left to right. */
  readonly ticks: readonly string[];
  /**
   * The number that each tick stands for, ascending: distances between positions are then to scale. Left out, positions
   * are equally far apart.
   */
  readonly positions?: readonly number[];
  readonly panels: readonly Panel[];
  /** Panels in a row. */
  readonly panelsAcross: number;
  /** The legend is filled column by column. */
  readonly legendColumns: number;
  /** Whether each panel has an axis of its own; left out, they share one, so that they can be compared. */
  readonly hasOwnAxes?: boolean;
  /** A linear axis from 0 up to this in place of the logarithmic one; 0 is drawn then. */
  readonly linearUpTo?: number;
  /** Whether values of 0 are drawn in a row of their own below a logarithmic axis; left out, they are left out. */
  readonly hasZeroRow?: boolean;
}

const page = {
  left: 66,
  right: 18,
  top: 48,
  width: 876,
  titleRoom: 20,
  panelGap: 16,
  axisRoom: 44,
  rowGap: 26,
  acrossRoom: 44,
  legendRow: 20,
  bottom: 14,
};
const colours = ['#0b63a5', '#c2410c', '#15803d', '#a21caf'];
const dashes = ['', '7 3', '2 3'];
/** Height of the row of zeros. */
const zeroRow = 22;

/**
 * Draws a figure as SVG on a light ground of its own, the same text for the same figure. Values that are not above 0
 * are left out on a logarithmic axis, unless zeros have a row.
 */
export function drawPanels(figure: PanelFigure): string {
  const rows = Math.max(1, Math.ceil(figure.panels.length / figure.panelsAcross));
  const gap = figure.hasOwnAxes === true ? page.axisRoom : page.panelGap;
  const size = sizeOfPanel(figure.panelsAcross, rows, gap);
  const below = page.top + rows * (page.titleRoom + size.height) + (rows - 1) * page.rowGap;
  const legend = getLegend(figure.panels);
  const legendRows = Math.ceil(legend.length / figure.legendColumns);
  const height = below + page.acrossRoom + legendRows * page.legendRow + page.bottom;
  const middle = page.left + (page.width - page.left - page.right) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${page.width} ${height}" width="${page.width}" ` +
      `height="${height}" font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12" fill="#1f2933">`,
    `<rect x="0.5" y="0.5" width="${page.width - 1}" height="${height - 1}" rx="6" fill="#ffffff" stroke="#cbd2d9"/>`,
    text(figure.title, { x: middle, y: 26, anchor: 'middle', size: 14, isBold: true }),
    ...figure.panels.flatMap((panel, index) => {
      const [column, row] = [index % figure.panelsAcross, Math.floor(index / figure.panelsAcross)];
      const left = page.left + column * (size.width + gap);
      const range =
        figure.linearUpTo === undefined
          ? getRange(figure.hasOwnAxes === true ? [panel] : figure.panels)
          : { low: 0, high: figure.linearUpTo };
      const top = page.top + page.titleRoom + row * (page.titleRoom + size.height + page.rowGap);
      return drawPanel(panel, figure, {
        left,
        top,
        ...size,
        ...range,
        isNamed: column === 0 || figure.hasOwnAxes === true,
        zeroRoom: figure.hasZeroRow === true ? zeroRow : 0,
      });
    }),
    text(figure.across, { x: middle, y: below + 34, anchor: 'middle' }),
    `<g transform="translate(18 ${tenths((page.top + page.titleRoom + below) / 2)}) ` +
      `rotate(-90)">${text(figure.up, { x: 0, y: 0, anchor: 'middle' })}</g>`,
    ...legend.flatMap((line, index) =>
      drawEntry(line, {
        x: page.left + Math.floor(index / legendRows) * ((page.width - page.left - page.right) / figure.legendColumns),
        y: below + page.acrossRoom + 6 + (index % legendRows) * page.legendRow,
      }),
    ),
    '</svg>',
    '',
  ].join('\n');
}

function sizeOfPanel(
  panelsAcross: number,
  rows: number,
  gap: number,
): { readonly width: number; readonly height: number } {
  const room = page.width - page.left - page.right - (panelsAcross - 1) * gap;
  return { width: room / panelsAcross, height: rows > 1 ? 200 : 300 };
}

/** A panel's place on the page, and the ends of its axis. */
interface Frame {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** 0 of a linear axis only. */
  readonly low: number;
  readonly high: number;
  /** Whether the values of its axis are printed. */
  readonly isNamed: boolean;
  /** Height of the row of zeros at its bottom; 0 where there is none. */
  readonly zeroRoom: number;
}

/**
 * The least range of the axis that holds all values, their intervals unless these are very wide, and 1, with a little
 * room.
 */
function getRange(panels: readonly Panel[]): { readonly low: number; readonly high: number } {
  const values = panels.flatMap(({ lines }) => lines.flatMap(listBounds)).filter((value) => isDrawn(value, 1));
  return { low: Math.min(0.9, ...values) / 1.1, high: Math.max(1.1, ...values) * 1.1 };
}

function listBounds({ values, halfIntervals = [] }: PanelLine): number[] {
  return values.flatMap((value, tick) => {
    const half = halfIntervals[tick] ?? 0;
    return [Math.max(value - half, value / 3), Math.min(value + half, 3 * value)];
  });
}

function isDrawn(value: number, low: number): boolean {
  return (value > 0 || (value === 0 && low === 0)) && Number.isFinite(value);
}

/** Whether a value has a place in a frame. */
function hasPlace(value: number, { low, zeroRoom }: Frame): boolean {
  return isDrawn(value, low) || (value === 0 && zeroRoom > 0);
}

function getHeight(value: number, { top, height, low, high, zeroRoom }: Frame): number {
  if (low === 0) return top + height * (1 - Math.min(high, Math.max(0, value)) / high);
  if (value === 0 && zeroRoom > 0) return top + height - zeroRoom / 2;
  return top + ((height - zeroRoom) * Math.log10(high / Math.min(high, Math.max(low, value)))) / Math.log10(high / low);
}

function drawPanel(
  { title, lines }: Panel,
  { ticks, positions }: Pick<PanelFigure, 'ticks' | 'positions'>,
  frame: Frame,
): string[] {
  const { left, top, width, height } = frame;
  const place = (index: number): number => left + width * getShare(index, ticks.length, positions);
  const marks = marksBetween(frame.low, frame.high).flatMap((mark) => {
    const y = getHeight(mark, frame);
    const look = mark === 1 && frame.low > 0 ? 'stroke="#52606d" stroke-width="1.4"' : 'stroke="#e4e7eb"';
    return [
      `<line x1="${tenths(left)}" x2="${tenths(left + width)}" y1="${tenths(y)}" y2="${tenths(y)}" ${look}/>`,
      ...(frame.isNamed ? [text(String(mark), { x: left - 7, y: y + 4, anchor: 'end' })] : []),
    ];
  });
  return [
    text(title, { x: left + width / 2, y: top - 7, anchor: 'middle' }),
    ...marks,
    ...drawZeroRow(frame),
    `<rect x="${tenths(left)}" y="${top}" width="${tenths(width)}" height="${height}" fill="none" stroke="#7b8794"/>`,
    ...ticks.map((tick, index) => text(tick, { x: place(index), y: top + height + 16, anchor: 'middle' })),
    // All intervals below all lines.
    ...lines.flatMap((line) => drawIntervals(line, place, frame)),
    ...lines.flatMap((line) => drawLine(line, place, frame)),
  ];
}

/**
 * The position between the left and the right end of a panel, which are both half a step away from the outermost ones.
 */
function getShare(index: number, count: number, positions: readonly number[] | undefined): number {
  const [first, last] = [positions?.[0] ?? 0, positions?.at(-1) ?? 0];
  if (positions === undefined || last === first) return (index + 0.5) / count;
  return (0.5 + ((count - 1) * ((positions[index] ?? 0) - first)) / (last - first)) / count;
}

/** The row of zeros, parted from the logarithmic axis above it, which has none. */
function drawZeroRow({ left, top, width, height, zeroRoom, isNamed }: Frame): string[] {
  if (zeroRoom === 0) return [];
  const y = top + height - zeroRoom;
  return [
    `<line x1="${tenths(left)}" x2="${tenths(left + width)}" y1="${tenths(y)}" y2="${tenths(y)}" ` +
      'stroke="#7b8794" stroke-dasharray="2 3"/>',
    ...(isNamed ? [text('0', { x: left - 7, y: y + zeroRoom / 2 + 4, anchor: 'end' })] : []),
  ];
}

/** Round values of the axis, close enough to be read and far enough apart to be printed. */
function marksBetween(low: number, high: number): number[] {
  if (low === 0) return Array.from({ length: 6 }, (_, index) => Number(((high * index) / 5).toPrecision(3)));
  const powers = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5];
  const marks = powers.flatMap((power) => listSteps(high / low).map((step) => Number(`${step}e${power}`)));
  return marks.filter((mark) => mark >= low && mark <= high);
}

function listSteps(span: number): readonly number[] {
  if (span < 2.5) return [1, 1.1, 1.2, 1.3, 1.4, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
  if (span < 8) return [1, 1.2, 1.5, 2, 3, 4, 5, 6, 8];
  return span < 2000 ? [1, 2, 5] : [1];
}

/**
 * The intervals of a line as a band around it, so that lines stay where their values are; those of single values as
 * bars.
 */
function drawIntervals(line: PanelLine, place: (tick: number) => number, frame: Frame): string[] {
  const { look, values, halfIntervals = [] } = line;
  const half = (tick: number): number => halfIntervals[tick] ?? NaN;
  const known = values.map((value, tick) => (Number.isFinite(half(tick)) && isDrawn(value, frame.low) ? value : NaN));
  const edge = (tick: number, sign: 1 | -1): string =>
    `${tenths(place(tick))},${tenths(getEdge((known[tick] as number) + sign * half(tick), frame))}`;
  return listStretches(known, frame).map((ticks) => {
    const [only = 0] = ticks;
    if (ticks.length > 1 && line.isUnjoined !== true) {
      return (
        `<polygon class="interval" fill="${getColour(look)}" fill-opacity="0.14" ` +
        `points="${[...ticks.map((tick) => edge(tick, 1)), ...ticks.toReversed().map((tick) => edge(tick, -1))].join(' ')}"/>`
      );
    }
    const [upper, lower] = [
      getEdge((known[only] as number) + half(only), frame),
      getEdge((known[only] as number) - half(only), frame),
    ];
    return (
      `<line class="interval" x1="${tenths(place(only))}" x2="${tenths(place(only))}" y1="${tenths(upper)}" ` +
      `y2="${tenths(lower)}" stroke="${getColour(look)}" stroke-opacity="0.55"/>`
    );
  });
}

/** An interval that reaches below what a logarithmic axis has ends at its lower end. */
function getEdge(value: number, frame: Frame): number {
  return getHeight(frame.low === 0 ? value : Math.max(frame.low, value), frame);
}

function drawLine(
  { look, values, isUnjoined = false }: PanelLine,
  place: (tick: number) => number,
  frame: Frame,
): string[] {
  const getPoint = (tick: number): string =>
    `${tenths(place(tick))},${tenths(getHeight(values[tick] as number, frame))}`;
  const paths = isUnjoined ? [] : listStretches(values, frame).filter(({ length }) => length > 1);
  return [
    ...paths.map((ticks) => `<polyline fill="none" ${getStroke(look)} points="${ticks.map(getPoint).join(' ')}"/>`),
    ...values.flatMap((value, tick) =>
      hasPlace(value, frame) ? [drawMark(look, place(tick), getHeight(value, frame))] : [],
    ),
  ];
}

/** The ticks of each unbroken stretch of values: a line over a gap would show values that do not exist. */
function listStretches(values: readonly number[], { low }: Frame): number[][] {
  const stretches: number[][] = [[]];
  values.forEach((value, tick) => {
    if (isDrawn(value, low)) stretches.at(-1)?.push(tick);
    else stretches.push([]);
  });
  return stretches.filter(({ length }) => length > 0);
}

function getColour({ colour }: PanelLine['look']): string {
  return colours[colour % colours.length] ?? '#000000';
}

function getStroke(look: PanelLine['look']): string {
  const dash = dashes[look.mark % dashes.length] ?? '';
  return `stroke="${getColour(look)}" stroke-width="1.7"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`;
}

function drawMark(look: PanelLine['look'], x: number, y: number): string {
  const fill = `class="mark" fill="${getColour(look)}"`;
  switch (look.mark % 3) {
    case 0:
      return `<circle cx="${tenths(x)}" cy="${tenths(y)}" r="3" ${fill}/>`;
    case 1:
      return `<rect x="${tenths(x - 2.8)}" y="${tenths(y - 2.8)}" width="5.6" height="5.6" ${fill}/>`;
    default:
      return `<path d="M${tenths(x)} ${tenths(y - 3.8)}l3.8 6.6h-7.6z" ${fill}/>`;
  }
}

function getLegend(panels: readonly Panel[]): PanelLine[] {
  const byLabel = new Map(panels.flatMap(({ lines }) => lines.map((line) => [line.label, line])));
  return [...byLabel.values()];
}

function drawEntry(
  { label, look, isUnjoined = false }: PanelLine,
  { x, y }: { readonly x: number; readonly y: number },
): string[] {
  return [
    ...(isUnjoined ? [] : [`<line x1="${tenths(x)}" x2="${tenths(x + 34)}" y1="${y}" y2="${y}" ${getStroke(look)}/>`]),
    drawMark(look, x + 17, y),
    text(label, { x: x + 42, y: y + 4, anchor: 'start' }),
  ];
}
