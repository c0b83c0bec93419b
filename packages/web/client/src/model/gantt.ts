import type { Gantt } from '../../../src/schema/index.ts';

/** A stretch of time of the chart, and the rows that are in sight. */
export interface GanttWindow {
  readonly from: number;
  readonly until: number;
  readonly firstRow: number;
}

/** A bar of the chart as the pointer finds it. */
export interface GanttBar {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly taskIndex: number;
  readonly replicaId: number;
}

/**
 * Gives bars of one machine that overlap lanes of their own, as a machine of several processors runs several tasks at once.
 *
 * @returns the lane of each bar, and how many lanes each row has. Cost: O(bars log bars + bars x lanes).
 */
export function laneBars({ row, start_unix_ms: starts, end_unix_ms: ends }: Pick<NonNullable<Gantt['bars']>, 'row' | 'start_unix_ms' | 'end_unix_ms'>, rowCount: number): { readonly lane: readonly number[]; readonly laneCounts: readonly number[] } {
  const lane = new Array<number>(row.length).fill(0);
  const free: number[][] = Array.from({ length: rowCount }, () => []);
  const order = row.map((_, index) => index).sort((one, other) => (starts[one] as number) - (starts[other] as number) || one - other);
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

/** The bar at a row and an instant; of several in lanes, that of the lane at `share` of the row's height. */
export function findBar(gantt: Gantt, lanes: ReturnType<typeof laneBars>, at: { readonly row: number; readonly instant: number; readonly share: number }): GanttBar | undefined {
  const { bars, kinds } = gantt;
  if (bars === null) return undefined;
  const lane = Math.floor(at.share * (lanes.laneCounts[at.row] ?? 1));
  for (let index = bars.row.length - 1; index >= 0; index -= 1) {
    if (bars.row[index] !== at.row || lanes.lane[index] !== lane) continue;
    const [start, end] = [bars.start_unix_ms[index] as number, bars.end_unix_ms[index] as number];
    if (start <= at.instant && at.instant < end) return { row: at.row, start, end, kind: kinds[bars.kind[index] as number] ?? '', taskIndex: bars.task_index[index] as number, replicaId: bars.replica_id[index] as number };
  }
  return undefined;
}

/** Processor-time of each kind in what is shown. */
export function sumKinds({ bars, cells, kinds }: Gantt): number[] {
  const sums = kinds.map(() => 0);
  bars?.kind.forEach((kind, index) => { sums[kind] = (sums[kind] ?? 0) + (bars.end_unix_ms[index] as number) - (bars.start_unix_ms[index] as number); });
  cells?.kind.forEach((kind, index) => { sums[kind] = (sums[kind] ?? 0) + (cells.busy_ms[index] as number); });
  return sums;
}
