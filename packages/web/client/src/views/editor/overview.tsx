import { memo, useCallback, useMemo, type PointerEvent, type ReactNode } from 'react';
import { Panel, useReactFlow, useStore } from '@xyflow/react';
import type { WorkflowTask } from '../../../../src/schema/index.ts';
import { getInk, taskInks } from '../../model/palette.ts';
import { criticalParts } from '../../model/workflow/flow-parts.ts';
import { nodeHeight, nodeWidth } from '../../model/workflow/node-size.ts';
import { findArea, type Point } from '../../model/workflow/sight.ts';
import { Canvas, type Brush } from '../../parts/canvas.tsx';

const width = 170;
const height = 120;
const margin = 6;

/** How the drawing is made small. */
interface Scale extends Point {
  readonly scale: number;
}

interface OverviewProps {
  readonly tasks: readonly WorkflowTask[];
  readonly statuses: ReadonlyMap<string, string>;
  readonly criticalPath: readonly string[];
}

/**
 * The whole graph in small, with the visible part framed; a press moves there. On a canvas, since thousands of tasks
 * must fit; it is redrawn only for another graph.
 */
export const Overview = memo(function Overview({ tasks, statuses, criticalPath }: OverviewProps): ReactNode {
  const { setCenter, getZoom } = useReactFlow();
  const scale = useMemo(() => getScale(tasks), [tasks]);
  const draw = useCallback(
    (brush: Brush) => drawTasks(brush, { tasks, statuses, criticalPath }, scale),
    [tasks, statuses, criticalPath, scale],
  );
  const move = (event: PointerEvent): void => {
    if (event.buttons !== 0)
      void setCenter(
        (event.nativeEvent.offsetX - scale.x) / scale.scale,
        (event.nativeEvent.offsetY - scale.y) / scale.scale,
        { zoom: getZoom() },
      );
  };
  return (
    <Panel position="bottom-right" className="overview">
      <Canvas
        draw={draw}
        height={height}
        role="img"
        aria-label="The whole graph in small"
        onPointerDown={move}
        onPointerMove={move}
      />
      <InSight scale={scale} />
    </Panel>
  );
});

/** The frame of what is in sight; by itself, since it moves at each step of a gesture. */
function InSight({ scale: { x, y, scale } }: { readonly scale: Scale }): ReactNode {
  const [left, top, zoom] = useStore((state) => state.transform);
  const [wide, high] = [useStore((state) => state.width), useStore((state) => state.height)];
  return (
    <i
      className="in-sight"
      style={{
        transform: `translate(${x - (left / zoom) * scale}px, ${y - (top / zoom) * scale}px)`,
        width: (wide / zoom) * scale,
        height: (high / zoom) * scale,
      }}
    />
  );
}

function getScale(tasks: readonly WorkflowTask[]): Scale {
  const { left, right, top, bottom } = findArea(tasks) ?? { left: 0, right: width, top: 0, bottom: height };
  const scale = Math.min((width - 2 * margin) / (right - left), (height - 2 * margin) / (bottom - top));
  return { scale, x: (width - (right + left) * scale) / 2, y: (height - (bottom + top) * scale) / 2 };
}

function drawTasks(
  { context, faint }: Brush,
  { tasks, statuses, criticalPath }: OverviewProps,
  { x, y, scale }: Scale,
): void {
  const critical = criticalParts(criticalPath).tasks;
  const colours = new Map<string, Point[]>();
  for (const task of tasks) {
    const status = statuses.get(task.id) ?? '';
    const colour =
      status !== ''
        ? getInk(taskInks, status).colour
        : critical.has(task.id)
          ? getInk(taskInks, 'failed').colour
          : faint;
    const alike = colours.get(colour);
    if (alike === undefined) colours.set(colour, [task]);
    else alike.push(task);
  }
  for (const [colour, alike] of colours) {
    context.fillStyle = colour;
    for (const task of alike)
      context.fillRect(
        x + task.x * scale,
        y + task.y * scale,
        Math.max(1.5, nodeWidth * scale),
        Math.max(1, nodeHeight * scale),
      );
  }
}
