import { useCallback, type PointerEvent, type ReactNode } from 'react';
import { Panel, useReactFlow, useStore } from '@xyflow/react';
import { inkOf, taskInks } from '../../model/palette.ts';
import { nodeHeight, nodeWidth } from '../../model/workflow/node-size.ts';
import { Canvas, type Brush } from '../../parts/canvas.tsx';
import type { TaskFlowNode } from './task-node.tsx';

const width = 170;
const height = 120;

interface Frame { readonly x: number; readonly y: number; readonly scale: number }

/** The whole graph in small, with what is in sight framed; a press moves there. On a canvas, since thousands of tasks are to fit. */
export function Overview({ nodes }: { readonly nodes: readonly TaskFlowNode[] }): ReactNode {
  const { setCenter, getZoom } = useReactFlow();
  const [x, y, zoom] = useStore((state) => state.transform);
  const [wide, high] = [useStore((state) => state.width), useStore((state) => state.height)];
  const draw = useCallback((brush: Brush) => {
    const frame = frameOf(nodes);
    drawNodes(brush, nodes, frame);
    brush.context.strokeStyle = brush.accent;
    brush.context.lineWidth = 1.5;
    brush.context.strokeRect(frame.x + (-x / zoom) * frame.scale, frame.y + (-y / zoom) * frame.scale, (wide / zoom) * frame.scale, (high / zoom) * frame.scale);
  }, [nodes, x, y, zoom, wide, high]);
  const move = (event: PointerEvent): void => {
    if (event.buttons === 0) return;
    const frame = frameOf(nodes);
    void setCenter((event.nativeEvent.offsetX - frame.x) / frame.scale, (event.nativeEvent.offsetY - frame.y) / frame.scale, { zoom: getZoom() });
  };
  return <Panel position="bottom-right" className="overview"><Canvas draw={draw} height={height} role="img" aria-label="The whole graph in small" onPointerDown={move} onPointerMove={move} /></Panel>;
}

function frameOf(nodes: readonly TaskFlowNode[]): Frame {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { position: { x, y } } of nodes) {
    left = Math.min(left, x); right = Math.max(right, x + nodeWidth); top = Math.min(top, y); bottom = Math.max(bottom, y + nodeHeight);
  }
  const scale = Math.min((width - 12) / (right - left), (height - 12) / (bottom - top));
  return { scale, x: (width - (right + left) * scale) / 2, y: (height - (bottom + top) * scale) / 2 };
}

function drawNodes({ context, faint }: Brush, nodes: readonly TaskFlowNode[], { x, y, scale }: Frame): void {
  const colours = new Map<string, TaskFlowNode[]>();
  for (const node of nodes) {
    const { status, isCritical } = node.data;
    const colour = status !== '' ? inkOf(taskInks, status).colour : isCritical ? inkOf(taskInks, 'failed').colour : faint;
    const alike = colours.get(colour);
    if (alike === undefined) colours.set(colour, [node]);
    else alike.push(node);
  }
  for (const [colour, alike] of colours) {
    context.fillStyle = colour;
    for (const { position } of alike) context.fillRect(x + position.x * scale, y + position.y * scale, Math.max(1.5, nodeWidth * scale), Math.max(1, nodeHeight * scale));
  }
}
