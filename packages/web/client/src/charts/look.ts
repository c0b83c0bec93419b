import type { BarSeriesOption, CustomSeriesOption, LineSeriesOption, ScatterSeriesOption } from 'echarts/charts';
import type {
  AriaComponentOption,
  DataZoomComponentOption,
  GridComponentOption,
  LegendComponentOption,
  MarkAreaComponentOption,
  MarkLineComponentOption,
  TitleComponentOption,
  TooltipComponentOption,
} from 'echarts/components';
import type { ComposeOption } from 'echarts/core';
import type { Ink } from '../model/palette.ts';

/**
 * The content of a chart: an option of ECharts with the kinds of `kinds.ts`. Builders make it from plain data and a
 * look, so that the page and the files to save show the same. A formatter of a tooltip returns plain text, a line for
 * each fact; the page never takes it for markup.
 */
export type ChartOption = ComposeOption<
  | BarSeriesOption
  | LineSeriesOption
  | ScatterSeriesOption
  | CustomSeriesOption
  | GridComponentOption
  | TooltipComponentOption
  | LegendComponentOption
  | MarkLineComponentOption
  | MarkAreaComponentOption
  | DataZoomComponentOption
  | AriaComponentOption
  | TitleComponentOption
>;

/** Colours of a ground to draw on, and how wide the chart is. */
export interface ChartLook {
  readonly isDark: boolean;
  /** In pixels. */
  readonly width: number;
  readonly text: string;
  readonly faint: string;
  readonly line: string;
  readonly ground: string;
  readonly accent: string;
  readonly font: string;
}

const font =
  'Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

/** The colours of the page by day (`style/base.css`), and of files to save. */
export const lightLook: ChartLook = {
  isDark: false,
  width: 1000,
  text: '#1b2127',
  faint: '#5d6771',
  line: '#e1e5ea',
  ground: '#ffffff',
  accent: '#0f6ba8',
  font,
};

/** The colours of the page by night. */
export const darkLook: ChartLook = {
  isDark: true,
  width: 1000,
  text: '#e6ebf0',
  faint: '#97a3ae',
  line: '#2a323a',
  ground: '#1a2026',
  accent: '#63b3ed',
  font,
};

/** What is so in every chart: nothing moves by itself, and tips are dark on light and light on dark. */
export function baseOption({ text, ground, font: family }: ChartLook): ChartOption {
  return {
    animation: false,
    backgroundColor: 'transparent',
    textStyle: { fontFamily: family, fontSize: 11, color: text },
    tooltip: {
      confine: true,
      transitionDuration: 0,
      backgroundColor: text,
      borderWidth: 0,
      padding: [5, 10],
      textStyle: { color: ground, fontSize: 12.5, fontFamily: family },
    },
  };
}

/**
 * What of an option replaces what was drawn before; of all else, what somebody zoomed to or hid stays. For
 * `replaceMerge`.
 */
export const replacedParts = ['series', 'xAxis', 'yAxis', 'grid', 'title'];

interface TipSize {
  readonly contentSize: readonly [number, number];
  readonly viewSize: readonly [number, number];
}
interface TipTarget {
  readonly y: number;
  readonly height: number;
}

/**
 * Where the tip of a box stands in a chart of few lanes: below the box, which it would else cover with all the others.
 */
export function belowTarget(
  [x = 0, y = 0]: readonly number[],
  _reported: unknown,
  _element: unknown,
  ...[target, { contentSize, viewSize }]: readonly [TipTarget | null | undefined, TipSize]
): [number, number] {
  const left = Math.max(0, Math.min(x + 12, viewSize[0] - contentSize[0]));
  return [left, target === null || target === undefined ? y + 18 : target.y + target.height + 5];
}

/** A grid that is as large as its labels leave room for. */
export function gridWithin(edges: {
  readonly left?: number;
  readonly right?: number;
  readonly top?: number;
  readonly bottom?: number;
}): GridComponentOption {
  return { left: 4, right: 10, top: 8, bottom: 4, ...edges, outerBoundsMode: 'same', outerBoundsContain: 'axisLabel' };
}

/** How an axis looks: quiet lines, labels that never overlap. */
export function axisLook({ faint, line }: ChartLook): {
  readonly axisLabel: { readonly color: string; readonly fontSize: number; readonly hideOverlap: true };
  readonly axisLine: { readonly lineStyle: { readonly color: string } };
  readonly axisTick: { readonly lineStyle: { readonly color: string } };
  readonly splitLine: { readonly lineStyle: { readonly color: string } };
} {
  return {
    axisLabel: { color: faint, fontSize: 11, hideOverlap: true },
    axisLine: { lineStyle: { color: line } },
    axisTick: { lineStyle: { color: line } },
    splitLine: { lineStyle: { color: line } },
  };
}

interface Decal {
  readonly symbol: string;
  readonly symbolSize: number;
  readonly dashArrayX: number | number[];
  readonly dashArrayY: number | number[];
  readonly rotation: number;
  readonly color: string;
}

/**
 * How an ink fills: its colour with its pattern over it, for `itemStyle` of a series, or, as `fill`, for a shape of a
 * custom one.
 */
export function fillOfInk(
  { colour, pattern }: Ink,
  { ground }: Pick<ChartLook, 'ground'>,
): { readonly color: string; readonly decal?: Decal } {
  const veil = `${ground}8c`;
  switch (pattern) {
    case 'plain':
      return { color: colour };
    case 'hollow':
      return { color: mixColours(colour, ground, 0.45) };
    case 'stripes':
      return {
        color: colour,
        decal: {
          symbol: 'rect',
          symbolSize: 1,
          dashArrayX: [1, 0],
          dashArrayY: [1.5, 4],
          rotation: -Math.PI / 4,
          color: veil,
        },
      };
    case 'dots':
      return {
        color: colour,
        decal: {
          symbol: 'circle',
          symbolSize: 0.8,
          dashArrayX: [2.5, 2.5],
          dashArrayY: [2.5, 2.5],
          rotation: 0,
          color: veil,
        },
      };
    case 'cross':
      return {
        color: colour,
        decal: {
          symbol: 'path://M0 1L1 0L5 4L9 0L10 1L6 5L10 9L9 10L5 6L1 10L0 9L4 5Z',
          symbolSize: 1,
          dashArrayX: [7, 0],
          dashArrayY: [7, 0],
          rotation: 0,
          color: veil,
        },
      };
  }
}

/** Black or white, whichever is the easier to read on a fill. */
export function textOn(fill: string): string {
  const [red = 0, green = 0, blue = 0] = listChannels(fill);
  // Relative luminance by WCAG 2, its curve taken for a square.
  return 0.2126 * red ** 2 + 0.7152 * green ** 2 + 0.0722 * blue ** 2 > 0.2 * 255 ** 2 ? '#10181f' : '#ffffff';
}

/** A colour between two, `share` of the first, as `#rrggbb`. */
function mixColours(one: string, other: string, share: number): string {
  const others = listChannels(other);
  return `#${listChannels(one)
    .map((channel, index) =>
      Math.round(channel * share + (others[index] ?? 0) * (1 - share))
        .toString(16)
        .padStart(2, '0'),
    )
    .join('')}`;
}

function listChannels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
