import type { WorkflowPlan } from '../../../src/schema/index.ts';
import { okabeIto, type Ink } from '../model/palette.ts';
import { sayDuration } from '../model/words.ts';
import { durationAxis } from './axes.ts';
import { boxSeries } from './boxes.ts';
import { axisLook, baseOption, belowTarget, gridWithin, type ChartLook, type ChartOption } from './look.ts';
import type { ChartTable } from './table.ts';

/** Most processors that are drawn. */
export const planRowsMax = 64;
const rowHeight = 20;

const planInks = {
  one: { colour: okabeIto.sky, pattern: 'plain', mark: '', title: 'on one processor' },
  several: { colour: okabeIto.purple, pattern: 'plain', mark: '', title: 'on several at once' },
} as const satisfies Record<string, Ink>;

/** Height of the chart in pixels. */
export function planHeight({ processors }: WorkflowPlan): number {
  return Math.min(planRowsMax, processors.length) * rowHeight + 32;
}

/** What is planned on which processor, and when. */
export function buildPlanOption(plan: WorkflowPlan, look: ChartLook): ChartOption {
  const { processors, placements, makespan_s: makespan } = plan;
  const axis = axisLook(look);
  const rows = processors.slice(0, planRowsMax);
  const lanes = placements.flatMap((placement) =>
    placement.processors.filter((row) => row < rows.length).map((row) => ({ placement, row })),
  );
  return {
    ...baseOption(look),
    grid: gridWithin({ top: 2 }),
    xAxis: durationAxis(look, makespan * 1000),
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows,
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { ...axis.axisLabel, interval: 0, width: look.width < 480 ? 70 : 110, overflow: 'truncate' },
    },
    tooltip: {
      ...baseOption(look).tooltip,
      trigger: 'item',
      confine: false,
      position: belowTarget,
      formatter: (reported: unknown) =>
        reportPlacement(lanes[(reported as { readonly dataIndex: number }).dataIndex]?.placement),
    },
    series: [
      boxSeries(
        lanes.map(({ placement: { task, start_s: start, end_s: end, processors: on }, row }) => ({
          start: start * 1000,
          end: end * 1000,
          bottom: row,
          top: row,
          ink: on.length > 1 ? planInks.several : planInks.one,
          label: task,
          name: task,
        })),
        { id: 'plan', look, laneShare: 0.86 },
      ),
    ],
  };
}

function reportPlacement(placement: WorkflowPlan['placements'][number] | undefined): string {
  if (placement === undefined) return '';
  const {
    task,
    start_s: start,
    end_s: end,
    processors,
    reason: { text: reason },
  } = placement;
  return [
    `${task}: ${sayDuration((end - start) * 1000)}, from ${sayDuration(start * 1000)} to ` +
      `${sayDuration(end * 1000)}${processors.length > 1 ? ` on ${processors.length} processors` : ''}`,
    reason,
  ].join('\n');
}

/** The same as a table. */
export function planTable({ processors, placements }: WorkflowPlan): ChartTable {
  return {
    heads: ['Task', 'Begins after', 'Ends after', 'On'],
    rows: placements.map(({ task, start_s: start, end_s: end, processors: on }) => [
      task,
      sayDuration(start * 1000),
      sayDuration(end * 1000),
      on.map((row) => processors[row] ?? '').join(', '),
    ]),
  };
}
