import type { CustomSeriesOption } from 'echarts/charts';
import type { DataZoomComponentOption } from 'echarts/components';
import { isStaging, sumKinds, type GanttPicture, type GanttShape } from '../model/gantt.ts';
import { barInks, getInk } from '../model/palette.ts';
import { sayTimeOfDay, sayCount, sayDuration, sayProcessorTime } from '../model/words.ts';
import { axisLook, baseOption, fillOfInk, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

const rowHeightMax = 22;
const rowHeightMin = 7;
const heightMax = 460;
/** For the legend above, the axis of time and the slider below. */
const [above, below] = [34, 32];
const tableRowsMax = 1000;

/** What became of a run, in words. */
const kindWords: Readonly<Record<string, string>> = {
  inputs: 'transfer of inputs to the machine',
  outputs: 'transfer of outputs home',
  accepted: 'accepted: its result is that of the task',
  loser: 'not used: the result of another replica was accepted',
  failed: 'failed',
  killed: 'killed: its job was cancelled',
  lost: 'lost with its machine, or withdrawn',
  running: 'still running',
};

/** How high the rows are, and how many are seen at once. */
export function ganttRows(rowCount: number): { readonly rowHeight: number; readonly seen: number } {
  const rowHeight = Math.max(rowHeightMin, Math.min(rowHeightMax, Math.floor(heightMax / Math.max(1, rowCount))));
  return { rowHeight, seen: Math.max(1, Math.min(rowCount, Math.floor(heightMax / rowHeight))) };
}

/** Height of the chart in pixels. */
export function ganttHeight({ rows }: Pick<GanttPicture, 'rows'>): number {
  const { rowHeight, seen } = ganttRows(rows.length);
  return above + Math.max(44, seen * rowHeight) + 24 + below;
}

/**
 * What ran where and when: a row for each machine, runs by what became of them, files on their way as a strip below the
 * runs. Time is zoomed and moved by its slider, by dragging, and by the wheel with Ctrl; of many machines some are seen
 * at once. Names of kinds hide and show them.
 */
export function buildGanttOption(picture: GanttPicture, look: ChartLook): ChartOption {
  return { ...ganttFrame(picture, look), dataZoom: ganttZooms(picture, look) };
}

/** The same for a file to save: all rows, and nothing to zoom with. */
export function buildGanttDrawing(picture: GanttPicture, look: ChartLook): ChartOption {
  return { ...ganttFrame(picture, look), grid: gridWithin({ top: above, bottom: 4, left: 4, right: 10 }) };
}

function ganttFrame(picture: GanttPicture, look: ChartLook): ChartOption {
  const {
    gantt: { kinds, job_from_unix_ms: from, job_until_unix_ms: until },
    rows,
  } = picture;
  const axis = axisLook(look);
  const byKind = kinds.map((_, kind) => picture.shapes.flatMap((shape, index) => (shape.kind === kind ? [index] : [])));
  const used = kinds.map((_, kind) => kind).filter((kind) => (byKind[kind]?.length ?? 0) > 0);
  const sums = sumKinds(picture.gantt);
  // Only shown: what somebody hid is known by its name, which a sum would change.
  const reportKind = (name: string): string =>
    `${name} ${sayProcessorTime(sums[kinds.indexOf(name)] ?? 0).replace('processor-', '')}`;
  return {
    ...baseOption(look),
    grid: { top: above, bottom: below + 24, left: leftEdge(rows, look), right: rightEdge(rows) },
    legend: {
      type: 'scroll',
      top: 0,
      left: 0,
      right: 10,
      itemWidth: 14,
      itemHeight: 10,
      icon: 'rect',
      textStyle: { color: look.faint, fontSize: 12 },
      inactiveColor: look.line,
      pageIconColor: look.faint,
      pageTextStyle: { color: look.faint },
      data: used.map((kind) => kinds[kind] ?? ''),
      formatter: reportKind,
    },
    xAxis: {
      ...axis,
      type: 'time',
      min: from,
      max: Math.max(from + 1, until),
      splitLine: { ...axis.splitLine, show: true },
      splitNumber: Math.max(2, Math.round(look.width / 160)),
    },
    yAxis: {
      ...axis,
      type: 'category',
      inverse: true,
      data: [...rows],
      axisTick: { show: false },
      splitLine: { show: false },
      axisLabel: { ...axis.axisLabel, width: leftEdge(rows, look) - 8, overflow: 'truncate', color: look.text },
    },
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'item',
      formatter: (reported: unknown) => reportShape(picture, getShapeIndex(reported)),
    },
    series: used.map((kind) => kindSeries({ picture, indexes: byKind[kind] ?? [], kind }, look)),
  };
}

