import type { Gantt } from '../../../src/schema/index.ts';

/** A rectangle of a Gantt chart: a run, files on their way, or what a machine did in a stretch of time. */
export interface GanttShape {
  /** Index into the rows of the picture. */
  readonly row: number;
  /** Unix milliseconds. */
  readonly start: number;
  readonly end: number;
  /** Index into the kinds of the document. */
  readonly kind: number;
  /** Where it lies in its row, from 0 (top) to 1. */
  readonly top: number;
  readonly bottom: number;
  /** The bar that it is; -1 for a sum of many. */
  readonly bar: number;
  /** Of a sum: which share of the machine's time was of this kind, from 0 to 1. */
  readonly share: number;
}

/** A Gantt chart as it is laid out: which machines have which rectangles. */
export interface GanttPicture {
  readonly gantt: Gantt;
  /** Names of machines, one for each row. */
  readonly rows: readonly string[];
  readonly shapes: readonly GanttShape[];
}

/**
 * Files on their way are recognized by their place, too: a strip of the row that runs leave free, for they are on their
 * way while other tasks run.
 */
const stripTop = 0.8;
/** Shares are rounded to this many steps, and neighbours with the same step become one rectangle. */
const shareSteps = 16;

/**
 * Lays a document out. @param rows machines to have rows for, where they are more than those of the document. Cost:
 * O(bars log bars + bars x lanes) or O(cells).
 */
export function layOutGantt(
  gantt: Gantt,
  rows: readonly string[] = gantt.rows.map(({ machine_id: id }) => id),
): GanttPicture {
  const rowOf = new Map(rows.map((name, row) => [name, row]));
  const places = gantt.rows.map(({ machine_id: id }) => rowOf.get(id) ?? -1);
  const shapes = gantt.bars === null ? shapesOfCells(gantt) : shapesOfBars(gantt);
  return {
    gantt,
    rows,
    shapes: shapes.flatMap((shape) => {
      const row = places[shape.row] ?? -1;
      return row < 0 ? [] : [{ ...shape, row }];
    }),
  };
}

/** Whether a kind is of files that are on their way. */
export function isStaging(kind: string | undefined): boolean {
  return kind === 'inputs' || kind === 'outputs';
}

function shapesOfBars({ bars, kinds, rows }: Gantt): GanttShape[] {
  if (bars === null) return [];
  const runs = bars.row.flatMap((_, bar) => (isStaging(kinds[bars.kind[bar] as number]) ? [] : [bar]));
  const pick = (column: readonly number[]): number[] => runs.map((bar) => column[bar] as number);
  const { lane, laneCounts } = laneBars(
    { row: pick(bars.row), start_unix_ms: pick(bars.start_unix_ms), end_unix_ms: pick(bars.end_unix_ms) },
    rows.length,
  );
  const laneOf = new Map(runs.map((bar, at) => [bar, lane[at] as number]));
  const hasStaging = runs.length < bars.row.length;
  return bars.row.map((row, bar) => {
    const [own, height] = [laneOf.get(bar), (hasStaging ? stripTop : 1) / (laneCounts[row] ?? 1)];
    const [top, bottom] = own === undefined ? [stripTop, 1] : [own * height, (own + 1) * height];
    return {
      row,
      start: bars.start_unix_ms[bar] as number,
      end: bars.end_unix_ms[bar] as number,
      kind: bars.kind[bar] as number,
      top,
      bottom,
      bar,
      share: 1,
    };
  });
}

/**
 * Gives bars of one machine that overlap lanes of their own, as a machine of several processors runs several tasks at
 * once.
 *
 * @returns the lane of each bar, and how many lanes each row has. Cost: O(bars log bars + bars x lanes).
 */
export function laneBars(
  {
    row,
    start_unix_ms: starts,
    end_unix_ms: ends,
  }: Pick<NonNullable<Gantt['bars']>, 'row' | 'start_unix_ms' | 'end_unix_ms'>,
  rowCount: number,
): { readonly lane: readonly number[]; readonly laneCounts: readonly number[] } {
  const lane = new Array<number>(row.length).fill(0);
  const free: number[][] = Array.from({ length: rowCount }, () => []);
  const order = row
    .map((_, index) => index)
    .sort((one, other) => (starts[one] as number) - (starts[other] as number) || one - other);
  for (const index of order) {
    const lanes = free[row[index] as number];
    if (lanes === undefined) continue;
    const found = lanes.findIndex((until) => until <= (starts[index] as number));
    const chosen = found === -1 ? lanes.length : found;
    lanes[chosen] = ends[index] as number;
    lane[index] = chosen;
  }
  return { lane, laneCounts: free.map((lanes) => Math.max(1, lanes.length)) };
}

