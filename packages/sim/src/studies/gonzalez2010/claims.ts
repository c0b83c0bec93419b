import { siteSelectionStrategies } from '@mutirao/core/site-selection';
import { table } from '../costa2005/markdown.ts';
import { decidingStrategies } from './adaptive-tables.ts';
import { mean, type Selection, type StudyResults } from './compare.ts';
import { lightlyLoaded, middleLoad } from './parts.ts';

const indexOf = (name: string): number => siteSelectionStrategies.findIndex((strategy) => strategy.name === name);
const signed = (percent: number): string => `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;

/** A claim of the seed, and the evidence for it at a load. */
interface Claim {
  readonly says: string;
  readonly evidence: (results: StudyResults, load: number) => string;
  readonly holds: (results: StudyResults, load: number) => boolean;
}

const seedsBest = ['min-st', 'min-ct', 'min-pl', 'min-lbal', 'min-lb'];
const weightedForms = [
  ['min-wwt', 'min-wt'],
  ['min-wta', 'min-ta'],
  ['min-wwota', 'min-ta'],
] as const;

/** @source gonzalez2010, sections 5 and 6. */
const claims: readonly Claim[] = [
  {
    says: 'Random and Min_Lp gain over 20 % in m1 at a = 0.5',
    evidence: (results, load) =>
      `random ${signed(gainAt(results, load, 'random'))}, min-lp ${signed(gainAt(results, load, 'min-lp'))}; at ` +
      `their best a ${reportGain(results, load, 'random')} and ${reportGain(results, load, 'min-lp')}`,
    holds: (results, load) => gainAt(results, load, 'random') > 20 && gainAt(results, load, 'min-lp') > 20,
  },
  {
    says: 'most strategies gain most at a = 0.5',
    evidence: (results, load) =>
      [...countBest(results, load)]
        .sort(([one], [other]) => one - other)
        .map(([a, count]) => `${count} at ${a}`)
        .join(', '),
    holds: (results, load) => (countBest(results, load).get(0.5) ?? 0) > siteSelectionStrategies.length / 2,
  },
  {
    says: 'Min_SWCT and Min_WTA gain nothing in m1',
    evidence: (results, load) => `${reportGain(results, load, 'min-swct')}, ${reportGain(results, load, 'min-wta')}`,
    holds: (results, load) =>
      ['min-swct', 'min-wta'].every((name) => results.bestImprovementOf(getSelection(load, name), 0)?.isSure !== true),
  },
  {
    says: 'best without the scheme: Min_ST, Min_CT, Min_PL, Min_LBal, Min_LB',
    evidence: (results, load) => orderOf(results, load).slice(0, 5).join(', '),
    holds: (results, load) =>
      orderOf(results, load)
        .slice(0, 5)
        .every((name) => seedsBest.includes(name)),
  },
  {
    says: 'Min_U stays the worst',
    evidence: (results, load) => `last ${orderOf(results, load).slice(-3).join(', ')}`,
    holds: (results, load) => orderOf(results, load).at(-1) === 'min-u',
  },
  {
    says: 'weighted strategies do worse than their unweighted forms',
    evidence: (results, load) =>
      weightedForms
        .map(
          ([weighted, plain]) => `${weighted} ${getRatio(results, load, weighted, plain).toFixed(3)} x m1 of ${plain}`,
        )
        .join(', '),
    holds: (results, load) => weightedForms.every(([weighted, plain]) => getRatio(results, load, weighted, plain) > 1),
  },
  {
    says: 'too small an a lengthens schedules',
    evidence: (results, load) => `makespan at ${getSmallest(results)} ${signed(-lossAtSmallest(results, load))}`,
    holds: (results, load) => lossAtSmallest(results, load) < 0,
  },
];

/** The seed's claims, the results here, and whether each claim held. */
export function claimsTable(results: StudyResults): string {
  const rows = claims.map(({ says, evidence, holds }) => [
    says,
    results.loads.map((load) => `${load}: ${evidence(results, load)}`).join('; '),
    reportLoads(
      results.loads,
      results.loads.filter((load) => holds(results, load)),
    ),
  ]);
  const [first = [], ...others] = rows;
  return table(
    ['the seed', 'here, by load (change of the mean over experiments)', 'held'],
    [first, serialGainRow(results), ...others, mixRow(results)],
  );
}

/**
 * The claim of over 20 % again, with more serial work: where clusters are seldom full it could hold, if it holds
 * anywhere.
 */
export function serialGainRow(results: StudyResults): string[] {
  const says = '... with more serial work, also at lighter loads';
  if (results.countOf('serial') === 0) return [says, 'not run', '-'];
  const loads = [...lightlyLoaded.loads, middleLoad];
  const selections = (load: number): readonly (readonly [string, Selection])[] =>
    lightlyLoaded.strategies.map((name) => [name, { mix: 'serial', load, strategy: indexOf(name) }]);
  const evidence = loads.map(
    (load) =>
      `${load}: ${selections(load)
        .map(([name, selection]) => `${name} ${reportChange(results, selection)}`)
        .join(', ')}`,
  );
  const held = loads.filter((load) =>
    selections(load).every(
      ([, selection]) => results.improvementOf(selection, { admissibility: 0.5 }, { admissibility: 1 }, 0) > 20,
    ),
  );
  return [says, evidence.join('; '), reportLoads(loads, held)];
}

/** The change of m1 at a = 0.5 with its interval, and the best at any a. */
function reportChange(results: StudyResults, selection: Selection): string {
  const { mean: percent, halfInterval } = results.getGain([selection], { admissibility: 0.5 }, { admissibility: 1 }, 0);
  const best = results.bestImprovementOf(selection, 0);
  return (
    `${signed(percent)}${Number.isFinite(halfInterval) ? ` (+- ${halfInterval.toFixed(1)})` : ''}, at its best a ` +
    `${best === undefined ? 'nothing' : `${best.isSure ? '' : '~'}${signed(best.percent)} at ${best.admissibility}`}`
  );
}

function reportLoads(all: readonly number[], held: readonly number[]): string {
  if (held.length === 0) return 'no';
  return held.length === all.length ? 'yes' : `at load ${held.join(' and ')}`;
}

function getSelection(load: number, name: string): Selection {
  return { mix: 'logs', load, strategy: indexOf(name) };
}

function gainAt(results: StudyResults, load: number, name: string): number {
  return results.improvementOf(getSelection(load, name), { admissibility: 0.5 }, { admissibility: 1 }, 0);
}

function reportGain(results: StudyResults, load: number, name: string): string {
  const found = results.bestImprovementOf(getSelection(load, name), 0);
  return found === undefined
    ? 'nothing'
    : `${found.isSure ? '' : '~'}${signed(found.percent)} at ${found.admissibility}`;
}

const getSmallest = (results: StudyResults): number => results.admissibilities.find((a) => a > 0) ?? 0;

function lossAtSmallest(results: StudyResults, load: number): number {
  return mean(
    siteSelectionStrategies.map((_, strategy) =>
      results.improvementOf({ mix: 'logs', load, strategy }, { admissibility: getSmallest(results) }, {}, 1),
    ),
  );
}

/** How many strategies have the best m1 at which a. */
function countBest(results: StudyResults, load: number, mix: Selection['mix'] = 'logs'): Map<number, number> {
  const counts = new Map<number, number>();
  siteSelectionStrategies.forEach((_, strategy) => {
    const best = results.bestAdmissibilityOf({ mix, load, strategy }, 0);
    counts.set(best, (counts.get(best) ?? 0) + 1);
  });
  return counts;
}

/** Strategies by their mean rank over the metrics at a = 1. */
function orderOf(results: StudyResults, load: number): string[] {
  const ranks = results.meanRanksOf('logs', load, () => 1);
  return siteSelectionStrategies
    .map(({ name }, index) => ({ name, rank: ranks[index] as number }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ name }) => name);
}

function getRatio(results: StudyResults, load: number, one: string, other: string): number {
  const [weighted, plain] = [one, other].map((name) => results.getMean(getSelection(load, name), {}, 0)) as [
    number,
    number,
  ];
  return weighted / plain;
}

function mixRow(results: StudyResults): string[] {
  const says = 'mostly sequential loads want a larger a, mostly parallel ones a smaller';
  if (results.countOf('serial') === 0) return [says, 'not run', '-'];
  const getBest = (mix: Selection['mix']): number =>
    mean(
      siteSelectionStrategies.map((_, strategy) => results.bestAdmissibilityOf({ mix, load: middleLoad, strategy }, 0)),
    );
  const [serial, logs] = [getBest('serial'), getBest('logs')];
  const getGain = (mix: Selection['mix']): string =>
    signed(results.getGain(decidingStrategies(middleLoad, mix), { admissibility: 0.6 }, { admissibility: 1 }, 0).mean);
  const evidence =
    `best a for m1 at load ${middleLoad}, mean over strategies: ${serial.toFixed(2)} with more serial work, ` +
    `${logs.toFixed(2)} with the five logs; gain at 0.6 ${getGain('serial')} and ${getGain('logs')}`;
  // The step of the study is a tenth: a smaller difference does not count.
  return [says, evidence, serial - logs >= 0.1 ? 'yes' : 'no'];
}
