import { placementStrategies } from '@mutirao/core/placement';
import { table } from '../costa2005/markdown.ts';
import { mean, type Selection, type StudyResults } from './compare.ts';
import { middleLoad } from './parts.ts';

const indexOf = (name: string): number => placementStrategies.findIndex((strategy) => strategy.name === name);
const signed = (percent: number): string => `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`;

/** What the seed says, and what was found here, by load. */
export function claimsTable(results: StudyResults): string {
  const byLoad = (say: (load: number) => string): string => results.loads.map((load) => `${load}: ${say(load)}`).join('; ');
  const best = (name: string, load: number): string => {
    const found = results.bestImprovementOf({ mix: 'logs', load, strategy: indexOf(name) }, 0);
    return found === undefined ? 'nothing' : `${signed(found.percent)} at ${found.admissibility}`;
  };
  const at = (name: string, load: number, admissibility: number): string => (
    signed(results.improvementOf({ mix: 'logs', load, strategy: indexOf(name) }, { admissibility }, { admissibility: 1 }, 0)));
  const rows = [
    ['Random and Min_Lp gain over 20 % in m1 at a = 0.5', byLoad((load) => `random ${at('random', load, 0.5)}, min-lp ${at('min-lp', load, 0.5)} at 0.5; best ${best('random', load)} and ${best('min-lp', load)}`)],
    ['most strategies gain most at a = 0.5', byLoad((load) => tellBest(results, load))],
    ['Min_SWCT and Min_WTA gain nothing in m1', byLoad((load) => `${best('min-swct', load)}, ${best('min-wta', load)}`)],
    ['best without the scheme: Min_ST, Min_CT, Min_PL, Min_LBal, Min_LB', byLoad((load) => orderOf(results, load).slice(0, 5).join(', '))],
    ['Min_U stays the worst', byLoad((load) => `last ${orderOf(results, load).slice(-3).join(', ')}`)],
    ['weighted strategies do worse than their unweighted forms', byLoad((load) => [['min-wwt', 'min-wt'], ['min-wta', 'min-ta'], ['min-wwota', 'min-ta']].map(([weighted = '', plain = '']) => (
      `${weighted} ${tellRatio(results, load, weighted, plain)} m1 of ${plain}`)).join(', '))],
    ['too small an a lengthens schedules', byLoad((load) => `makespan at 0.1 ${signed(-mean(placementStrategies.map((_, strategy) => results.improvementOf({ mix: 'logs', load, strategy }, { admissibility: smallestOf(results) }, {}, 1))))}`)],
    ['mostly sequential loads want a larger a, mostly parallel ones a smaller', mixRow(results)],
  ];
  return table(['the seed', 'here, by load (change of the mean over experiments)'], rows);
}

const smallestOf = (results: StudyResults): number => results.admissibilities.find((a) => a > 0) ?? 0;

/** How many strategies have the best m1 at which a. */
function tellBest(results: StudyResults, load: number, mix: Selection['mix'] = 'logs'): string {
  const counts = new Map<number, number>();
  placementStrategies.forEach((_, strategy) => {
    const best = results.bestAdmissibilityOf({ mix, load, strategy }, 0);
    counts.set(best, (counts.get(best) ?? 0) + 1);
  });
  return [...counts].sort(([one], [other]) => one - other).map(([a, count]) => `${count} at ${a}`).join(', ');
}

/** Strategies by their mean rank over the metrics at a = 1. */
function orderOf(results: StudyResults, load: number): string[] {
  const ranks = results.meanRanksOf('logs', load, () => 1);
  return placementStrategies.map(({ name }, index) => ({ name, rank: ranks[index] as number })).sort((one, other) => one.rank - other.rank).map(({ name }) => name);
}

function tellRatio(results: StudyResults, load: number, one: string, other: string): string {
  const [weighted, plain] = [one, other].map((name) => results.meanOf({ mix: 'logs', load, strategy: indexOf(name) }, {}, 0)) as [number, number];
  return `${(weighted / plain).toFixed(3)} x`;
}

function mixRow(results: StudyResults): string {
  if (results.countOf('serial') === 0) return 'not run';
  return `best a for m1 at load ${middleLoad}: ${tellBest(results, middleLoad, 'serial')} with more serial work; ${tellBest(results, middleLoad)} with the five logs`;
}
