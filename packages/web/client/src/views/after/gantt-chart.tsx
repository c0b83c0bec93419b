import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import type { Gantt } from '../../../../src/schema/index.ts';
import { buildGanttOption, ganttHeight, ganttRows, ganttTable, getShapeIndex } from '../../charts/gantt-chart.ts';
import { isStaging, layOutGantt, sumKinds } from '../../model/gantt.ts';
import { sayCount, sayDuration, sayProcessorTime } from '../../model/words.ts';
import { useAnswer, usePage } from '../../page-context.tsx';
import { Chart, type ChartHandle, type PressedDatum, type ZoomRange } from '../../parts/chart.tsx';

/** Bars that are drawn one by one; of more, what each machine did in each stretch of time. */
const barsMax = 6000;
/** From then on nobody has zoomed for so long that what is in sight is asked for, in milliseconds. */
const restMs = 250;

/**
 * Machines over time. Of a job with many tasks sums are shown, and single tasks of the stretch of time that one zooms
 * to. A press on a bar opens its task.
 */
export function GanttChart({ gantt }: { readonly gantt: Gantt }): ReactNode {
  const { explain } = usePage();
  const handle = useRef<ChartHandle>(undefined);
  const rows = useMemo(() => gantt.rows.map(({ machine_id: id }) => id), [gantt]);
  const [range, setRange] = useRested<ZoomRange>(restMs);
  const detail = useDetail(gantt, range);
  const picture = useMemo(() => layOutGantt(detail ?? gantt, rows), [detail, gantt, rows]);
  const press = useCallback(
    ({ data }: PressedDatum) => {
      const shape = picture.shapes[getShapeIndex(data)];
      const taskIndex = shape === undefined ? undefined : picture.gantt.bars?.task_index[shape.bar];
      if (taskIndex !== undefined) explain({ kind: 'task', jobId: gantt.job_id, taskIndex });
      else if (shape !== undefined)
        zoomTo(handle.current, shape.start - 5 * picture.gantt.bin_ms, shape.end + 5 * picture.gantt.bin_ms);
    },
    [picture, gantt.job_id, explain],
  );
  const { seen } = ganttRows(rows.length);
  return (
    <div className="picture">
      <Chart
        data={picture}
        build={buildGanttOption}
        table={ganttTable}
        height={ganttHeight(picture)}
        onPress={press}
        onZoom={setRange}
        handle={handle}
        label={getLabel(gantt)}
      />
      <div className="gantt-foot">
        <span className="hint">
          {picture.gantt.bars === null
            ? 'Each row shows what its machine did, as shares of its time: zoom in, or press one, for single tasks.'
            : 'Press a bar to open its task.'}{' '}
          {gantt.kinds.some((kind, index) => isStaging(kind) && (sumKinds(gantt)[index] ?? 0) > 0)
            ? 'Files on their way are the thin strip below the runs.'
            : ''}
        </span>
        <ZoomButtons handle={handle} range={range} gantt={gantt} />
      </div>
      {rows.length > seen || gantt.rows_left_out > 0 ? (
        <p className="hint">
          {sayCount(seen)} of {sayCount(rows.length)} machines are seen at once: move the slider on the right
          {gantt.rows_left_out > 0 ? `; ${sayCount(gantt.rows_left_out)} more are left out` : ''}.
        </p>
      ) : null}
      {gantt.read_task_count < gantt.task_count ? (
        <p className="hint">
          Drawn of {sayCount(gantt.read_task_count)} of {sayCount(gantt.task_count)} tasks so far.
        </p>
      ) : null}
    </div>
  );
}

function getLabel(gantt: Gantt): string {
  const sums = sumKinds(gantt);
  return (
    `Gantt chart of ${gantt.rows.length} machines over ` +
    `${sayDuration(gantt.job_until_unix_ms - gantt.job_from_unix_ms)}: ` +
    `${gantt.kinds.flatMap((kind, index) => ((sums[index] ?? 0) > 0 ? [`${kind} ${sayProcessorTime(sums[index] ?? 0)}`] : [])).join(', ')}`
  );
}

/** A value once it has not changed for a while. */
function useRested<T>(milliseconds: number): readonly [T | undefined, (value: T) => void] {
  const [value, setValue] = useState<T>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const note = useCallback(
    (next: T) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setValue(next), milliseconds);
    },
    [milliseconds],
  );
  return [value, note];
}

/**
 * What is in sight in more detail, where all of it is shown in sums; with half as much on each side, so that one can
 * move a little.
 */
function useDetail(gantt: Gantt, range: ZoomRange | undefined): Gantt | undefined {
  const isWanted = gantt.bars === null && range !== undefined && range.end - range.start < 0.7;
  const margin = range === undefined ? 0 : (range.until - range.from) / 2;
  const { value } = useAnswer(
    'getGantt',
    isWanted
      ? {
          params: { job_id: gantt.job_id },
          query: {
            from_unix_ms: Math.max(gantt.job_from_unix_ms, Math.floor(range.from - margin)),
            until_unix_ms: Math.min(gantt.job_until_unix_ms, Math.ceil(range.until + margin)),
            bars_max: barsMax,
          },
        }
      : undefined,
  );
  return value;
}

function zoomTo(handle: ChartHandle | undefined, from: number, until: number): void {
  handle?.engine()?.dispatchAction({
    type: 'dataZoom',
    dataZoomId: 'time',
    startValue: Math.round(from),
    endValue: Math.round(until),
  });
}

/** The same as the slider and the wheel do, for the keyboard. */
function ZoomButtons({
  handle,
  range,
  gantt: { job_from_unix_ms: first, job_until_unix_ms: last },
}: {
  readonly handle: { readonly current: ChartHandle | undefined };
  readonly range: ZoomRange | undefined;
  readonly gantt: Gantt;
}): ReactNode {
  const [from, until] = [range?.from ?? first, range?.until ?? last];
  const [middle, half] = [(from + until) / 2, (until - from) / 2];
  const show = (center: number, reach: number): void =>
    zoomTo(handle.current, Math.max(first, center - reach), Math.min(last, center + reach));
  return (
    <span className="row">
      <button type="button" className="small" onClick={() => show(middle, half * 0.5)} aria-label="Zoom in">
        +
      </button>
      <button type="button" className="small" onClick={() => show(middle, half * 2)} aria-label="Zoom out">
        −
      </button>
      <button type="button" className="small" onClick={() => show(Math.max(first + half, middle - half), half)}>
        Earlier
      </button>
      <button type="button" className="small" onClick={() => show(Math.min(last - half, middle + half), half)}>
        Later
      </button>
      <button type="button" className="small" onClick={() => zoomTo(handle.current, first, last)}>
        All
      </button>
    </span>
  );
}