interface Cell {
  readonly bin: number;
  /** By kind, in parts of `shareSteps`. */
  readonly parts: readonly number[];
}

/** Sums become stacks of what a machine did, as high as the share of its time; neighbours that look alike are one. */
function shapesOfCells({
  cells,
  kinds,
  from_unix_ms: from,
  until_unix_ms: until,
  bin_ms: binMs,
  rows,
}: Gantt): GanttShape[] {
  if (cells === null) return [];
  const byPlace = new Map<string, number[]>();
  cells.row.forEach((row, at) => {
    const place = `${row} ${cells.bin[at] as number}`;
    const busy = byPlace.get(place) ?? kinds.map(() => 0);
    busy[cells.kind[at] as number] = cells.busy_ms[at] as number;
    byPlace.set(place, busy);
  });
  const byRow: { bin: number; busy: number[] }[][] = rows.map(() => []);
  for (const [place, busy] of byPlace) {
    const [row = 0, bin = 0] = place.split(' ').map(Number);
    byRow[row]?.push({ bin, busy });
  }
  return byRow.flatMap((own, row) => {
    const merged = mergeCells(
      quantizeRow(
        own.sort((one, other) => one.bin - other.bin),
        kinds,
        binMs,
      ),
    );
    return merged.flatMap(({ bin, until: end, parts }) =>
      getStack(parts, kinds, { row, start: from + bin * binMs, end: Math.min(until, from + end * binMs) }),
    );
  });
}

/**
 * Shares are of the most that the machine ever did at once, which is a processor at least; files that are on their way
 * are of one.
 */
function quantizeRow(
  own: readonly { readonly bin: number; readonly busy: readonly number[] }[],
  kinds: readonly string[],
  binMs: number,
): Cell[] {
  const runs = (busy: readonly number[]): number =>
    busy.reduce((sum, time, kind) => sum + (isStaging(kinds[kind]) ? 0 : time), 0);
  const capacity = Math.max(1, Math.ceil(own.reduce((most, { busy }) => Math.max(most, runs(busy) / binMs), 0) - 0.01));
  return own.map(({ bin, busy }) => ({
    bin,
    parts: busy.map((time, kind) => derivePart(time / (binMs * (isStaging(kinds[kind]) ? 1 : capacity)))),
  }));
}

/** A small share must be visible too. */
function derivePart(share: number): number {
  return share <= 0 ? 0 : Math.max(1, Math.min(shareSteps, Math.round(share * shareSteps)));
}

function mergeCells(cells: readonly Cell[]): (Cell & { readonly until: number })[] {
  const merged: (Cell & { until: number })[] = [];
  for (const cell of cells) {
    const last = merged.at(-1);
    if (last?.until === cell.bin && last.parts.every((part, kind) => part === cell.parts[kind]))
      last.until = cell.bin + 1;
    else merged.push({ ...cell, until: cell.bin + 1 });
  }
  return merged;
}

function getStack(
  parts: readonly number[],
  kinds: readonly string[],
  place: Pick<GanttShape, 'row' | 'start' | 'end'>,
): GanttShape[] {
  const shapes: GanttShape[] = [];
  const total = parts.reduce((sum, part, kind) => sum + (isStaging(kinds[kind]) ? 0 : part), 0);
  let bottom = stripTop;
  parts.forEach((part, kind) => {
    if (part === 0) return;
    const share = part / shareSteps;
    if (isStaging(kinds[kind])) {
      shapes.push({ ...place, kind, top: stripTop, bottom: 1, bar: -1, share });
      return;
    }
    const top = bottom - (part / Math.max(shareSteps, total)) * stripTop;
    shapes.push({ ...place, kind, top: Math.max(0, top), bottom, bar: -1, share });
    bottom = top;
  });
  return shapes;
}

/** Processor-time of each kind in what is shown. */
export function sumKinds({ bars, cells, kinds }: Pick<Gantt, 'bars' | 'cells' | 'kinds'>): number[] {
  const sums = kinds.map(() => 0);
  bars?.kind.forEach((kind, index) => {
    sums[kind] = (sums[kind] ?? 0) + (bars.end_unix_ms[index] as number) - (bars.start_unix_ms[index] as number);
  });
  cells?.kind.forEach((kind, index) => {
    sums[kind] = (sums[kind] ?? 0) + (cells.busy_ms[index] as number);
  });
  return sums;
}
