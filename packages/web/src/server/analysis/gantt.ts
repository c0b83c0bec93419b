import { barKinds, type Gantt } from '../../schema/index.ts';
import type { JobRecords } from './job-records.ts';
import type { BarKind, ReplicaRow } from './replica-rows.ts';

const rowsMax = 2000;
const barsDefault = 5000;
/** Most cells of one kind: a screen shows about this many points. */
const cellsMax = 120_000;
const binsDefault = 240;

/** Which part of the picture is wanted, and how fine. */
export interface GanttWindow {
  readonly from: number | undefined;
  readonly until: number | undefined;
  readonly binCount: number | undefined;
  readonly barsMax: number | undefined;
}

interface Segment {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly kind: number;
  readonly replica: ReplicaRow;
}

/**
 * Draws what ran where and when: bars while they are few, else the sum of what each machine did in each stretch of
 * time.
 */
export function drawGantt(records: JobRecords, window: GanttWindow, now: number): Gantt {
  const replicas = records.rows();
  const [jobFrom, jobUntil] = getExtent(replicas, now);
  const from = window.from ?? jobFrom;
  const until = Math.max(from + 1, window.until ?? jobUntil);
  const shown = replicas.filter(({ dispatchedAt, endedAt }) => dispatchedAt < until && (endedAt || now) >= from);
  const machines = [...new Set(shown.map(({ machineId }) => machineId))].sort(compare);
  const rows = machines.slice(0, rowsMax);
  const rowOf = new Map(rows.map((machineId, row) => [machineId, row]));
  const segments = listSegments(shown, { rowOf, from, until, now });
  const runCount = segments.filter(({ kind }) => !isStagingKind(kind)).length;
  const barsMax = window.barsMax ?? barsDefault;
  const binCount = Math.max(
    1,
    Math.min(window.binCount ?? binsDefault, Math.floor(cellsMax / Math.max(1, rows.length))),
  );
  const binMs = Math.max(1, Math.ceil((until - from) / binCount));
  return {
    job_id: records.jobId,
    from_unix_ms: from,
    until_unix_ms: until,
    job_from_unix_ms: jobFrom,
    job_until_unix_ms: jobUntil,
    kinds: [...barKinds],
    rows: rows.map((machineId) => ({ machine_id: machineId, provider_id: machineId.split('/')[0] ?? '' })),
    rows_left_out: machines.length - rows.length,
    bars: runCount <= barsMax ? listBars(segments) : null,
    cells: runCount <= barsMax ? null : listCells(segments, { from, binMs, binCount, rowCount: rows.length }),
    bin_ms: binMs,
    read_task_count: records.readCount,
    task_count: records.taskCount,
  };
}

const compare = new Intl.Collator('en', { numeric: true }).compare;
const kindIndex = (kind: BarKind): number => barKinds.indexOf(kind);
const isStagingKind = (kind: number): boolean => kind === kindIndex('inputs') || kind === kindIndex('outputs');

function getExtent(replicas: readonly ReplicaRow[], now: number): readonly [number, number] {
  let [first, last] = [Infinity, 0];
  for (const { dispatchedAt, startedAt, endedAt } of replicas) {
    first = Math.min(first, dispatchedAt);
    last = Math.max(last, endedAt || now, startedAt + 1);
  }
  return first === Infinity ? [now, now] : [first, Math.max(first + 1, last)];
}

interface Frame {
  readonly rowOf: ReadonlyMap<string, number>;
  readonly from: number;
  readonly until: number;
  readonly now: number;
}

/** What is within the window; in one pass, for there may be hundreds of thousands. */
function listSegments(replicas: readonly ReplicaRow[], { rowOf, from, until, now }: Frame): Segment[] {
  const segments: Segment[] = [];
  const add = (segment: Segment): void => {
    const [start, end] = [Math.max(segment.start, from), Math.min(segment.end, until)];
    if (end > start) segments.push({ ...segment, start, end });
  };
  for (const replica of replicas) {
    const row = rowOf.get(replica.machineId);
    if (row === undefined) continue;
    for (const { start, end, kind } of listStretches(replica, now))
      add({ row, start, end, kind: kindIndex(kind), replica });
  }
  return segments;
}

/** What a replica was at: its run, while its command did, and what was brought for it and of it. */
function listStretches(
  { kind, startedAt, endedAt, staging }: ReplicaRow,
  now: number,
): { readonly start: number; readonly end: number; readonly kind: BarKind }[] {
  const end = endedAt || now;
  // Times are in whole milliseconds, and a run that took less is one, too.
  const atLeastShort = (runEnd: number): number => Math.max(runEnd, startedAt + 1);
  if (staging === undefined) return startedAt === 0 ? [] : [{ start: startedAt, end: atLeastShort(end), kind }];
  const { inputsAskedAt, inputsHereAt, inputsPlacingAt } = staging;
  const commandEnd = staging.commandEndedAt || end;
  const stretches = [
    { start: startedAt, end: atLeastShort(commandEnd), kind },
    { start: inputsAskedAt, end: inputsHereAt || end, kind: 'inputs' },
    { start: inputsPlacingAt, end: startedAt || end, kind: 'inputs' },
    { start: commandEnd, end, kind: 'outputs' },
  ] as const;
  return stretches.filter(({ start }) => start > 0);
}

function listBars(segments: readonly Segment[]): Gantt['bars'] {
  return {
    row: segments.map(({ row }) => row),
    start_unix_ms: segments.map(({ start }) => start),
    end_unix_ms: segments.map(({ end }) => end),
    kind: segments.map(({ kind }) => kind),
    task_index: segments.map(({ replica }) => replica.taskIndex),
    replica_id: segments.map(({ replica }) => replica.replicaId),
  };
}

interface CellGrid {
  readonly from: number;
  readonly binMs: number;
  readonly binCount: number;
  readonly rowCount: number;
}

/** Cost: O(segments + cells that they cross). */
function listCells(
  segments: readonly Segment[],
  { from, binMs, binCount, rowCount }: CellGrid,
): NonNullable<Gantt['cells']> {
  const sums = new Float64Array(rowCount * binCount * barKinds.length);
  for (const { row, start, end, kind } of segments) {
    const last = Math.min(binCount - 1, Math.floor((end - from) / binMs));
    for (let bin = Math.min(binCount - 1, Math.floor((start - from) / binMs)); bin <= last; bin += 1) {
      const busy = Math.min(end, from + (bin + 1) * binMs) - Math.max(start, from + bin * binMs);
      const at = (row * binCount + bin) * barKinds.length + kind;
      sums[at] = (sums[at] ?? 0) + Math.max(0, busy);
    }
  }
  const cells = { row: [] as number[], bin: [] as number[], kind: [] as number[], busy_ms: [] as number[] };
  for (let at = 0; at < sums.length; at += 1) {
    const busy = sums[at] ?? 0;
    if (busy <= 0) continue;
    const place = Math.floor(at / barKinds.length);
    cells.row.push(Math.floor(place / binCount));
    cells.bin.push(place % binCount);
    cells.kind.push(at % barKinds.length);
    cells.busy_ms.push(Math.round(busy));
  }
  return cells;
}
