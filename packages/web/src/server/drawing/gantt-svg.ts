import { buildGanttDrawing } from '../../../client/src/charts/gantt-chart.ts';
import { lightLook } from '../../../client/src/charts/look.ts';
import { layOutGantt, type GanttPicture } from '../../../client/src/model/gantt.ts';
import type { Gantt } from '../../schema/index.ts';
import { drawChartSvg } from './chart-svg.ts';

const width = 1200;
const rowsMax = 400;
/** A picture with more rectangles than this is too large to open. */
const shapesMax = 6000;

/** A Gantt chart as SVG: a row for each machine, as many of the first as have room in 400 rows and 6,000 rectangles. */
export function drawGanttSvg(gantt: Gantt, title: string): { readonly svg: string; readonly rowsLeftOut: number } {
  const rows = gantt.rows.map(({ machine_id: id }) => id);
  const whole = layOutGantt(gantt, rows.slice(0, rowsMax));
  const drawn = rowsWithin(whole);
  const picture = drawn < whole.rows.length ? layOutGantt(gantt, rows.slice(0, drawn)) : whole;
  const height = 34 + Math.max(3, drawn) * (drawn > 100 ? 8 : 18) + 26;
  const option = { ...buildGanttDrawing(picture, { ...lightLook, width }), backgroundColor: lightLook.ground };
  return { svg: drawChartSvg(option, { width, height, title }), rowsLeftOut: rows.length - drawn };
}

/** How many rows have no more rectangles than are drawn, one at least. */
function rowsWithin({ rows, shapes }: GanttPicture): number {
  const counts = new Uint32Array(rows.length);
  for (const { row } of shapes) counts[row] = (counts[row] ?? 0) + 1;
  let sum = 0;
  const first = counts.findIndex((count) => {
    sum += count;
    return sum > shapesMax;
  });
  return first < 0 ? rows.length : Math.max(1, first);
}
