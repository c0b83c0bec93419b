import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import type { Gantt } from '../../../../src/schema/index.ts';
import { findBar, laneBars, sumKinds, type GanttBar, type GanttWindow } from '../../model/gantt.ts';
import { barInks, inkOf } from '../../model/palette.ts';
import { keepWithin, valueAt, zoomRange } from '../../model/scale.ts';
import { sayCount, sayDuration, sayProcessorTime } from '../../model/words.ts';
import { usePage } from '../../page-context.tsx';
import { Canvas, type Brush } from '../../parts/canvas.tsx';
import { Legend } from '../../parts/legend.tsx';
import { TipBox } from '../../parts/tip.tsx';
import { useTip } from '../../parts/tip-state.ts';
import { useWidth } from '../../parts/use-width.ts';
import { axisHeight, drawGantt, rowHeightOf, timeScale, type GanttScene } from './gantt-drawing.ts';

const heightMax = 440;

/** Machines over time: dragged and zoomed with the pointer or the keys; a bar opens its task. */
export function GanttChart({ gantt }: { readonly gantt: Gantt }): ReactNode {
  const { explain } = usePage();
  const [ref, width] = useWidth(900);
  const [tip, setTip] = useTip();
  const scene = useGanttScene(gantt);
  const { window, move, zoom } = scene;
  const height = Math.min(heightMax, gantt.rows.length * scene.rowHeight + axisHeight);
  const rowsInSight = Math.floor((height - axisHeight) / scene.rowHeight);
  const draw = useCallback((brush: Brush) => drawGantt(brush, scene), [scene.gantt, scene.window]);
  const barAt = (event: PointerEvent): GanttBar | undefined => {
    const { offsetX: x, offsetY: y } = event.nativeEvent;
    const row = window.firstRow + Math.floor(y / scene.rowHeight);
    return findBar(gantt, scene.lanes, { row, instant: valueAt(timeScale(scene, width), x), share: (y % scene.rowHeight) / scene.rowHeight });
  };
  const drag = useDrag(barAt, { width, scene, open: (bar) => explain({ kind: 'task', jobId: gantt.job_id, taskIndex: bar.taskIndex }) });
  const hover = (event: PointerEvent<HTMLCanvasElement>): void => {
    drag.onPointerMove(event);
    const bar = barAt(event);
    setTip(bar === undefined ? undefined : { x: event.nativeEvent.offsetX, y: event.nativeEvent.offsetY, text: `task ${sayCount(bar.taskIndex)}, ${bar.kind}, ${sayDuration(bar.end - bar.start)} on ${gantt.rows[bar.row]?.machine_id ?? ''}` });
  };
  const press = (event: KeyboardEvent): void => {
    const step = (window.until - window.from) / 8;
    const acts: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => move(-step, 0), ArrowRight: () => move(step, 0), ArrowUp: () => move(0, -1), ArrowDown: () => move(0, 1), PageUp: () => move(0, -rowsInSight), PageDown: () => move(0, rowsInSight),
      '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1.4), '0': () => zoom(1e9),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  const sums = sumKinds(gantt);
  return (
    <div className="picture" ref={ref}>
      <Canvas draw={draw} height={height} tabIndex={0} role="img" style={{ touchAction: 'pan-y', cursor: tip === undefined ? 'grab' : 'pointer' }}
        aria-label={`Gantt chart of ${gantt.rows.length} machines over ${sayDuration(gantt.until_unix_ms - gantt.from_unix_ms)}: ${gantt.kinds.map((kind, index) => `${kind} ${sayProcessorTime(sums[index] ?? 0)}`).join(', ')}. Arrow keys move, plus and minus zoom.`}
        {...drag} onPointerMove={hover} onPointerLeave={() => setTip(undefined)} onKeyDown={press} />
      <TipBox tip={tip} width={width} />
      <div className="gantt-foot">
        <Legend inks={gantt.kinds.map((kind) => inkOf(barInks, kind))} counts={sums.map((sum) => (sum === 0 ? '' : sayProcessorTime(sum)))} />
        <span className="row">
          {gantt.rows.length > rowsInSight ? <span className="faint">machines {window.firstRow + 1} to {Math.min(gantt.rows.length, window.firstRow + rowsInSight)} of {gantt.rows.length + gantt.rows_left_out}</span> : null}
          {gantt.rows.length > rowsInSight ? <><button type="button" className="small" onClick={() => move(0, -rowsInSight)}>Up</button><button type="button" className="small" onClick={() => move(0, rowsInSight)}>Down</button></> : null}
          <button type="button" className="small" onClick={() => zoom(0.6)} aria-label="Zoom in">+</button><button type="button" className="small" onClick={() => zoom(1.6)} aria-label="Zoom out">−</button><button type="button" className="small" onClick={() => zoom(1e9)}>All</button>
        </span>
      </div>
      {gantt.read_task_count < gantt.task_count ? <p className="hint">Drawn of {sayCount(gantt.read_task_count)} of {sayCount(gantt.task_count)} tasks so far.</p> : null}
    </div>
  );
}

interface GanttControl extends GanttScene {
  /** Moves the window by milliseconds and rows. */
  readonly move: (milliseconds: number, rows: number) => void;
  readonly zoom: (factor: number, around?: number) => void;
}

function useGanttScene(gantt: Gantt): GanttControl {
  const limits = useMemo(() => ({ from: gantt.from_unix_ms, until: Math.max(gantt.until_unix_ms, gantt.from_unix_ms + 1) }), [gantt]);
  const [chosen, setChosen] = useState<GanttWindow>();
  const window = chosen ?? { ...limits, firstRow: 0 };
  const lanes = useMemo(() => (gantt.bars === null ? { lane: [], laneCounts: [] } : laneBars(gantt.bars, gantt.rows.length)), [gantt]);
  const move = useCallback((milliseconds: number, rows: number) => setChosen((old) => {
    const { from, until, firstRow } = old ?? { ...limits, firstRow: 0 };
    return { ...keepWithin({ from: from + milliseconds, until: until + milliseconds }, limits), firstRow: Math.max(0, Math.min(gantt.rows.length - 1, firstRow + rows)) };
  }), [limits, gantt]);
  const zoom = useCallback((factor: number, around?: number) => setChosen((old) => {
    const { firstRow, ...range } = old ?? { ...limits, firstRow: 0 };
    return { ...zoomRange(range, factor, { around: around ?? (range.from + range.until) / 2, least: 1000, limits }), firstRow };
  }), [limits]);
  return { gantt, lanes, window, rowHeight: rowHeightOf(gantt.rows.length), move, zoom };
}

type PointerHandler = (event: PointerEvent<HTMLCanvasElement>) => void;
interface DragHandlers {
  readonly onPointerDown: PointerHandler;
  readonly onPointerMove: PointerHandler;
  readonly onPointerUp: PointerHandler;
  readonly onDoubleClick: () => void;
}

/** Dragging moves the chart; a press without a drag opens what is under it. */
function useDrag(barAt: (event: PointerEvent) => GanttBar | undefined, { width, scene, open }: { readonly width: number; readonly scene: GanttControl; readonly open: (bar: GanttBar) => void }): DragHandlers {
  const held = useRef<{ x: number; y: number; hasMoved: boolean }>(undefined);
  useEffect(() => () => { held.current = undefined; }, []);
  return {
    onPointerDown: (event) => { held.current = { x: event.clientX, y: event.clientY, hasMoved: false }; event.currentTarget.setPointerCapture(event.pointerId); },
    onPointerMove: (event) => {
      const from = held.current;
      if (from === undefined) return;
      const [right, down] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.hasMoved && Math.abs(right) + Math.abs(down) < 4) return;
      from.hasMoved = true;
      const { window } = scene;
      const rows = Math.trunc(-down / scene.rowHeight);
      scene.move((-right / Math.max(1, width)) * (window.until - window.from), rows);
      held.current = { x: event.clientX, y: event.clientY + (rows === 0 ? -down : -(down + rows * scene.rowHeight)), hasMoved: true };
    },
    onPointerUp: (event) => {
      const bar = held.current?.hasMoved === false ? barAt(event) : undefined;
      held.current = undefined;
      if (bar !== undefined) open(bar);
    },
    onDoubleClick: () => scene.zoom(0.4),
  };
}
