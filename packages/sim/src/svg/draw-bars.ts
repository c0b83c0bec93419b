import { roundStep, tenths, text } from './svg-text.ts';

/** A bar, with its interval and a value from the literature. */
export interface Bar {
  readonly label: string;
  /** Bars of one group look alike. */
  readonly group: number;
  /** 0 or more. */
  readonly value: number;
  readonly halfInterval: number;
  /** Drawn as a diamond; undefined where there is none. */
  readonly mark?: number | undefined;
}

/** Bars side by side on one linear axis from 0. */
export interface BarFigure {
  readonly title: string;
  readonly up: string;
  readonly bars: readonly Bar[];
  /** What the groups are, from 0 on. */
  readonly groups: readonly string[];
  /**
   * Whether neighbours of one label are drawn together, apart from the next, with the label below their middle; left
   * out, all bars are equally far apart.
   */
  readonly isClustered?: boolean;
  /** The meaning of the diamonds; left out if there are none. */
  readonly marks?: string;
}

const frame = { left: 70, right: 18, top: 44, width: 876, height: 300, labelRoom: 78, bottom: 14 };
const colours = ['#0b63a5', '#c2410c', '#15803d', '#7b8794'];

/** Draws bars as SVG on a light ground of its own, the same text for the same figure. */
export function drawBars({ title, up, bars, groups, marks, isClustered = false }: BarFigure): string {
  const most =
    bars.reduce(
      (high, { value, halfInterval, mark = 0 }) =>
        Math.max(high, value + (Number.isFinite(halfInterval) ? halfInterval : 0), mark),
      1e-9,
    ) * 1.05;
  const step = roundStep(most);
  const bottom = frame.top + frame.height;
  const y = (value: number): number => bottom - (frame.height * value) / most;
  const across = frame.width - frame.left - frame.right;
  const clusters = isClustered ? listClusters(bars) : bars.map((bar) => [bar]);
  // Half a bar's room before and behind each cluster of several.
  const room = across / (bars.length + (isClustered ? clusters.length : 0));
  const labelRoom = isClustered ? 34 : frame.labelRoom;
  const height = bottom + labelRoom + 20 + frame.bottom;
  const lines = Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step).flatMap((value) => [
    `<line x1="${frame.left}" x2="${tenths(frame.left + across)}" y1="${tenths(y(value))}" ` +
      `y2="${tenths(y(value))}" stroke="#e4e7eb"/>`,
    text(String(value), { x: frame.left - 7, y: y(value) + 4, anchor: 'end' }),
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${frame.width} ${height}" width="${frame.width}" ` +
      `height="${height}" font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12" fill="#1f2933">`,
    `<rect x="0.5" y="0.5" width="${frame.width - 1}" height="${height - 1}" rx="6" fill="#ffffff" stroke="#cbd2d9"/>`,
    text(title, { x: frame.width / 2, y: 26, anchor: 'middle', size: 14, isBold: true }),
    ...lines,
    `<g transform="translate(18 ${tenths(frame.top + frame.height / 2)}) ` +
      `rotate(-90)">${text(up, { x: 0, y: 0, anchor: 'middle' })}</g>`,
    ...drawClusters(clusters, {
      room,
      gap: isClustered ? room : 0,
      width: isClustered ? 0.86 * room : Math.min(34, 0.7 * room),
      y,
    }),
    `<line x1="${frame.left}" x2="${tenths(frame.left + across)}" y1="${bottom}" y2="${bottom}" stroke="#7b8794"/>`,
    ...drawLegend(groups, marks, bottom + labelRoom + 12),
    '</svg>',
    '',
  ].join('\n');
}

/** Neighbours of one label. */
function listClusters(bars: readonly Bar[]): Bar[][] {
  const clusters: Bar[][] = [];
  for (const bar of bars) {
    const last = clusters.at(-1);
    if (last?.[0]?.label === bar.label) last.push(bar);
    else clusters.push([bar]);
  }
  return clusters;
}

/** How bars are laid out. */
interface Layout {
  /** From one bar's middle to the next, and more between clusters. */
  readonly room: number;
  readonly gap: number;
  readonly width: number;
  /** The position of a value. */
  readonly y: (value: number) => number;
}

function drawClusters(clusters: readonly (readonly Bar[])[], layout: Layout): string[] {
  const { room, gap } = layout;
  let left = frame.left + gap / 2;
  return clusters.flatMap((bars) => {
    const middle = left + (bars.length * room) / 2;
    const drawn = bars.flatMap((bar, index) => drawBar(bar, left + (index + 0.5) * room, layout));
    left += bars.length * room + gap;
    return [...drawn, drawLabel(bars[0]?.label ?? '', middle, bars.length > 1)];
  });
}

function drawBar({ group, value, halfInterval, mark }: Bar, x: number, { width, y }: Layout): string[] {
  const bottom = frame.top + frame.height;
  const interval = Number.isFinite(halfInterval)
    ? [
        `<line x1="${tenths(x)}" x2="${tenths(x)}" y1="${tenths(y(value + halfInterval))}" ` +
          `y2="${tenths(y(Math.max(0, value - halfInterval)))}" stroke="#1f2933" stroke-width="1.4"/>`,
      ]
    : [];
  return [
    `<rect class="bar" x="${tenths(x - width / 2)}" y="${tenths(y(value))}" width="${tenths(width)}" ` +
      `height="${tenths(bottom - y(value))}" fill="${getColour(group)}"/>`,
    ...interval,
    ...(mark === undefined ? [] : [drawDiamond(x, y(mark))]),
  ];
}

/** There is room for the label of a cluster; that of a single bar is slanted. */
function drawLabel(label: string, x: number, isLevel: boolean): string {
  const bottom = frame.top + frame.height;
  if (isLevel) return text(label, { x, y: bottom + 18, anchor: 'middle', size: 12 });
  return (
    `<g transform="translate(${tenths(x + 4)} ${bottom + 12}) ` +
    `rotate(-38)">${text(label, { x: 0, y: 0, anchor: 'end', size: 11 })}</g>`
  );
}

const getColour = (group: number): string => colours[group % colours.length] as string;

const drawDiamond = (x: number, y: number): string =>
  `<path d="M${tenths(x)} ${tenths(y - 6)}l6 6l-6 6l-6 -6z" fill="#ffd92f" stroke="#1f2933"/>`;

function drawLegend(groups: readonly string[], marks: string | undefined, y: number): string[] {
  const room = (frame.width - frame.left - frame.right) / (groups.length + 1);
  return [
    ...groups.flatMap((group, index) => [
      `<rect x="${tenths(frame.left + index * room)}" y="${y - 9}" width="12" height="12" fill="${getColour(index)}"/>`,
      text(group, { x: frame.left + index * room + 18, y: y + 1, anchor: 'start' }),
    ]),
    ...(marks === undefined
      ? []
      : [
          drawDiamond(frame.left + groups.length * room + 6, y - 3),
          text(marks, { x: frame.left + groups.length * room + 18, y: y + 1, anchor: 'start' }),
        ]),
  ];
}
