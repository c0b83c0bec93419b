import { useEffect, useRef } from 'react';
import { getViewportForBounds, useReactFlow, useStore, type ReactFlowState } from '@xyflow/react';
import type { Workflow } from '../../../../src/schema/index.ts';
import { areaInSight, findArea, isSameArea, type Area } from '../../model/workflow/sight.ts';

/** The least zoom; boxes that small are drawn without their names. */
export const zoomMin = 0.03;

const areaOfState = ({ transform, width, height }: ReactFlowState): Area => areaInSight(transform, { width, height });

/** The part of the graph to draw; the same object as long as it is the same part. */
export function useArea(): Area {
  return useStore(areaOfState, isSameArea);
}

/**
 * Brings the whole graph into sight: as a function, and whenever `fitting` is another number, as soon as there are
 * tasks and a size.
 */
export function useFitting(fitting: number, tasks: Workflow['tasks']): () => void {
  const { setViewport } = useReactFlow();
  const [width, height] = [useStore((state) => state.width), useStore((state) => state.height)];
  const isReady = width > 0 && height > 0 && tasks.length > 0;
  const done = useRef(-1);
  const fit = (): void => {
    const area = findArea(tasks);
    if (area === undefined) return;
    const bounds = { x: area.left, y: area.top, width: area.right - area.left, height: area.bottom - area.top };
    void setViewport(getViewportForBounds(bounds, width, height, zoomMin, 1, 0.1));
  };
  useEffect(() => {
    if (!isReady || done.current === fitting) return;
    done.current = fitting;
    fit();
  }, [fitting, isReady]);
  return fit;
}
