import type { ECElementEvent, ECharts } from 'echarts/core';
import { useEffect, useMemo, useState, type HTMLAttributes, type ReactNode } from 'react';
import { replacedParts, type ChartLook, type ChartOption } from '../charts/look.ts';
import type { ChartTable } from '../charts/table.ts';
import { withPlainTips } from './plain-tips.ts';
import { useLook } from './use-look.ts';
import { useWidth } from './use-width.ts';

/** What of a chart was pressed: the datum as its builder gave it, and which series and entry it is. */
export interface PressedDatum {
  readonly seriesId: string;
  readonly index: number;
  readonly data: unknown;
}

/** A place: in pixels, or in the units of a chart's first axes. */
export interface ChartPlace {
  readonly x: number;
  readonly y: number;
}

/** What a view may ask of a chart that is there. */
export interface ChartHandle {
  /**
   * The axis values at pixels from the upper left corner of the chart, also outside the grid; undefined before the
   * chart is ready.
   */
  readonly placeAt: (pixels: ChartPlace) => ChartPlace | undefined;
  /** ECharts itself, for what nothing here does; undefined before it is there. */
  readonly engine: () => ECharts | undefined;
}

/** Which part of an axis is in sight: in its units, and as shares of all of it. */
export interface ZoomRange {
  readonly from: number;
  readonly until: number;
  readonly start: number;
  readonly end: number;
}

interface ChartProps<T> {
  /** What is drawn; drawn again when it is another object. */
  readonly data: T;
  /** Makes the option of ECharts: a pure function that is the same one each time (`src/charts`, or `useCallback`). */
  readonly build: (data: T, look: ChartLook) => ChartOption;
  /** In pixels. */
  readonly height: number;
  /** What the chart shows, in a sentence, for those who do not see it. */
  readonly label: string;
  /** The numbers of it; asked for only while somebody looks at them. */
  readonly table: (data: T) => ChartTable;
  readonly onPress?: (pressed: PressedDatum) => void;
  /** Called with the visible part of the first zoomed axis, once somebody has zoomed or moved it. */
  readonly onZoom?: (range: ZoomRange) => void;
  readonly handle?: { current: ChartHandle | undefined };
}

/** A chart as wide as its place, in the colours of the page, with its numbers below. */
export function Chart<T>({
  data,
  build,
  height,
  label,
  table,
  onPress,
  onZoom,
  handle,
  ...rest
}: ChartProps<T> & Omit<HTMLAttributes<HTMLDivElement>, 'children' | 'role'>): ReactNode {
  const [ref, width] = useWidth();
  const look = useLook();
  const option = useMemo(() => build(data, { ...look, width }), [build, data, look, width]);
  const { chart, isMissing } = useEngine(ref);
  // Apart from the option: each time it draws all again.
  useEffect(() => chart?.resize(), [chart, width, height]);
  useEffect(() => {
    // At once: a pointer that moves meanwhile would meet axes without a scale.
    chart?.setOption(withPlainTips(option, label), { replaceMerge: replacedParts });
  }, [chart, option, label]);
  useEffect(() => {
    if (handle === undefined) return undefined;
    handle.current = {
      engine: () => chart,
      placeAt: ({ x, y }) => placeOf(chart?.convertFromPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [x, y])),
    };
    return () => {
      handle.current = undefined;
    };
  }, [chart, handle]);
  useEffect(() => {
    if (chart === undefined || onPress === undefined) return undefined;
    const press = ({ seriesId, dataIndex, data: datum }: ECElementEvent): void =>
      onPress({ seriesId: seriesId ?? '', index: dataIndex, data: datum });
    chart.on('click', press);
    return () => {
      if (!chart.isDisposed()) chart.off('click', press);
    };
  }, [chart, onPress]);
  useEffect(() => {
    if (chart === undefined || onZoom === undefined) return undefined;
    const zoom = (): void => {
      const range = getRange(chart);
      if (range !== undefined) onZoom(range);
    };
    chart.on('datazoom', zoom);
    return () => {
      if (!chart.isDisposed()) chart.off('datazoom', zoom);
    };
  }, [chart, onZoom]);
  return (
    <>
      <div
        {...rest}
        ref={ref}
        className={`chart ${rest.className ?? ''}`}
        role="img"
        aria-label={label}
        aria-busy={chart === undefined && !isMissing}
        style={{ ...rest.style, height: `${height}px` }}
      />
      {isMissing ? (
        <p className="hint" role="status">
          The chart could not be loaded; its numbers are below.
        </p>
      ) : null}
      <Numbers data={data} table={table} label={label} />
    </>
  );
}

function placeOf(place: unknown): ChartPlace | undefined {
  if (!Array.isArray(place)) return undefined;
  const [x, y] = place as readonly unknown[];
  return typeof x === 'number' && typeof y === 'number' ? { x, y } : undefined;
}

/** What of the first axis that can be zoomed is in sight. */
function getRange(chart: ECharts): ZoomRange | undefined {
  const [zoom] =
    (
      chart.getOption() as {
        readonly dataZoom?: readonly {
          readonly startValue?: number;
          readonly endValue?: number;
          readonly start?: number;
          readonly end?: number;
        }[];
      }
    ).dataZoom ?? [];
  if (zoom?.startValue === undefined || zoom.endValue === undefined) return undefined;
  return { from: zoom.startValue, until: zoom.endValue, start: (zoom.start ?? 0) / 100, end: (zoom.end ?? 100) / 100 };
}

/** ECharts in an element, from when it is loaded until the element goes. */
function useEngine(ref: { readonly current: HTMLDivElement | null }): {
  readonly chart: ECharts | undefined;
  readonly isMissing: boolean;
} {
  const [chart, setChart] = useState<ECharts>();
  const [isMissing, setIsMissing] = useState(false);
  useEffect(() => {
    let made: ECharts | undefined;
    let isGone = false;
    import('./chart-engine.ts').then(
      ({ openChart }) => {
        if (isGone || ref.current === null) return;
        made = openChart(ref.current);
        setChart(made);
      },
      () => {
        if (!isGone) setIsMissing(true);
      },
    );
    return () => {
      isGone = true;
      setChart(undefined);
      made?.dispose();
    };
  }, [ref]);
  return { chart, isMissing };
}

/** The chart as a table, once it is asked for. */
function Numbers<T>({
  data,
  table,
  label,
}: {
  readonly data: T;
  readonly table: (data: T) => ChartTable;
  readonly label: string;
}): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  const read = isOpen ? table(data) : undefined;
  return (
    <details className="numbers-below" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>As a table</summary>
      {read === undefined ? null : (
        <div className="scroll-x" tabIndex={0} role="region" aria-label={`Table: ${label}`}>
          <table>
            <thead>
              <tr>
                {read.heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {read.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{cell}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
