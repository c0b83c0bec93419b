import { getBound, siteSelectionMetrics, siteSelectionStrategies } from '@mutirao/core/site-selection';
import { grouped, percent, section, table } from '../costa2005/markdown.ts';
import {
  adaptiveByStrategyTable,
  adaptiveTable,
  adaptiveVerdicts,
  everyAdmissibilityTable,
} from './adaptive-tables.ts';
import { claimsTable } from './claims.ts';
import { mean, StudyResults, type MeasuredPart } from './compare.ts';
import { drawBound, drawFactors } from './figures.ts';
import {
  betweenTenths,
  lightlyLoaded,
  listCases,
  middleLoad,
  variedExperiments,
  type SiteSelectionStudySettings,
} from './parts.ts';
import { seedImprovements } from './seed-numbers.ts';
import { boundTable, improvementTable, rankingTable, variantTable } from './tables.ts';
import { allProcessors, clusterSizes, experimentTasks, mixes } from './workload.ts';

/** The study as a page and its pictures. */
export interface SiteSelectionReport {
  readonly page: string;
  readonly factorsSvg: string;
  readonly boundSvg: string;
}

/** Metrics that the adaptive a is judged by: competitive factor, mean turnaround and bounded slowdown. */
const judged: readonly number[] = [0, 5, 12];

/**
 * Writes up the study. The same results, the same text. @param parts of whole experiments. @param images the folder of
 * the pictures, from the page.
 */
export function reportPlacement(
  settings: SiteSelectionStudySettings,
  parts: readonly MeasuredPart[],
  images: string,
): SiteSelectionReport {
  const results = new StudyResults(parts);
  const page = [
    introduction(settings, results),
    section('Compared with the seed', claimsTable(results), `${sureNote} ${remarks}`),
    section(
      'Table III',
      `Best improvement over a = 1 in percent, @ the a it was reached at; in parentheses the seed's. Load ` +
        `${middleLoad}.`,
      improvementTable(results, middleLoad, { isBesideSeed: true }),
      sureNote,
      ...results.loads
        .filter((load) => load !== middleLoad)
        .flatMap((load) => [`Load ${load}, here alone.`, improvementTable(results, load, { isBesideSeed: false })]),
    ),
    section(
      'Ranking with and without the scheme',
      'Mean rank over the 14 metrics, 1 the best of 14; with *own best a*, each strategy has for each metric ' +
        'the a that suits it best. By the rank at a = 1.',
      ...results.loads.flatMap((load) => [`Load ${load}.`, rankingTable(results, load)]),
      `![Competitive factor and admissibility](${images}/factors.svg)`,
    ),
    section(
      'Every a',
      everyNote,
      'Competitive factor (m1).',
      everyAdmissibilityTable(results, 0),
      'Mean wait (m9).',
      everyAdmissibilityTable(results, 8),
    ),
    section(
      'Theorem 1',
      `![Theorem 1 and the measured factor of Min_LB](${images}/bound.svg)`,
      boundTable(results, boundFor),
      boundNote,
    ),
    section(
      'An a that follows the load',
      adaptiveVerdicts(results, judged),
      adaptiveTable(results, judged),
      adaptiveNote,
      `By strategy, load ${middleLoad}.`,
      adaptiveByStrategyTable(results, middleLoad),
    ),
    section(
      'Settled otherwise',
      `Load ${middleLoad}, a = 1. The study's sums run over what has not ended; the variant also counts what has.`,
      variantTable(results),
      variantNote(results),
      ...(settings.isQuick ? [] : [readingNote(results)]),
      ...(settings.isQuick
        ? []
        : [
            `Table III with ended tasks counted, compared with the seed's; of the first ${variedExperiments} experiments.`,
            improvementTable(results, middleLoad, { isBesideSeed: true, way: { counted: 'all' } }),
          ]),
    ),
    section('Run by Mutirao itself', bagNote),
    section('The experiments', workloadTable(parts), assumptions),
  ].join('\n');
  return { page, factorsSvg: drawFactors(results), boundSvg: drawBound(results) };
}

