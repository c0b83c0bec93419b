import { getBound, siteSelectionStrategies } from '@mutirao/core/site-selection';
import { summarize } from '../../summarize.ts';
import { drawPanels, type PanelLine } from '../../svg/draw-panels.ts';
import type { Selection, StudyResults } from './compare.ts';

/** Strategies that are drawn: one of each level but level 2, and the one that is best at most. */
const drawn = ['random', 'min-lp', 'min-lb', 'min-st'];

/**
 * The competitive factor over a, a panel for each strategy, since those of most would lie on one another; a line for
 * each load, with 95 % intervals over experiments.
 */
export function drawFactors(results: StudyResults): string {
  const panels = drawn.map((name) => {
    const strategy = siteSelectionStrategies.findIndex((each) => each.name === name);
    return {
      title: name,
      lines: results.loads.map((load, place) =>
        getLine(results, { mix: 'logs', load, strategy }, { label: `offered load ${load}`, place }),
      ),
    };
  });
  return drawPanels({
    title: 'Competitive factor (m1) and admissibility',
    across: 'a',
    up: 'm1',
    ticks: results.admissibilities.map(String),
    panels,
    panelsAcross: 2,
    legendColumns: 3,
  });
}

/** The mean of m1 over experiments at each a, with its interval where there are several. */
function getLine(
  results: StudyResults,
  selection: Selection,
  { label, place }: { readonly label: string; readonly place: number },
): PanelLine {
  const found = results.admissibilities.map((admissibility) =>
    summarize(results.casesOf(selection, { admissibility }).map(({ metrics }) => metrics[0] as number)),
  );
  return {
    label,
    look: { colour: place, mark: place },
    values: found.map(({ mean }) => mean),
    halfIntervals: found.map(({ halfInterval }) => halfInterval),
  };
}

/** Theorem 1's bound next to the measured values of Min_LB. */
export function drawBound(results: StudyResults): string {
  const ticks = results.admissibilities.filter((a) => a > 0);
  const strategy = siteSelectionStrategies.findIndex(({ name }) => name === 'min-lb');
  const measured = results.loads.map(
    (load, place): PanelLine => ({
      label: `measured, load ${load}`,
      look: { colour: 2, mark: place },
      values: ticks.map((admissibility) => results.getMean({ mix: 'logs', load, strategy }, { admissibility }, 0)),
    }),
  );
  const bounds = ticks.map(getBound);
  const lines: PanelLine[] = [
    { label: '1 + 4/a^2', look: { colour: 0, mark: 0 }, values: bounds.map(({ below }) => below) },
    { label: '1 + 4/(a(1 - a))', look: { colour: 1, mark: 1 }, values: bounds.map(({ above }) => above) },
    ...measured,
  ];
  return drawPanels({
    title: 'Theorem 1 and the measured factor of Min_LB',
    across: 'a',
    up: 'factor',
    ticks: ticks.map(String),
    panels: [{ title: 'the five logs, FCFS on each cluster', lines }],
    panelsAcross: 1,
    legendColumns: 3,
  });
}
