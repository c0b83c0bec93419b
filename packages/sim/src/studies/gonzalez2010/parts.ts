import { findSiteSelectionStrategy, siteSelectionStrategies } from '@mutirao/core/site-selection';
import { mixes, type Mix } from './workload.ts';

/** What of the study is run. */
export interface SiteSelectionStudySettings {
  readonly isQuick: boolean;
  readonly seed: string;
  /** The number of experiments of each mix, from the first on; at most as many as there are. */
  readonly experiments: number;
}

/** One strategy on one experiment at one load, for all values of a: what is run at a time. */
export interface SiteSelectionPart {
  /** Names its results. */
  readonly id: string;
  readonly mix: Mix;
  readonly experiment: number;
  readonly load: number;
  /** Its name. */
  readonly strategy: string;
  /** Whether this is a part of a quick study, which has fewer runs. */
  readonly isQuick: boolean;
}

/** Local policies that are compared. */
export type LocalPolicy = 'fcfs' | 'easy' | 'conservative';

/** One run of a part. */
export interface SiteSelectionCase {
  readonly admissibility: number | 'adaptive';
  readonly local: LocalPolicy;
  readonly counted: 'unfinished' | 'all';
}

/** Values of a. @source gonzalez2010, section 5. */
export const admissibilities: readonly number[] = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/**
 * A value that is not a tenth, at which the clusters of 32 are kept from tasks of up to 4 processors and both admit
 * those of more than 16.
 */
export const betweenTenths = 0.52;

/** Offered loads. Settled for this project: the seed does not say its load. */
export const offeredLoads: readonly number[] = [0.7, 0.85, 1];

/** The load of the mix with more serial work, of the other local policies, and of a quick study. */
export const middleLoad = 0.85;

/**
 * What the mix with more serial work is also run at: the loads, and the strategies, of the seed's claim of over 20 %.
 * Random and Min_Lp may gain where clusters are seldom full, and
 * narrow tasks are many.
 */
export const lightlyLoaded: { readonly loads: readonly number[]; readonly strategies: readonly string[] } = {
  loads: [0.3, 0.5],
  strategies: ['random', 'min-lp'],
};

/**
 * Experiments, from the first on, that have every a in other ways too, and the other mix; the others have these ways
 * with a = 1 alone.
 */
export const variedExperiments = mixes.serial.experimentCount;

/** The parts of a study, experiment by experiment, so that what was run of an unfinished one is whole experiments. */
export function listParts({ isQuick, experiments }: SiteSelectionStudySettings): SiteSelectionPart[] {
  const all = isQuick ? [mixes.logs] : [mixes.logs, mixes.serial];
  return Array.from({ length: isQuick ? 1 : experiments }, (_, experiment) =>
    all.flatMap((mix) =>
      experiment >= mix.experimentCount
        ? []
        : listStages(mix, isQuick).flatMap(({ load, strategies }) =>
            strategies.map((strategy) => ({
              id: `${mix.id}-${experiment}-${String(load).replace('.', '_')}-${strategy}`,
              mix,
              experiment,
              load,
              strategy,
              isQuick,
            })),
          ),
    ),
  ).flat();
}

/** The loads that a mix is run at, and under which strategies. */
function listStages(
  { id }: Mix,
  isQuick: boolean,
): { readonly load: number; readonly strategies: readonly string[] }[] {
  const strategies = siteSelectionStrategies.map(({ name }) => name);
  if (isQuick) return [{ load: middleLoad, strategies }];
  if (id === 'logs') return offeredLoads.map((load) => ({ load, strategies }));
  return [
    { load: middleLoad, strategies },
    ...lightlyLoaded.loads.map((load) => ({ load, strategies: lightlyLoaded.strategies })),
  ];
}

/**
 * The runs of a part: every a, one between the tenths and the adaptive one; at the middle load also with the sums over
 * all tasks, and under the other local policies.
 */
export function listCases({ isQuick, experiment, load, mix }: SiteSelectionPart): SiteSelectionCase[] {
  const fixed = isQuick ? [0, 0.5, 0.6, 0.7, 1] : admissibilities;
  const moved = [...fixed, betweenTenths, 'adaptive' as const];
  if (mix.id === 'serial' || load !== middleLoad) return listWays(moved, [asInTheStudy]);
  return [
    ...listWays(moved, [asInTheStudy]),
    ...listWays(isQuick || experiment >= variedExperiments ? [1] : moved, otherWays),
  ];
}

type Way = Pick<SiteSelectionCase, 'local' | 'counted'>;

const asInTheStudy: Way = { local: 'fcfs', counted: 'unfinished' };
const otherWays: readonly Way[] = [
  { local: 'fcfs', counted: 'all' },
  { local: 'easy', counted: 'unfinished' },
  { local: 'conservative', counted: 'unfinished' },
];

function listWays(values: readonly SiteSelectionCase['admissibility'][], ways: readonly Way[]): SiteSelectionCase[] {
  return ways.flatMap((way) => values.map((admissibility) => ({ admissibility, ...way })));
}

/** The relative cost of a part, to estimate what is left of a study. */
export function costOfPart(part: SiteSelectionPart): number {
  return listCases(part).length * (findSiteSelectionStrategy(part.strategy)?.level === 4 ? 1.5 : 1);
}