function introduction(settings: SiteSelectionStudySettings, results: StudyResults): string {
  const count = results.countOf('logs');
  const serial = results.countOf('serial');
  const runs = results.parts.reduce((sum, { part }) => sum + listCases(part).length, 0);
  const options = settings.isQuick ? ' --quick' : ` --experiments ${settings.experiments}`;
  return `# gonzalez2010: admissible allocation on a grid of clusters

Written by \`mutirao sim study gonzalez2010${options} --seed ${settings.seed} --out DIR\`: ${count} of the ${mixes.logs.experimentCount} disjoint experiments of the five logs at ${results.loads.length === 1 ? `load ${results.loads[0]}` : `loads ${results.loads.join(', ')}`}${serial === 0 ? '' : `, and ${serial} of a mix with more serial work at load ${middleLoad}, with ` + `${lightlyLoaded.strategies.join(' and ')} also at ${lightlyLoaded.loads.join(' and ')}`};
${grouped(runs)} runs of ${grouped(experimentTasks)} tasks, each a line of \`gonzalez2010-runs.csv\`. Clusters of ${clusterSizes.join(', ')} processors (${allProcessors}), FCFS on each where nothing else is said; all 14 strategies and metrics.
Site selection, tentative schedules and local queues are those of \`core\` ([site selection](../internals/site-selection.md)).
Figures are means over the experiments.`;
}

/** The seed does not say over which tasks it sums; its results for Min_U give a hint. */
function variantNote(results: StudyResults): string {
  const worst = (counted: 'unfinished' | 'all'): string =>
    siteSelectionStrategies
      .map(({ name }, strategy) => ({
        name,
        factor: results.getMean({ mix: 'logs', load: middleLoad, strategy }, { counted }, 0),
      }))
      .sort((one, other) => other.factor - one.factor)
      .slice(0, 3)
      .map(({ name }) => name)
      .join(', ');
  return `Worst by m1: ${worst('unfinished')}; with ended tasks counted ${worst('all')}. In the seed Min_U is the worst, and Min_Lp gains as Random does.
The other local policies decide when a task starts; strategies foresee by FCFS under all three.`;
}

/** The two readings of the sums where the seed's numbers are large, which shows the one that the seed used. */
function readingNote(results: StudyResults): string {
  const reported = [
    ['min-lp', 5],
    ['min-lp', 11],
    ['min-u', 0],
  ] as const;
  return reported
    .map(([name, metric]) => {
      const strategy = siteSelectionStrategies.findIndex((each) => each.name === name);
      const [counted, uncounted] = ([{ counted: 'all' }, {}] as const).map(
        (way) => results.bestImprovementOf({ mix: 'logs', load: middleLoad, strategy }, metric, way)?.percent ?? 0,
      ) as [number, number];
      return (
        `- ${name} gains ${counted.toFixed(1)} % in ${siteSelectionMetrics[metric]?.id} with ended tasks counted, ` +
        `${uncounted.toFixed(1)} % in the study, ${seedImprovements[metric]?.[strategy]?.toFixed(1)} % in the ` +
        'seed.'
      );
    })
    .join('\n');
}

/** The case of the theorem that a ratio m(f(d), m) / m(f(b), m) is in. */
function boundFor(admissibility: number, ratio: number): number {
  const { below, above } = getBound(admissibility);
  return admissibility <= ratio ? below : above;
}

function workloadTable(parts: readonly MeasuredPart[]): string {
  const rows = [mixes.logs, mixes.serial].flatMap(({ id, title }) => {
    const found = parts
      .filter(({ part }) => part.mix.id === id && part.load === middleLoad && part.strategy === 'random')
      .map(({ result }) => result.facts);
    if (found.length === 0) return [];
    const shares = (of: (facts: (typeof found)[number]) => readonly number[]): string =>
      [0, 1, 2, 3].map((at) => percent(mean(found.map((facts) => of(facts)[at] as number)))).join(', ');
    return [
      [
        title,
        String(found.length),
        mean(found.map(({ span }) => span / 86_400_000)).toFixed(0),
        shares(({ taskShares }) => taskShares),
        shares(({ workShares }) => workShares),
        mean(found.map(({ overestimate }) => overestimate)).toFixed(2),
      ],
    ];
  });
  return table(
    [
      'mix',
      'experiments',
      `days at load ${middleLoad}`,
      'tasks of 1-4, 5-8, 9-16, 17-32 processors',
      'their work',
      'requested / real work',
    ],
    rows,
  );
}

