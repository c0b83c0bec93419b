// Loaded with the first chart, so that a page without one, and the first picture of each, need not wait for it.
import { init, use, type ECharts } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { chartKinds } from '../charts/kinds.ts';

use([...chartKinds, CanvasRenderer]);

/** Makes a chart in an element, which has to have a size. */
export function openChart(element: HTMLElement): ECharts {
  return init(element, null, { renderer: 'canvas' });
}
