import { placementMetrics, placementStrategies } from '@mutirao/core/placement';
import { table } from '../costa2005/markdown.ts';
import { mean, type Selection, type StudyResults } from './compare.ts';
import { betweenTenths, middleLoad } from './parts.ts';
import { seedAdmissibilityOf, seedImprovements } from './seed-numbers.ts';

const strategyNames = placementStrategies.map(({ name }) => name);
const hours = (time: number): string => (time / 3_600_000).toFixed(1);
const atOf = (admissibility: number): string => `@${String(admissibility).replace(/^0\./, '.')}`;

/** Table III: the best improvement over a = 1 of each metric by each strategy, and the seed's where it is wanted. */
export function improvementTable(results: StudyResults, load: number, isBesideSeed: boolean): string {
  const rows = placementMetrics.map(({ id, name }, metric) => [`${id} ${name}`, ...strategyNames.map((_, strategy) => {
    const best = results.bestImprovementOf({ mix: 'logs', load, strategy }, metric);
    const ours = best === undefined ? '-' : `${best.percent.toFixed(2)}${atOf(best.admissibility)}`;
    const seed = seedImprovements[metric]?.[strategy] ?? NaN;
    const theirs = Number.isNaN(seed) ? '-' : `${seed.toFixed(2)}${atOf(seedAdmissibilityOf(metric, strategy))}`;
    return isBesideSeed ? `${ours} (${theirs})` : ours;
  })]);
  return table(['', ...strategyNames], rows);
}

/** Ranks with and without the scheme. */
export function rankingTable(results: StudyResults, load: number): string {
  const ways: readonly (readonly [title: string, admissibility: (selection: Selection, metric: number) => number])[] = [
    ['a = 1', () => 1], ['a = 0.5', () => 0.5], ['a = 0.6', () => 0.6], ['own best a', (selection, metric) => results.bestAdmissibilityOf(selection, metric)],
  ];
  const ranks = ways.map(([, admissibility]) => results.meanRanksOf('logs', load, admissibility));
  const rows = strategyNames.map((name, strategy) => {
    const selection: Selection = { mix: 'logs', load, strategy };
    return [
      name, ...ranks.map((each) => (each[strategy] as number).toFixed(1)), results.meanOf(selection, {}, 0).toFixed(3), hours(results.meanOf(selection, {}, 8)),
      results.meanOf(selection, { admissibility: 0.5 }, 0).toFixed(3), results.meanOf(selection, { admissibility: 0.6 }, 0).toFixed(3),
    ];
  });
  const order = rows.map((_, index) => index).sort((one, other) => (ranks[0]?.[one] as number) - (ranks[0]?.[other] as number));
  return table(['strategy', ...ways.map(([title]) => `mean rank, ${title}`), 'm1, a = 1', 'mean wait (h), a = 1', 'm1, a = 0.5', 'm1, a = 0.6'], order.map((index) => rows[index] as string[]));
}

/** The adaptive a against each fixed one: how much better on average, and how often better or worse. */
export function adaptiveTable(results: StudyResults, metrics: readonly number[]): string {
  const selections = results.loads.flatMap((load) => strategyNames.map((_, strategy): Selection => ({ mix: 'logs', load, strategy })));
  const rows = [...results.admissibilities, betweenTenths].map((admissibility) => [String(admissibility), ...metrics.flatMap((metric) => {
    const gains = selections.map((selection) => results.improvementOf(selection, { admissibility: 'adaptive' }, { admissibility }, metric));
    return [mean(gains).toFixed(2), `${gains.filter((gain) => gain > 0.005).length} / ${gains.filter((gain) => gain < -0.005).length}`];
  })]);
  const titles = metrics.flatMap((metric) => [`${placementMetrics[metric]?.id}, better by %`, 'better / worse in']);
  return table(['fixed a', ...titles], rows);
}

/** The adaptive a by strategy: what it was, and how it did beside no restriction and beside the best fixed a. */
export function adaptiveByStrategyTable(results: StudyResults, load: number): string {
  const rows = strategyNames.map((name, strategy) => {
    const selection: Selection = { mix: 'logs', load, strategy };
    const metrics = [0, 8].flatMap((metric) => {
      const best = results.bestAdmissibilityOf(selection, metric);
      return [
        results.improvementOf(selection, { admissibility: 'adaptive' }, { admissibility: 1 }, metric).toFixed(2),
        `${results.improvementOf(selection, { admissibility: 'adaptive' }, { admissibility: best }, metric).toFixed(2)} ${atOf(best)}`,
      ];
    });
    return [name, mean(results.casesOf(selection, { admissibility: 'adaptive' }).map(({ meanAdmissibility }) => meanAdmissibility)).toFixed(3), ...metrics];
  });
  return table(['strategy', 'mean a', 'm1: better than a = 1 by %', 'than the best fixed a', 'mean wait: better than a = 1 by %', 'than the best fixed a'], rows);
}

/** Sums over all tasks, and other local policies, beside what the study has. */
export function variantTable(results: StudyResults): string {
  const rows = strategyNames.map((name, strategy) => {
    const selection: Selection = { mix: 'logs', load: middleLoad, strategy };
    const ways = [{}, { counted: 'all' }, { local: 'easy' }, { local: 'conservative' }] as const;
    return [name, ...ways.flatMap((way) => [results.meanOf(selection, way, 0).toFixed(3), hours(results.meanOf(selection, way, 8))])];
  });
  const titles = ['as in the study', 'ended tasks counted', 'EASY', 'conservative'].flatMap((title) => [`${title}: m1`, 'wait (h)']);
  return table(['strategy', ...titles], rows);
}

/** Theorem 1 beside Min_LB: the bound that holds for each run's ratio, the mean of it, and what was measured. */
export function boundTable(results: StudyResults, boundFor: (admissibility: number, ratio: number) => number): string {
  const strategy = strategyNames.indexOf('min-lb');
  const rows = results.admissibilities.filter((a) => a > 0).map((admissibility) => [String(admissibility), ...results.loads.flatMap((load) => {
    const cases = results.casesOf({ mix: 'logs', load, strategy }, { admissibility });
    const bounds = cases.map(({ theoremRatio }) => boundFor(admissibility, theoremRatio));
    const least = Math.min(...bounds);
    return [Math.max(...cases.map(({ metrics }) => metrics[0] as number)).toFixed(3), Number.isFinite(least) ? least.toFixed(1) : 'none'];
  })]);
  return table(['a', ...results.loads.flatMap((load) => [`load ${load}: largest measured`, 'least bound'])], rows);
}
