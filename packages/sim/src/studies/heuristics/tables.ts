import { grouped, percent, table } from '../costa2005/markdown.ts';
import { getLabel } from '../costa2005/compare.ts';
import { findLosses, lossBelow, listSpeedups, listTimes } from './losses.ts';
import type { HeuristicRun } from './run-chunk.ts';
import { referenceNames, type HeuristicsSettings } from './scenarios.ts';
import { getHeldOut, nameScenario, type Scenario, type ScenarioGroup } from './scenario-times.ts';
import { geometricMean, ratioOfMeans, type Interval, type Resampling } from './statistics.ts';

/** What tables are made of. */
export interface TableSetup {
  readonly settings: HeuristicsSettings;
  /** Of the part that the table is about. */
  readonly groups: readonly ScenarioGroup[];
  /** Of all its intervals. */
  readonly resampling: Resampling;
}

/** `2.71 (2.40 to 3.02)`. */
export function showInterval({ value, low, high }: Interval): string {
  return Number.isFinite(value) ? `${value.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})` : '-';
}

/** Speedup over the better of the two, for every other heuristic: at all instants, and at those that were held out. */
export function speedupTable(
  { settings, groups, resampling }: TableSetup,
  { isSplit }: { readonly isSplit: boolean } = { isSplit: true },
): string {
  const others = settings.heuristics.filter((name) => !referenceNames.includes(name));
  const titles = others.flatMap((name) => [name, ...(isSplit ? [`${name}, held out`] : [])]);
  return table(
    ['trace', 'queue', 'scenarios', ...referenceNames, ...titles],
    groups.map((group) => [
      ...placeOf(group),
      String(group.scenarios.length),
      ...referenceNames.map((name) => overBetter(group, name, resampling).value.toFixed(2)),
      ...others.flatMap((name) =>
        [group, ...(isSplit ? [getHeldOut(group)] : [])].map((instants) =>
          showInterval(overBetter(instants, name, resampling)),
        ),
      ),
    ]),
  );
}

/** The geometric mean over a group's scenarios of the better of static and adaptive over a heuristic. */
export function overBetter(
  { scenarios }: Pick<ScenarioGroup, 'scenarios'>,
  heuristic: string,
  resampling: Resampling,
): Interval {
  return geometricMean(
    scenarios.map((scenario) => listTimes(scenario, heuristic)),
    resampling,
  );
}

/** One heuristic's speedup by shape of the job. */
export function shapeTable({ groups, resampling }: TableSetup, heuristic: string): string {
  const labels = [...new Set(groups.flatMap(({ scenarios }) => scenarios.map(({ type }) => getLabel(type))))];
  return table(
    ['trace', 'queue', ...labels],
    groups.map((group) => [
      ...placeOf(group),
      ...labels.map((label) =>
        overBetter(
          { scenarios: group.scenarios.filter(({ type }) => getLabel(type) === label) },
          heuristic,
          resampling,
        ).value.toFixed(2),
      ),
    ]),
  );
}

/** In how many scenarios a heuristic is slower, and by how much at worst. */
export function lossCountTable({ groups, resampling }: TableSetup, heuristic: string): string {
  return table(
    [
      'trace',
      'queue',
      'scenarios',
      'slower at all',
      `below ${lossBelow}`,
      `below ${lossBelow} beyond the interval`,
      'worst',
    ],
    groups.map((group) => {
      const speedups = listSpeedups(group, heuristic, resampling);
      const count = (isCounted: (speedup: Interval) => boolean): number =>
        speedups.filter(({ speedup }) => isCounted(speedup)).length;
      const [worst] = speedups;
      const sure = count(({ high }) => high < lossBelow);
      return [
        ...placeOf(group),
        String(speedups.length),
        String(count(({ value }) => value < 1)),
        String(count(({ value }) => value < lossBelow)),
        `${sure} (${percent(sure / speedups.length)})`,
        worst === undefined ? '-' : `${showInterval(worst.speedup)}, ${nameScenario(worst.scenario)}`,
      ];
    }),
  );
}

/** Each scenario that is lost, with its cause; undefined where none is. */
export function lossTable({ groups, resampling }: TableSetup, heuristic: string): string | undefined {
  const rows = groups.flatMap((group) =>
    findLosses(group, heuristic, resampling).map(({ scenario, speedup, better, means, cause }) => [
      ...placeOf(group),
      nameScenario(scenario),
      showInterval(speedup),
      `${better}: ${hours(means.better.turnaround)} against ${hours(means.other.turnaround)}`,
      `${hours(means.better.firstWait)} against ${hours(means.other.firstWait)}`,
      `${percent(means.better.waste)} against ${percent(means.other.waste)}`,
      cause,
    ]),
  );
  return rows.length === 0
    ? undefined
    : table(
        [
          'trace',
          'queue',
          'scenario',
          'speedup',
          'turnaround',
          'before the first start',
          'waste',
          'cause, from its records',
        ],
        rows,
      );
}

