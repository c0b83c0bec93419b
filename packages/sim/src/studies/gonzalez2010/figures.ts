import { boundOf, placementStrategies } from '@mutirao/core/placement';
import { drawPanels, type PanelLine } from '../../svg/draw-panels.ts';
import type { StudyResults } from './compare.ts';

/** Strategies that are drawn: one of each level but level 2, and the one that is best at most. */
const drawn = ['random', 'min-lp', 'min-lb', 'min-st'];

/** The competitive factor over a, a panel for each load. */
export function drawFactors(results: StudyResults): string {
  const panels = results.loads.map((load) => ({
    title: `offered load ${load}`,
    lines: drawn.map((name, place): PanelLine => {
      const strategy = placementStrategies.findIndex((each) => each.name === name);
      const values = results.admissibilities.map((admissibility) => results.meanOf({ mix: 'logs', load, strategy }, { admissibility }, 0));
      return { label: name, look: { colour: place, mark: place }, values };
    }),
  }));
  return drawPanels({
    title: 'Competitive factor (m1) and admissibility', across: 'a', up: 'm1', ticks: results.admissibilities.map(String), panels, panelsAcross: Math.max(1, panels.length), legendColumns: 4,
  });
}

/** Theorem 1's bound beside what Min_LB came to. */
export function drawBound(results: StudyResults): string {
  const ticks = results.admissibilities.filter((a) => a > 0);
  const strategy = placementStrategies.findIndex(({ name }) => name === 'min-lb');
  const measured = results.loads.map((load, place): PanelLine => (
    { label: `measured, load ${load}`, look: { colour: 2, mark: place }, values: ticks.map((admissibility) => results.meanOf({ mix: 'logs', load, strategy }, { admissibility }, 0)) }));
  const bounds = ticks.map(boundOf);
  const lines: PanelLine[] = [
    { label: '1 + 4/a^2', look: { colour: 0, mark: 0 }, values: bounds.map(({ below }) => below) },
    { label: '1 + 4/(a(1 - a))', look: { colour: 1, mark: 1 }, values: bounds.map(({ above }) => above) }, ...measured,
  ];
  return drawPanels({
    title: 'Theorem 1 and the measured factor of Min_LB', across: 'a', up: 'factor', ticks: ticks.map(String), panels: [{ title: 'the five logs, FCFS on each cluster', lines }], panelsAcross: 1, legendColumns: 3,
  });
}
