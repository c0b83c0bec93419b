import { siteSelectionMetrics, siteSelectionStrategies } from '@mutirao/core/site-selection';
import { table } from '../costa2005/markdown.ts';
import type { Selection, StudyResults, Way } from './compare.ts';
import { middleLoad, type SiteSelectionCase } from './parts.ts';
import { getSeedAdmissibility, seedImprovements } from './seed-numbers.ts';

const strategyNames = siteSelectionStrategies.map(({ name }) => name);
const hours = (time: number): string => (time / 3_600_000).toFixed(1);
const getAt = (admissibility: number): string => `@${String(admissibility).replace(/^0\./, '.')}`;

/** Table III: the best improvement over a = 1 of each metric by each strategy, and the seed's where it is wanted. */
export function improvementTable(
  results: StudyResults,
  load: number,
  { isBesideSeed, way = {} }: { readonly isBesideSeed: boolean; readonly way?: Way },
): string {
  const rows = siteSelectionMetrics.map(({ id, name }, metric) => [
    `${id} ${name}`,
    ...strategyNames.map((_, strategy) => {
      const best = results.bestImprovementOf({ mix: 'logs', load, strategy }, metric, way);
      const ours =
        best === undefined ? '-' : `${best.isSure ? '' : '~'}${best.percent.toFixed(2)}${getAt(best.admissibility)}`;
      const seed = seedImprovements[metric]?.[strategy] ?? NaN;
      const theirs = Number.isNaN(seed) ? '-' : `${seed.toFixed(2)}${getAt(getSeedAdmissibility(metric, strategy))}`;
      return isBesideSeed ? `${ours} (${theirs})` : ours;
    }),
  ]);
  return table(['', ...strategyNames], rows);
}

/** Ranks with and without the scheme. */
export function rankingTable(results: StudyResults, load: number): string {
  const ways: readonly (readonly [
    title: string,
    admissibility: (selection: Selection, metric: number) => SiteSelectionCase['admissibility'],
  ])[] = [
    ['a = 1', () => 1],
    ['a = 0.5', () => 0.5],
    ['a = 0.6', () => 0.6],
    ['adaptive a', () => 'adaptive'],
    ['own best a', (selection, metric) => results.bestAdmissibilityOf(selection, metric)],
  ];
  const ranks = ways.map(([, admissibility]) => results.meanRanksOf('logs', load, admissibility));
  const rows = strategyNames.map((name, strategy) => {
    const selection: Selection = { mix: 'logs', load, strategy };
    return [
      name,
      ...ranks.map((each) => (each[strategy] as number).toFixed(1)),
      results.getMean(selection, {}, 0).toFixed(3),
      hours(results.getMean(selection, {}, 8)),
      results.getMean(selection, { admissibility: 0.5 }, 0).toFixed(3),
      results.getMean(selection, { admissibility: 0.6 }, 0).toFixed(3),
    ];
  });
  const order = rows
    .map((_, index) => index)
    .sort((one, other) => (ranks[0]?.[one] as number) - (ranks[0]?.[other] as number));
  return table(
    [
      'strategy',
      ...ways.map(([title]) => `mean rank, ${title}`),
      'm1, a = 1',
      'mean wait (h), a = 1',
      'm1, a = 0.5',
      'm1, a = 0.6',
    ],
    order.map((index) => rows[index] as string[]),
  );
}

/** Sums over all tasks, and other local policies, compared with the study's. */
export function variantTable(results: StudyResults): string {
  const rows = strategyNames.map((name, strategy) => {
    const selection: Selection = { mix: 'logs', load: middleLoad, strategy };
    const ways = [{}, { counted: 'all' }, { local: 'easy' }, { local: 'conservative' }] as const;
    return [
      name,
      ...ways.flatMap((way) => [
        results.getMean(selection, way, 0).toFixed(3),
        hours(results.getMean(selection, way, 8)),
      ]),
    ];
  });
  const titles = ['as in the study', 'ended tasks counted', 'EASY', 'conservative'].flatMap((title) => [
    `${title}: m1`,
    'wait (h)',
  ]);
  return table(['strategy', ...titles], rows);
}

/** Theorem 1 next to Min_LB: the bound that holds for each run's ratio, the mean of it, and the measured value. */
export function boundTable(results: StudyResults, boundFor: (admissibility: number, ratio: number) => number): string {
  const strategy = strategyNames.indexOf('min-lb');
  const rows = results.admissibilities
    .filter((a) => a > 0)
    .map((admissibility) => [
      String(admissibility),
      ...results.loads.flatMap((load) => {
        const cases = results.casesOf({ mix: 'logs', load, strategy }, { admissibility });
        const bounds = cases.map(({ theoremRatio }) => boundFor(admissibility, theoremRatio));
        const least = Math.min(...bounds);
        return [
          Math.max(...cases.map(({ metrics }) => metrics[0] as number)).toFixed(3),
          Number.isFinite(least) ? least.toFixed(1) : 'none',
        ];
      }),
    ]);
  return table(['a', ...results.loads.flatMap((load) => [`load ${load}: largest measured`, 'least bound'])], rows);
}
