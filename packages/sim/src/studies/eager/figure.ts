import { drawPanels, type PanelLine } from '../../svg/draw-panels.ts';
import type { Comparison } from './compare.ts';
import { speedMaxima, tasksPerMachine, upTimeMeans } from './scenarios.ts';

/** Which lines are drawn, by the policies' names. */
const drawn = ['wqr', 'wqr, 4 replicas', 'wqr, 20%', 'min-min'];

/** The mean makespans relative to workqueue's, a panel for each kind of machines. */
export function drawFigure(comparisons: readonly Comparison[]): string {
  const panels = speedMaxima.flatMap((speedMax) =>
    upTimeMeans.map((mean) => ({
      title:
        `${speedMax === 1 ? 'equal speeds' : `speeds from 1 to ${speedMax}`}, up for ${mean / 60_000} min on ` +
        'average',
      lines: drawn.map((name, place): PanelLine => {
        const found = tasksPerMachine.map((ratio) =>
          comparisons.find(
            ({ scenario: { setup, hasData }, policy }) =>
              !hasData &&
              policy.name === name &&
              setup.speedMax === speedMax &&
              setup.upTime.mean === mean &&
              setup.taskCount === ratio * setup.machineCount,
          ),
        );
        return {
          label: name,
          look: { colour: place, mark: place },
          values: found.map((one) => one?.makespan.value ?? NaN),
          halfIntervals: found.map((one) => one?.makespan.halfInterval ?? 0),
        };
      }),
    })),
  );
  return drawPanels({
    title: 'Mean makespan over that of a workqueue',
    across: 'tasks for each machine',
    up: 'below 1 it is shorter',
    ticks: tasksPerMachine.map(String),
    panels,
    panelsAcross: 2,
    legendColumns: drawn.length,
  });
}
