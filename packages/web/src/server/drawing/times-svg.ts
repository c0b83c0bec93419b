import { lightLook } from '../../../client/src/charts/look.ts';
import { buildStragglersOption, stragglersHeight } from '../../../client/src/charts/stragglers-chart.ts';
import { buildTimesOption, timesHeight } from '../../../client/src/charts/times-chart.ts';
import type { TaskTimes } from '../../schema/index.ts';
import { drawChartSvg } from './chart-svg.ts';

const width = 800;
const look = { ...lightLook, width };

/** The distribution of task times as SVG. */
export function drawTimesSvg(times: TaskTimes): string {
  return drawChartSvg(
    { ...buildTimesOption(times, look), backgroundColor: look.ground },
    { width, height: timesHeight, title: 'Task times' },
  );
}

/** The stragglers as SVG, the 15 longest. */
export function drawStragglersSvg(times: TaskTimes): string {
  return drawChartSvg(
    { ...buildStragglersOption(times, look), backgroundColor: look.ground },
    { width, height: stragglersHeight(times), title: 'Stragglers' },
  );
}
