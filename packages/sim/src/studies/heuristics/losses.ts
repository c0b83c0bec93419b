import type { HeuristicRun } from './run-chunk.ts';
import { referenceNames } from './scenarios.ts';
import type { Scenario, ScenarioGroup } from './scenario-times.ts';
import { getSpeedup, type Interval, type PairedTimes, type Resampling } from './statistics.ts';

/**
 * A scenario in which a heuristic is slower than the better of static and adaptive by more than 5 %, beyond its
 * interval.
 */
export interface Loss {
  readonly scenario: Scenario;
  readonly speedup: Interval;
  /** Which of the references is the better one. */
  readonly better: string;
  /** Means over the instants, of the better one and of the heuristic. */
  readonly means: { readonly better: Means; readonly other: Means };
  readonly cause: string;
}

/** Means over the instants of a scenario. */
export interface Means {
  readonly turnaround: number;
  readonly firstWait: number;
  /** Of processor time, in that of the tasks. */
  readonly waste: number;
}

/** A speedup below this is a loss, if its whole interval is. */
export const lossBelow = 0.95;

/** Turnarounds of a heuristic and of the references. */
export function listTimes(
  scenario: Scenario,
  heuristic: string,
  measure: (run: HeuristicRun) => number = ({ turnaround }) => turnaround,
): PairedTimes {
  const getValues = (name: string): readonly number[] => (scenario.runs.get(name) ?? []).map(measure);
  return { draw: scenario.draw, references: referenceNames.map(getValues), other: getValues(heuristic) };
}

/** The speedups of a heuristic in each scenario, the least first. */
export function listSpeedups(
  { scenarios }: ScenarioGroup,
  heuristic: string,
  resampling: Resampling,
): { readonly scenario: Scenario; readonly speedup: Interval }[] {
  return scenarios
    .map((scenario) => ({ scenario, speedup: getSpeedup(listTimes(scenario, heuristic), resampling) }))
    .sort((one, other) => one.speedup.value - other.speedup.value);
}

/** Where a heuristic loses, the worst first. */
export function findLosses(group: ScenarioGroup, heuristic: string, resampling: Resampling): Loss[] {
  return listSpeedups(group, heuristic, resampling)
    .filter(({ speedup }) => speedup.high < lossBelow)
    .map(({ scenario, speedup }) => {
      const better = getBetter(scenario);
      const runs = { better: scenario.runs.get(better) ?? [], other: scenario.runs.get(heuristic) ?? [] };
      const means = { better: getMeans(runs.better), other: getMeans(runs.other) };
      return { scenario, speedup, better, means, cause: reportCause(runs, means) };
    });
}

function getBetter({ runs }: Scenario): string {
  const [first, second] = referenceNames;
  const total = (name: string): number => (runs.get(name) ?? []).reduce((sum, { turnaround }) => sum + turnaround, 0);
  return total(second) < total(first) ? second : first;
}

function getMeans(runs: readonly HeuristicRun[]): Means {
  const mean = (measure: (run: HeuristicRun) => number): number =>
    runs.reduce((sum, run) => sum + measure(run), 0) / runs.length;
  return {
    turnaround: mean(({ turnaround }) => turnaround),
    firstWait: mean(({ firstWait }) => firstWait),
    waste: mean(({ waste, taskTime }) => waste / taskTime),
  };
}

/**
 * Where the time is lost: before the first start, in tasks that are cut off, in a few instants, or in running on too
 * little for too long.
 */
function reportCause(
  { better, other }: { readonly better: readonly HeuristicRun[]; readonly other: readonly HeuristicRun[] },
  means: Loss['means'],
): string {
  const lost = means.other.turnaround - means.better.turnaround;
  const waited = (means.other.firstWait - means.better.firstWait) / lost;
  const worst = other
    .map(({ turnaround }, run) => turnaround - (better[run]?.turnaround ?? turnaround))
    .sort((one, next) => next - one);
  const fewest = Math.max(1, Math.floor(worst.length / 10));
  const ofWorst = worst.slice(0, fewest).reduce((sum, value) => sum + value, 0) / worst.length / lost;
  const reported = [
    ...(waited > 0.5 ? [`${share(waited)} of it before the first start`] : []),
    ...(means.other.waste > means.better.waste + 0.1 ? ['more work is cut off or held idle'] : []),
    ...(ofWorst > 0.5
      ? [`${share(ofWorst)} of it at ${fewest === 1 ? 'one instant' : `${fewest} instants`} of ${worst.length}`]
      : []),
  ];
  if (reported.length > 0) return reported.join('; ');
  return waited < 0
    ? "it starts sooner, on less, and the later requests wait longer than the better one's first"
    : 'later requests start later, or are narrower, at most instants alike';
}

function share(value: number): string {
  return value > 1 ? 'more than all' : `${(100 * value).toFixed(0)} %`;
}