/** Room for the names of machines, as far as they need it: a letter is about so wide at the size of labels. */
function leftEdge(rows: readonly string[], { width }: ChartLook): number {
  const letters = rows.reduce((most, name) => Math.max(most, name.length), 0);
  return Math.min(width < 480 ? 92 : 158, 16 + Math.ceil(letters * 6.4));
}

/** Room for the slider over the machines, where not all are seen at once. */
function rightEdge(rows: readonly string[]): number {
  return ganttRows(rows.length).seen < rows.length ? 28 : 14;
}

function ganttZooms({ rows }: GanttPicture, look: ChartLook): DataZoomComponentOption[] {
  const quiet = {
    borderColor: look.line,
    fillerColor: `${look.accent}26`,
    handleStyle: { color: look.ground, borderColor: look.faint },
    moveHandleStyle: { color: look.faint, opacity: 0.4 },
    textStyle: { color: look.faint, fontSize: 11 },
    backgroundColor: 'transparent',
    brushSelect: false,
    showDataShadow: false,
  };
  const time = [
    {
      ...quiet,
      type: 'slider' as const,
      id: 'time',
      xAxisIndex: 0,
      filterMode: 'weakFilter' as const,
      bottom: 4,
      height: 18,
      // As wide as the axis of time, so that its ends are those of what is drawn.
      left: leftEdge(rows, look),
      right: rightEdge(rows),
      labelFormatter: (value: number) => sayTimeOfDay(value),
    },
    {
      type: 'inside' as const,
      id: 'time-inside',
      xAxisIndex: 0,
      filterMode: 'weakFilter' as const,
      zoomOnMouseWheel: 'ctrl' as const,
      moveOnMouseMove: true,
      moveOnMouseWheel: false,
    },
  ];
  const { seen } = ganttRows(rows.length);
  if (seen >= rows.length) return time;
  // From the first machine on, without a start that each new picture would go back to.
  const spans = { maxValueSpan: seen - 1 };
  return [
    ...time,
    {
      ...quiet,
      ...spans,
      type: 'slider',
      id: 'machines',
      yAxisIndex: 0,
      filterMode: 'filter',
      right: 2,
      width: 14,
      top: above,
      bottom: below + 22,
      showDetail: false,
      zoomLock: false,
    },
    {
      ...spans,
      type: 'inside',
      id: 'machines-inside',
      yAxisIndex: 0,
      filterMode: 'filter',
      zoomOnMouseWheel: false,
      moveOnMouseMove: true,
      moveOnMouseWheel: 'shift',
    },
  ];
}

interface KindShapes {
  readonly picture: GanttPicture;
  /** Which shapes of the picture are of this kind. */
  readonly indexes: readonly number[];
  readonly kind: number;
}

/** Entries are `[start, end, row, top, bottom, share, index of the shape]`. */
function kindSeries({ picture, indexes, kind }: KindShapes, look: ChartLook): CustomSeriesOption {
  const name = picture.gantt.kinds[kind] ?? '';
  const fill = fillOfInk(getInk(barInks, name), look);
  const isStrip = isStaging(name);
  return {
    type: 'custom',
    id: name,
    name,
    clip: true,
    encode: { x: [0, 1], y: 2 },
    itemStyle: fill,
    progressive: 0,
    data: indexes.map((index) => {
      const { start, end, row, top, bottom, share } = picture.shapes[index] as GanttShape;
      return [start, end, row, top, bottom, share, index];
    }),
    renderItem: (_, api) => {
      const place = placeOf(api, isStrip);
      return {
        type: 'rect',
        shape: place,
        style: {
          fill: fill.color,
          ...(fill.decal === undefined || place.width < 4 ? {} : { decal: fill.decal }),
          opacity: isStrip && picture.gantt.bars === null ? 0.3 + 0.7 * Number(api.value(5)) : 1,
        },
      };
    },
  };
}

