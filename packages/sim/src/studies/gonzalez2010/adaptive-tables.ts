import { placementMetrics, placementStrategies } from '@mutirao/core/placement';
import type { Summary } from '../../summarize.ts';
import { show, table } from '../costa2005/markdown.ts';
import { mean, type Selection, type StudyResults, type Way } from './compare.ts';
import { betweenTenths, middleLoad, type PlacementCase } from './parts.ts';

/** A mean and half of its 95 % interval; `-` for what was not run. */
export function showGain({ mean: value, halfInterval }: Summary): string {
  return show({ value, halfInterval });
}

/** The strategies of one mix at one load, but Random: it wins by any restriction, and more than all others together, so that a mean over all would speak of it alone. */
export function decidingStrategies(load: number, mix: Selection['mix'] = 'logs'): Selection[] {
  return placementStrategies.flatMap(({ level }, strategy) => (level === 0 ? [] : [{ mix, load, strategy }]));
}

/** The adaptive a against each fixed one: how much better on average, and of how many pairs of strategy and load that is sure. */
export function adaptiveTable(results: StudyResults, metrics: readonly number[]): string {
  const pairs = results.loads.flatMap((load) => placementStrategies.map((_, strategy): Selection => ({ mix: 'logs', load, strategy })));
  const rows = fixedOf(results).map((admissibility) => [String(admissibility), ...metrics.flatMap((metric) => {
    const verdicts = pairs.map((pair) => judge(results.gainOf([pair], { admissibility: 'adaptive' }, { admissibility }, metric)));
    const count = (wanted: Verdict): number => verdicts.filter((verdict) => verdict === wanted).length;
    return [showGain(gainOver(results, admissibility, metric)), `${count('better')} / ${count('undecided')} / ${count('worse')}`];
  })]);
  return table(['fixed a', ...metrics.flatMap((metric) => [`${placementMetrics[metric]?.id}, better by %`, 'better / undecided / worse'])], rows);
}

/** What the intervals of `adaptiveTable` come to, a sentence for each metric. */
export function adaptiveVerdicts(results: StudyResults, metrics: readonly number[]): string {
  return metrics.map((metric) => {
    const found = (wanted: Verdict): string => (
      fixedOf(results).filter((admissibility) => judge(gainOver(results, admissibility, metric)) === wanted).join(', ') || 'none');
    return `- ${placementMetrics[metric]?.id} (${placementMetrics[metric]?.name}): better than the fixed a of ${found('better')}; worse than ${found('worse')}; undecided beside ${found('undecided')}.`;
  }).join('\n');
}

/** The adaptive a by strategy: what it was, and how it did beside no restriction and beside the best fixed a. */
export function adaptiveByStrategyTable(results: StudyResults, load: number): string {
  const rows = placementStrategies.map(({ name }, strategy) => {
    const selection: Selection = { mix: 'logs', load, strategy };
    const metrics = [0, 8].flatMap((metric) => {
      const best = results.bestAdmissibilityOf(selection, metric);
      const gainBeside = (admissibility: number): string => showGain(results.gainOf([selection], { admissibility: 'adaptive' }, { admissibility }, metric));
      return [gainBeside(1), `${gainBeside(best)} @${best}`];
    });
    return [name, mean(results.casesOf(selection, { admissibility: 'adaptive' }).map(({ meanAdmissibility }) => meanAdmissibility)).toFixed(3), ...metrics];
  });
  return table(['strategy', 'mean a', 'm1: better than a = 1 by %', 'than the best fixed a', 'mean wait: better than a = 1 by %', 'than the best fixed a'], rows);
}

/** Each a beside a = 1 in one metric: at every load, under every local policy, with the other sums and with the other mix. */
export function everyAdmissibilityTable(results: StudyResults, metric: number): string {
  const columns: readonly (readonly [title: string, selections: readonly Selection[], way: Way])[] = [
    ...results.loads.map((load) => [`FCFS, load ${load}`, decidingStrategies(load), {}] as const),
    ['EASY', decidingStrategies(middleLoad), { local: 'easy' }], ['conservative', decidingStrategies(middleLoad), { local: 'conservative' }],
    ['ended tasks counted', decidingStrategies(middleLoad), { counted: 'all' }], ['more serial work', decidingStrategies(middleLoad, 'serial'), {}],
  ];
  const rows = [...fixedOf(results).filter((a) => a !== 1), 'adaptive' as const].map((admissibility) => (
    [String(admissibility), ...columns.map(([, selections, way]) => showGain(results.gainOf(selections, { ...way, admissibility }, { ...way, admissibility: 1 }, metric)))]));
  return table(['a', ...columns.map(([title]) => title)], rows);
}

type Verdict = 'better' | 'undecided' | 'worse';

/** By the 95 % interval. */
function judge({ mean: gain, halfInterval }: Summary): Verdict {
  if (Math.abs(gain) <= halfInterval || Number.isNaN(gain)) return 'undecided';
  return gain > 0 ? 'better' : 'worse';
}

/** Fixed values of a, ascending. */
function fixedOf(results: StudyResults): number[] {
  return [...results.admissibilities, betweenTenths].sort((one, other) => one - other);
}

function gainOver(results: StudyResults, admissibility: PlacementCase['admissibility'], metric: number): Summary {
  return results.gainOf(results.loads.flatMap((load) => decidingStrategies(load)), { admissibility: 'adaptive' }, { admissibility }, metric);
}
