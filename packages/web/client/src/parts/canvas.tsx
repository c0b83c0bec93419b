import { useEffect, useRef, type CanvasHTMLAttributes, type ReactNode } from 'react';
import type { Ink } from '../model/palette.ts';

/** What a drawing draws with. */
export interface Brush {
  readonly context: CanvasRenderingContext2D;
  readonly text: string;
  readonly faint: string;
  readonly ground: string;
}

/**
 * A canvas that is as wide as its place and is drawn again, once a frame at most, when `draw` is another function, its
 * size or the colours change.
 */
export function Canvas({
  draw,
  height,
  ...rest
}: { readonly draw: (brush: Brush) => void; readonly height: number } & Omit<
  CanvasHTMLAttributes<HTMLCanvasElement>,
  'height' | 'width'
>): ReactNode {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    if (canvas === null) return undefined;
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      const brush = findBrush(canvas, height);
      if (brush !== undefined) draw(brush);
    };
    const ask = (): void => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    const watcher = new ResizeObserver(ask);
    watcher.observe(canvas);
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', ask);
    window.addEventListener('mutirao-theme', ask);
    return () => {
      cancelAnimationFrame(frame);
      watcher.disconnect();
      dark.removeEventListener('change', ask);
      window.removeEventListener('mutirao-theme', ask);
    };
  }, [draw, height]);
  return <canvas ref={ref} {...rest} style={{ height: `${height}px`, ...rest.style }} />;
}

function findBrush(canvas: HTMLCanvasElement, height: number): Brush | undefined {
  const width = canvas.clientWidth;
  const context = canvas.getContext('2d');
  if (width === 0 || context === null) return undefined;
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return { context, text: colour('--text'), faint: colour('--faint'), ground: colour('--panel') };
}

const tiles = new Map<string, CanvasPattern | string>();

/** What to fill with for an ink: its colour, with its pattern where it has one. */
export function fillOf({ context, ground }: Brush, { colour, pattern }: Ink): CanvasPattern | string {
  if (pattern === 'plain') return colour;
  const key = `${colour}/${pattern}/${ground}`;
  const known = tiles.get(key);
  if (known !== undefined) return known;
  const made = makeTile(context, { colour, pattern, ground });
  tiles.set(key, made);
  return made;
}

function makeTile(
  context: CanvasRenderingContext2D,
  { colour, pattern, ground }: { readonly colour: string; readonly pattern: Ink['pattern']; readonly ground: string },
): CanvasPattern | string {
  const tile = document.createElement('canvas');
  tile.width = 6;
  tile.height = 6;
  const pen = tile.getContext('2d');
  if (pen === null) return colour;
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 6, 6);
  pen.strokeStyle = ground;
  pen.fillStyle = ground;
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1.2;
  if (pattern === 'hollow') pen.fillRect(0, 0, 6, 6);
  if (pattern === 'stripes' || pattern === 'cross')
    strokeLines(pen, [
      [0, 6, 6, 0],
      [-1, 1, 1, -1],
      [5, 7, 7, 5],
    ]);
  if (pattern === 'cross') strokeLines(pen, [[0, 0, 6, 6]]);
  return context.createPattern(tile, 'repeat') ?? colour;
}

function strokeLines(
  pen: CanvasRenderingContext2D,
  lines: readonly (readonly [number, number, number, number])[],
): void {
  for (const [x, y, u, v] of lines) {
    pen.beginPath();
    pen.moveTo(x, y);
    pen.lineTo(u, v);
    pen.stroke();
  }
}
