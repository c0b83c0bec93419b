import type { CustomSeriesOption } from 'echarts/charts';
import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemParams, CustomSeriesRenderItemReturn } from 'echarts';
import type { Ink } from '../model/palette.ts';
import { fillOfInk, textOn, type ChartLook } from './look.ts';

/**
 * A box over time: on an axis of amounts from `bottom` to `top`, or, with both the same, in a lane of an axis of names.
 */
export interface ChartBox {
  readonly start: number;
  readonly end: number;
  readonly bottom: number;
  readonly top: number;
  readonly ink: Ink;
  /** Written inside where there is room. */
  readonly label: string;
  /** Passed to the press handler; a box without a name cannot be pressed. */
  readonly name?: string | undefined;
}

/** How the boxes of a series are drawn, in addition to the properties of each box. */
export interface BoxesStyle {
  readonly id: string;
  readonly look: ChartLook;
  /** Height of a box in its lane, as a share of the lane; absent where boxes have amounts. */
  readonly laneShare?: number;
  readonly z?: number;
}

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A series of boxes. What reaches beyond the grid is cut off, and its label stays in sight. */
export function boxSeries(boxes: readonly ChartBox[], { id, look, laneShare, z = 2 }: BoxesStyle): CustomSeriesOption {
  const renderItem = (
    params: CustomSeriesRenderItemParams,
    api: CustomSeriesRenderItemAPI,
  ): CustomSeriesRenderItemReturn => {
    const box = boxes[params.dataIndex];
    const place = box === undefined ? undefined : placeOf(box, { params, api, laneShare });
    return box === undefined || place === undefined ? null : drawBox(box, place, look);
  };
  return {
    type: 'custom',
    id,
    z,
    encode: { x: [0, 1], y: [2, 3] },
    renderItem,
    data: boxes.map(({ start, end, bottom, top, name }) => ({ value: [start, end, bottom, top], name: name ?? '' })),
  };
}

function placeOf(
  { start, end, bottom, top }: ChartBox,
  {
    params,
    api,
    laneShare,
  }: {
    readonly params: CustomSeriesRenderItemParams;
    readonly api: CustomSeriesRenderItemAPI;
    readonly laneShare: number | undefined;
  },
): Place | undefined {
  const grid = params.coordSys as unknown as Place;
  const [left = 0, low = 0] = api.coord([start, bottom]);
  const [right = 0, high = 0] = api.coord([end, top]);
  const lane = laneShare === undefined ? 0 : (getLaneHeight(api) * laneShare) / 2;
  const x = Math.max(grid.x, left);
  const y = Math.max(grid.y, high - lane);
  const width = Math.min(grid.x + grid.width, Math.max(right, left + 1)) - x;
  const height = Math.min(grid.y + grid.height, low + lane) - y;
  return width <= 0 || height <= 0 ? undefined : { x, y, width, height };
}

function getLaneHeight(api: CustomSeriesRenderItemAPI): number {
  const size = api.size?.([0, 1]);
  return Array.isArray(size) ? (size[1] ?? 0) : 0;
}

/** Room that a letter takes, in pixels. */
const letter = 6.5;

function drawBox({ ink, label, name }: ChartBox, place: Place, look: ChartLook): CustomSeriesRenderItemReturn {
  const { color, decal } = fillOfInk(ink, look);
  const isRoom = label !== '' && place.height >= 13 && place.width >= Math.min(54, label.length * letter + 14);
  // A ground of the fill's own, so that a pattern does not run through the letters.
  const text = {
    text: label,
    fill: textOn(color),
    fontSize: 11,
    fontFamily: look.font,
    width: Math.max(0, place.width - 10),
    overflow: 'truncate' as const,
    ellipsis: '…',
    ...(decal === undefined ? {} : { backgroundColor: color, padding: [0, 3], borderRadius: 2 }),
  };
  return {
    type: 'rect',
    shape: { ...place },
    silent: name === undefined,
    style: {
      fill: color,
      ...(decal === undefined ? {} : { decal }),
      stroke: look.ground,
      lineWidth: place.width > 4 ? 1 : 0,
    },
    ...(isRoom
      ? {
          textContent: { type: 'text', style: text, silent: true },
          textConfig: { position: place.height < 26 ? 'insideLeft' : 'insideTopLeft', distance: 4 },
        }
      : {}),
  } as CustomSeriesRenderItemReturn;
}