type RenderApi = Parameters<NonNullable<CustomSeriesOption['renderItem']>>[1];

/** Where an entry is drawn, in pixels: a pixel wide and high at least, with a little room to its neighbours. */
function placeOf(api: RenderApi, isStrip: boolean): Readonly<Record<'x' | 'y' | 'width' | 'height', number>> {
  const of = (dimension: number): number => Number(api.value(dimension));
  const [left, middle] = api.coord([of(0), of(2)]) as [number, number];
  const [right] = api.coord([of(1), of(2)]) as [number, number];
  const [, band] = api.size?.([0, 1]) as [number, number];
  const room = band - Math.min(3, band * 0.2);
  const [top, bottom] = [of(3), of(4)].map((share) => middle + (share - 0.5) * room) as [number, number];
  const [wide, high] = [right - left, bottom - top];
  const isLower = of(3) > 0 && !isStrip && of(5) === 1;
  return {
    x: left,
    y: top,
    width: Math.max(1, wide > 6 ? wide - 1 : wide),
    height: Math.max(1, isLower ? high - 0.5 : high),
  };
}

/** The index of the shape in an entry of a series or in the parameters of a tip or press; -1 if it has none. */
export function getShapeIndex(reported: unknown): number {
  const values = Array.isArray(reported)
    ? (reported as unknown[])
    : (reported as { readonly value?: unknown } | null)?.value;
  const index = Array.isArray(values) ? (values as unknown[])[6] : undefined;
  return typeof index === 'number' ? index : -1;
}

/** A shape in words: which task where and for how long, what became of it, when. */
function reportShape(picture: GanttPicture, index: number): string {
  const shape = picture.shapes[index];
  if (shape === undefined) return '';
  const {
    gantt: { bars, kinds },
    rows,
  } = picture;
  const machine = rows[shape.row] ?? '';
  const when = `${sayTimeOfDay(shape.start)} to ${sayTimeOfDay(shape.end)}`;
  if (bars === null || shape.bar < 0)
    return [`${machine}, ${when}`, ...sumWords(picture, shape), 'zoom in to see single tasks'].join('\n');
  const kind = kinds[shape.kind] ?? '';
  return [
    `task ${sayCount(bars.task_index[shape.bar] ?? 0)} on ${machine}, ${sayDuration(shape.end - shape.start)}`,
    kindWords[kind] ?? kind,
    `${when}, replica ${bars.replica_id[shape.bar] ?? 0}`,
  ].join('\n');
}

/** What a machine did in a stretch of time: all shapes of it that begin there. */
function sumWords({ gantt: { kinds }, shapes }: GanttPicture, { row, start }: GanttShape): string[] {
  return shapes
    .filter((one) => one.row === row && one.start === start)
    .map(({ kind, share }) => `${kinds[kind] ?? ''} about ${Math.round(share * 100)} %`);
}

/** The same as a table: the bars, 1,000 at most, or what each machine did. */
export function ganttTable({ gantt: { bars, cells, kinds }, rows, shapes }: GanttPicture): ChartTable {
  if (bars === null) {
    const sums = rows.map(() => kinds.map(() => 0));
    cells?.row.forEach((row, at) => {
      const own = sums[row];
      if (own !== undefined)
        own[cells.kind[at] as number] = (own[cells.kind[at] as number] ?? 0) + (cells.busy_ms[at] as number);
    });
    return {
      heads: ['Machine', ...kinds],
      rows: rows
        .slice(0, tableRowsMax)
        .map((name, row) => [name, ...(sums[row] ?? []).map((time) => (time === 0 ? '' : sayProcessorTime(time)))]),
    };
  }
  return {
    heads: ['Task', 'Replica', 'Machine', 'What', 'From', 'Until', 'Took'],
    rows: shapes
      .slice(0, tableRowsMax)
      .map(({ bar, row, kind, start, end }) => [
        sayCount(bars.task_index[bar] ?? 0),
        String(bars.replica_id[bar] ?? 0),
        rows[row] ?? '',
        kinds[kind] ?? '',
        sayTimeOfDay(start),
        sayTimeOfDay(end),
        sayDuration(end - start),
      ]),
  };
}
