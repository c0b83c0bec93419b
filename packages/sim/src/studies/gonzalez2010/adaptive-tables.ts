import { siteSelectionMetrics, siteSelectionStrategies } from '@mutirao/core/site-selection';
import type { Summary } from '../../summarize.ts';
import { show, table } from '../costa2005/markdown.ts';
import { mean, type Selection, type StudyResults, type Way } from './compare.ts';
import { betweenTenths, middleLoad, type SiteSelectionCase } from './parts.ts';

/** A mean and half of its 95 % interval; `-` for what was not run. */
export function showGain({ mean: value, halfInterval }: Summary): string {
  return show({ value, halfInterval });
}

/**
 * The strategies of one mix at one load, except Random: it wins by any restriction, and more than all others together,
 * so that a mean over all would speak of it alone.
 */
export function decidingStrategies(load: number, mix: Selection['mix'] = 'logs'): Selection[] {
  return siteSelectionStrategies.flatMap(({ level }, strategy) => (level === 0 ? [] : [{ mix, load, strategy }]));
}

/**
 * The adaptive a against each fixed one: how much better on average, and of how many pairs of strategy and load that is
 * sure.
 */
export function adaptiveTable(results: StudyResults, metrics: readonly number[]): string {
  const pairs = results.loads.flatMap((load) =>
    siteSelectionStrategies.map((_, strategy): Selection => ({ mix: 'logs', load, strategy })),
  );
  const rows = getFixed(results).map((admissibility) => [
    String(admissibility),
    ...metrics.flatMap((metric) => {
      const verdicts = pairs.map((pair) =>
        judge(results.getGain([pair], { admissibility: 'adaptive' }, { admissibility }, metric)),
      );
      const count = (wanted: Verdict): number => verdicts.filter((verdict) => verdict === wanted).length;
      return [
        showGain(gainOver(results, admissibility, metric)),
        `${count('better')} / ${count('undecided')} / ${count('worse')}`,
      ];
    }),
  ]);
  return table(
    [
      'fixed a',
      ...metrics.flatMap((metric) => [
        `${siteSelectionMetrics[metric]?.id}, better by %`,
        'better / undecided / worse',
      ]),
    ],
    rows,
  );
}

/**
 * The verdicts of the intervals: in each kind of run and metric, which fixed a the adaptive one is better than, and
 * which it is worse than.
 */
export function adaptiveVerdicts(results: StudyResults, metrics: readonly number[]): string {
  const kinds = [{ title: 'the five logs, FCFS, all loads', selections: everyLoad(results), way: {} }, ...otherKinds()];
  const rows = kinds.flatMap(({ title, selections, way }) =>
    metrics.flatMap((metric) => {
      const verdicts = getFixed(results).map((admissibility) => ({
        admissibility,
        verdict: judge(
          results.getGain(selections, { ...way, admissibility: 'adaptive' }, { ...way, admissibility }, metric),
        ),
      }));
      if (verdicts.every(({ verdict }) => verdict === 'not run')) return [];
      const list = (wanted: Verdict): string =>
        verdicts
          .filter(({ verdict }) => verdict === wanted)
          .map(({ admissibility }) => admissibility)
          .join(', ') || 'none';
      return [
        [
          title,
          `${siteSelectionMetrics[metric]?.id} ${siteSelectionMetrics[metric]?.name}`,
          list('better'),
          list('undecided'),
          list('worse'),
        ],
      ];
    }),
  );
  return table(['runs', 'metric', 'better than the fixed a of', 'undecided beside', 'worse than'], rows);
}

/** The adaptive a by strategy: its value, and its gain over no restriction and over the best fixed a. */
export function adaptiveByStrategyTable(results: StudyResults, load: number): string {
  const rows = siteSelectionStrategies.map(({ name }, strategy) => {
    const selection: Selection = { mix: 'logs', load, strategy };
    const metrics = [0, 8].flatMap((metric) => {
      const best = results.bestAdmissibilityOf(selection, metric);
      const gainBeside = (admissibility: number): string =>
        showGain(results.getGain([selection], { admissibility: 'adaptive' }, { admissibility }, metric));
      return [gainBeside(1), `${gainBeside(best)} @${best}`];
    });
    return [
      name,
      mean(
        results.casesOf(selection, { admissibility: 'adaptive' }).map(({ meanAdmissibility }) => meanAdmissibility),
      ).toFixed(3),
      ...metrics,
    ];
  });
  return table(
    [
      'strategy',
      'mean a',
      'm1: better than a = 1 by %',
      'than the best fixed a',
      'mean wait: better than a = 1 by %',
      'than the best fixed a',
    ],
    rows,
  );
}

/**
 * Each a compared with a = 1 in one metric: at every load, under every local policy, with the other sums and with the
 * other mix.
 */
export function everyAdmissibilityTable(results: StudyResults, metric: number): string {
  const columns: readonly Kind[] = [
    ...results.loads.map((load) => ({ title: `FCFS, load ${load}`, selections: decidingStrategies(load), way: {} })),
    ...otherKinds(),
  ];
  const rows = [...getFixed(results).filter((a) => a !== 1), 'adaptive' as const].map((admissibility) => [
    String(admissibility),
    ...columns.map(({ selections, way }) =>
      showGain(results.getGain(selections, { ...way, admissibility }, { ...way, admissibility: 1 }, metric)),
    ),
  ]);
  return table(['a', ...columns.map(({ title }) => title)], rows);
}

/** Runs that are compared together. */
interface Kind {
  readonly title: string;
  readonly selections: readonly Selection[];
  readonly way: Way;
}

/** Kinds of runs that there are at the middle load alone. */
function otherKinds(): readonly Kind[] {
  const [logs, serial] = [decidingStrategies(middleLoad), decidingStrategies(middleLoad, 'serial')];
  return [
    { title: 'EASY', selections: logs, way: { local: 'easy' } },
    { title: 'conservative', selections: logs, way: { local: 'conservative' } },
    { title: 'ended tasks counted', selections: logs, way: { counted: 'all' } },
    { title: 'more serial work', selections: serial, way: {} },
  ];
}

type Verdict = 'better' | 'undecided' | 'worse' | 'not run';

/** By the 95 % interval. */
function judge({ mean: gain, halfInterval }: Summary): Verdict {
  if (Number.isNaN(gain)) return 'not run';
  if (Math.abs(gain) <= halfInterval) return 'undecided';
  return gain > 0 ? 'better' : 'worse';
}

/** Fixed values of a, ascending. */
function getFixed(results: StudyResults): number[] {
  return [...results.admissibilities, betweenTenths].sort((one, other) => one - other);
}

function everyLoad(results: StudyResults): Selection[] {
  return results.loads.flatMap((load) => decidingStrategies(load));
}

function gainOver(results: StudyResults, admissibility: SiteSelectionCase['admissibility'], metric: number): Summary {
  return results.getGain(everyLoad(results), { admissibility: 'adaptive' }, { admissibility }, metric);
}