const remarks = `The five logs are wide: most of their work is of tasks that only the two clusters of 32 can run. With these sizes a decides, for a task of 17 to 32 processors, between both and, at
a = 0.5 and below, the first alone: m(10, 10) = 32 is half of m(10, 11) = 64. There the last cluster is used by nobody, which explains most of what is found at small a. At 0.8 and above all
admissible sets are the whole: nothing differs from a = 1. Long queues, and so waits of days, are what FCFS without backfilling comes to at these loads.`;

const boundNote = `The theorem compares with the optimum, and speaks of a better local scheduler than FCFS; m1 compares with a lower bound of the optimum. So this is a picture, no check. The bound of each run is that
of its case: a against m(f(d), m) / m(f(b), m), d the last task assigned to the cluster that ends last, b the narrowest task that ran where d could.`;

const sureNote =
  `Where ~ stands before a gain, its 95 % interval over experiments (paired, Student's t) reaches 0, even were ` +
  'its a not the best of ten.';

const everyNote = `Improvement over a = 1 in percent, mean over all strategies but Random, with the 95 % interval over experiments (paired, Student's t; in each experiment strategies are averaged first). The four
columns on the right are at load ${middleLoad}: of the first ${variedExperiments} experiments, the last one of as many of the mix with more serial work.`;

const adaptiveNote = `Means are over all strategies but Random and over the loads, intervals as above. *Better / undecided / worse* counts pairs of strategy and load, Random among them, by the interval of each: where there
is no difference, one pair in 20 looks like one. The policy has no list of tenths: it takes any value at which an admissible set changes, 0.529 for example, at which tasks of up to 4 processors
leave both clusters of 32 alone and those of more than 16 may still use both; ${betweenTenths} is such a one, fixed.`;

const bagNote = `Each part, one strategy on one experiment at one load for all a, is a task of a bag. Results come home to \`parts/\`, where the last command finds them all done:

    mutirao up --detach --clusters 2 --machines 0
    mutirao sim study gonzalez2010 --experiments 2 --out DIR --export-jdf
    mutirao job submit --wait DIR/gonzalez2010.jdf
    mutirao sim study gonzalez2010 --experiments 2 --out DIR

\`scripts/study-as-bag OUT\` does that, then the same in one process, and compares all records and the table of runs byte for byte. On two
processors that others used too:

- two experiments, 112 tasks, on a cluster of two processors and two lab machines: 15 min 25 s (load 5 to 17); the 84 parts of the five logs were those of one process byte for byte, the others were not compared;
- one experiment, 56 tasks, on the cluster alone: 13 min 32 s by the clock and 393 s of processor time (load 9 to 30); right after it in one process 41 min 10 s and 266 s (load 14 to 32), all 1,274 runs the same. What
  the tasks have more is the logs, which each reads again ([benchmarks](../internals/benchmarks.md)).`;

const assumptions = `- SDSC SP2, CTC SP2, DAS-2 fs1, LANL CM-5 and SDSC Blue Horizon: requests of at most 32 processors with a requested time, a walltime being the longer of requested and real time. The mix with
  more serial work has LCG 2005 in place of the last two. Each log gives an experiment one stretch; stretches are stretched to one span, laid over each other and scaled to the load
  (work over ${allProcessors} processors x time from the first to the last submission). How an experiment is put together is ours: the seed has one trace, in order.
- The seed's 30 experiments are of another workload, which it does not describe further; it does not state its load. It had 1,103,100 tasks in 467 days.
- Ties go to the smaller cluster, then the lower index. Tentative schedules are FCFS by requested times also where the local policy is another one.`;
