import type { WorkflowTask } from '../../../../src/schema/index.ts';
import { nodeHeight, nodeWidth } from './node-size.ts';

/** A point of the drawing, in pixels at zoom 1. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A part of the drawing, in pixels at zoom 1. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Where the window upon the drawing is: its shift in pixels of the screen, and its zoom. */
export type Transform = readonly [x: number, y: number, zoom: number];

/**
 * The part of the drawing that is drawn: what is in sight, and as much more as to reach a line of a coarse grid, so
 * that it stays the same while the window moves a little.
 *
 * @param size of the window, in pixels of the screen.
 */
export function areaInSight([x, y, zoom]: Transform, size: { readonly width: number; readonly height: number }): Area {
  const [wide, high] = [size.width / zoom, size.height / zoom];
  const [left, top] = [-x / zoom, -y / zoom];
  const [across, down] = [getStep(wide), getStep(high)];
  return {
    left: Math.floor(left / across) * across,
    top: Math.floor(top / down) * down,
    right: Math.ceil((left + wide) / across) * across,
    bottom: Math.ceil((top + high) / down) * down,
  };
}

/** An eighth to a quarter of a length; the same for lengths that are nearly alike. */
function getStep(length: number): number {
  return 2 ** Math.floor(Math.log2(Math.max(1, length) / 4));
}

/** Whether two areas are the same. */
export function isSameArea(one: Area, other: Area): boolean {
  return one.left === other.left && one.top === other.top && one.right === other.right && one.bottom === other.bottom;
}

/** The tasks whose boxes reach into an area. Cost: O(tasks). */
export function tasksIn(tasks: readonly WorkflowTask[], { left, top, right, bottom }: Area): WorkflowTask[] {
  return tasks.filter(({ x, y }) => x < right && x + nodeWidth > left && y < bottom && y + nodeHeight > top);
}

/** The area that all boxes take; undefined where there are none. */
export function findArea(tasks: readonly Point[]): Area | undefined {
  if (tasks.length === 0) return undefined;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of tasks) {
    left = Math.min(left, x);
    right = Math.max(right, x + nodeWidth);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y + nodeHeight);
  }
  return { left, top, right, bottom };
}