/** Processor time that was held and did no good, of each heuristic. */
export function wasteTable({ settings: { heuristics }, groups, resampling }: TableSetup): string {
  return table(
    ['trace', 'queue', 'heuristic', 'waste, of the task time', 'mean over scenarios, relative to static'],
    groups.flatMap((group) =>
      heuristics.map((name) => {
        const relative = group.scenarios.map((scenario) => besides(scenario, name, 'static', wasteShare));
        return [
          ...placeOf(group),
          name,
          percent(getTotal(group, name, ({ waste }) => waste) / getTotal(group, name, ({ taskTime }) => taskTime)),
          name === 'static' ? '1' : showInterval(ratioOfMeans(relative, resampling)),
        ];
      }),
    ),
  );
}

function wasteShare({ waste, taskTime }: HeuristicRun): number {
  return waste / taskTime;
}

/** What each heuristic asks of the manager. */
export function requestsTable({ settings: { heuristics }, groups }: TableSetup): string {
  return table(
    [
      'trace',
      'queue',
      'heuristic',
      'submissions a job',
      'withdrawals',
      'releases',
      'submissions in an hour, at most',
      'taken out in an hour, at most',
    ],
    groups.flatMap((group) =>
      heuristics.map((name) => {
        const runs = listRuns(group, name);
        const mean = (measure: (run: HeuristicRun) => number): string =>
          (runs.reduce((sum, run) => sum + measure(run), 0) / runs.length).toFixed(1);
        const most = (measure: (run: HeuristicRun) => number): string =>
          String(runs.reduce((high, run) => Math.max(high, measure(run)), 0));
        return [
          ...placeOf(group),
          name,
          mean(({ submissions }) => submissions),
          mean(({ withdrawals }) => withdrawals),
          mean(({ releases }) => releases),
          most(({ submissionsPerHour }) => submissionsPerHour),
          most(({ takenOutPerHour }) => takenOutPerHour),
        ];
      }),
    ),
  );
}

/** What a grid job does to the waits of local users while it is there. */
export function localTable({ settings: { heuristics }, groups }: TableSetup): string {
  const titles = [
    'trace',
    'queue',
    'heuristic',
    'mean wait without the job',
    'with it',
    'jobs that harm',
    'jobs that help',
  ];
  return table(
    titles,
    groups.flatMap((group) =>
      heuristics.map((name) => {
        const runs = listRuns(group, name);
        const per = (measure: (run: HeuristicRun) => number): number =>
          getTotal(group, name, measure) / getTotal(group, name, ({ local }) => local.requestCount);
        const part = (isCounted: (run: HeuristicRun) => boolean): string =>
          percent(runs.filter(isCounted).length / runs.length);
        return [
          ...placeOf(group),
          name,
          hours(per(({ local }) => local.alone)),
          signed(per(({ local }) => local.withJob - local.alone) / minute),
          part(({ local }) => local.withJob > local.alone),
          part(({ local }) => local.withJob < local.alone),
        ];
      }),
    ),
  );
}

/** What becomes of a heuristic when something in it is otherwise. */
export function variantTable(
  { groups, resampling }: TableSetup,
  variants: readonly { readonly way: string; readonly title: string }[],
  heuristic: string,
): string {
  return table(
    ['what is otherwise', ...groups.flatMap(({ trace }) => [`${trace.title}: turnaround`, 'waste'])],
    variants.map(({ way, title }) => [
      title,
      ...groups.flatMap(({ scenarios }) => [
        showInterval(
          geometricMean(
            scenarios.map((scenario) => besides(scenario, way, heuristic, ({ turnaround }) => turnaround)),
            resampling,
          ),
        ),
        ratioOfMeans(
          scenarios.map((scenario) => besides(scenario, way, heuristic, wasteShare)),
          resampling,
        ).value.toFixed(2),
      ]),
    ]),
  );
}

function besides(
  scenario: Scenario,
  way: string,
  heuristic: string,
  measure: (run: HeuristicRun) => number,
): { draw: string; references: readonly (readonly number[])[]; other: readonly number[] } {
  const getValues = (name: string): number[] => (scenario.runs.get(name) ?? []).map(measure);
  return { draw: scenario.draw, references: [getValues(way)], other: getValues(heuristic) };
}

/** What the traces are, as replayed. */
export function traceTable(
  rows: readonly {
    readonly title: string;
    readonly processors: number;
    readonly walltime: number;
    readonly requestCount: number;
    readonly offeredLoad: number;
  }[],
): string {
  return table(
    ['trace', 'processors', 'requests', 'offered load', 'longest walltime that the job may ask for'],
    rows.map(({ title, processors, walltime, requestCount, offeredLoad }) => [
      title,
      grouped(processors),
      grouped(requestCount),
      percent(offeredLoad),
      hours(walltime),
    ]),
  );
}

const minute = 60_000;

function hours(time: number): string {
  const value = time / 3_600_000;
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} h`;
}

function signed(minutes: number): string {
  return `${minutes >= 0 ? '+' : ''}${minutes.toFixed(1)} min`;
}

function placeOf({ trace, policy }: ScenarioGroup): [string, string] {
  return [trace.title, `\`${policy}\``];
}

function listRuns({ scenarios }: ScenarioGroup, name: string): HeuristicRun[] {
  return scenarios.flatMap(({ runs }) => runs.get(name) ?? []);
}

function getTotal(group: ScenarioGroup, name: string, measure: (run: HeuristicRun) => number): number {
  return listRuns(group, name).reduce((sum, run) => sum + measure(run), 0);
}
