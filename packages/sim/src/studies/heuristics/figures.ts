import { drawPanels } from '../../svg/draw-panels.ts';
import { overBetter } from './tables.ts';
import { referenceNames, type HeuristicsSettings } from './scenarios.ts';
import type { ScenarioGroup } from './scenario-times.ts';
import type { Resampling } from './statistics.ts';

/** A figure of the study. */
export interface HeuristicsFigure {
  /** Of its file. */
  readonly name: string;
  /** In Markdown, below the figure. */
  readonly caption: string;
  readonly svg: string;
}

/** For each policy: a panel for each trace, a line for each heuristic over maxPR. */
export function drawSpeedups(
  groups: readonly ScenarioGroup[],
  settings: HeuristicsSettings,
  resampling: Resampling,
): HeuristicsFigure[] {
  const policies = [...new Set(groups.map(({ policy }) => policy))];
  return policies.map((policy) => {
    const panels = groups
      .filter((group) => group.policy === policy)
      .map((group) => ({ title: group.trace.title, lines: listLines(group, settings, resampling) }));
    const title = `Speedup over the better of static and adaptive, ${policy}`;
    return {
      name: `speedup-${policy}.svg`,
      caption: `${title}: geometric mean over the job types, with 95 % intervals`,
      svg: drawPanels({
        title,
        across: 'maxPR',
        up: 'better of static and adaptive / heuristic',
        ticks: settings.pending.map(String),
        panels,
        panelsAcross: Math.min(3, panels.length),
        legendColumns: 3,
      }),
    };
  });
}

function listLines(
  { scenarios }: ScenarioGroup,
  settings: HeuristicsSettings,
  resampling: Resampling,
): { label: string; look: { colour: number; mark: number }; values: number[]; halfIntervals?: number[] }[] {
  return settings.heuristics.map((name, index) => {
    const points = settings.pending.map((requestsMax) =>
      overBetter({ scenarios: scenarios.filter((scenario) => scenario.requestsMax === requestsMax) }, name, resampling),
    );
    const look = { colour: index, mark: index % 3 };
    const values = points.map(({ value }) => value);
    // A reference is never above 1, and its interval would hide the lines near it.
    return {
      label: name,
      look,
      values,
      ...(referenceNames.includes(name) ? {} : { halfIntervals: points.map(({ low, high }) => (high - low) / 2) }),
    };
  });
}
