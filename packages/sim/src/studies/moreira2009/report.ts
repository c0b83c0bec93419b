import { summarize } from '../../summarize.ts';
import { grouped, section, table } from '../costa2005/markdown.ts';
import { claims, type Finding } from './claims.ts';
import { jobCount, taskCount } from './draw-jobs.ts';
import { drawMakespans, getSeedRow } from './figures.ts';
import {
  getDifference,
  getDraws,
  listMakespans,
  listRuns,
  getSpread,
  type ClusterRuns,
  type ReadingRuns,
  type WorkflowStudySettings,
} from './measure.ts';

/** The study as a page and its pictures. */
export interface WorkflowReport {
  readonly page: string;
  /** By name of the file. */
  readonly figures: ReadonlyMap<string, string>;
}

/**
 * Writes up the study. The same measurements, the same text. @param all by reading, the first of them that of the
 * tables. @param images the folder of the pictures, from the page.
 */
export function reportWorkflows(
  settings: WorkflowStudySettings,
  all: readonly [ReadingRuns, ...ReadingRuns[]],
  images: string,
): WorkflowReport {
  const [main] = all;
  const figures = new Map(
    main.clusters.map((runs) => [`figure-${getSeedRow(runs.cluster).figure}.svg`, drawMakespans(runs)]),
  );
  const page = [
    introduction(settings, all),
    section('What the seed claims, and what became of it', claimTable(main), claimNote),
    section('The claims under other readings of the seed', readingTable(all), readingNote, lostWithout(all)),
    section('Tables 5.6 to 5.8', seedTable(main), seedNote),
    section('Makespans (Figures 5.1 to 5.6)', ...main.clusters.flatMap((runs) => clusterPart(runs, images))),
    section('Maps', ...maps.map(({ name, says }) => `![${says}](${images}/maps/${name}.svg)\n\n*${says}*`)),
    section('`auto`', autoTable(main, 'batch'), autoNote(main), autoTable(main, 'immediate'), immediateNote),
    section('Batch mode against immediate mode', immediateTable(main)),
    section('How it was simulated', assumptions),
  ].join('\n');
  return { page, figures };
}

const count = (all: readonly ReadingRuns[]): number =>
  all.reduce(
    (sum, { clusters }) =>
      sum +
      clusters.reduce((runs, each) => runs + [...each.runs.values()].reduce((some, { length }) => some + length, 0), 0),
    0,
  );

function introduction(settings: WorkflowStudySettings, all: readonly ReadingRuns[]): string {
  return `# moreira2009: jobs of dependent tasks on one cluster

Written by \`mutirao sim study moreira2009${settings.isQuick ? ' --quick' : ''} --seed ${settings.seed} --out DIR\`; nothing in it was entered by hand but what is said to be the seed's. ${grouped(count(all))} runs, of ${getDraws(settings, 0)} draws (under other readings ${getDraws(settings, 1)}) of ${jobCount} jobs with
${taskCount} tasks in all on six clusters; every run is a line of \`moreira2009-runs.csv\`, and those of the first draw are drawn in \`moreira2009/maps\`. The seed ran one draw. All strategies have the same jobs; all figures are means over
draws with half of their 95 % interval, and a difference is one of the same jobs. The schedulers are those of \`mutirao sim schedule\` (\`core/workflow\`).`;
}

const shown = (values: readonly number[], digits = 0): string => {
  const { mean, halfInterval } = summarize(values);
  return `${mean.toFixed(digits)} +- ${halfInterval.toFixed(digits)}`;
};

function claimTable(main: ReadingRuns): string {
  return table(
    ['where', 'the seed', 'here', 'what was found'],
    claims.map(({ where, says, test }) => {
      const { verdict, evidence } = test(main);
      return [where, says, mark(verdict), evidence];
    }),
  );
}

const mark = (verdict: Finding['verdict']): string => (verdict === 'held' ? verdict : `**${verdict}**`);

function readingTable(all: readonly ReadingRuns[]): string {
  const rows = claims
    .map(({ says, test }) => ({ says, verdicts: all.map((study) => test(study).verdict) }))
    .filter(({ verdicts }) => verdicts[0] !== 'not testable')
    .filter(({ verdicts }) => new Set(verdicts).size > 1);
  const names = all.map(({ reading }) => reading.name);
  return table(
    ['claims whose disposition depends on it', ...names],
    rows.map(({ says, verdicts }) => [says, ...verdicts.map(mark)]),
  );
}

/** What HPTS loses to HEFT when its transfers do not overlap with computation, where that was measured. */
function lostWithout(all: readonly ReadingRuns[]): string {
  const without = all.find(({ reading }) => !reading.overlaps);
  if (without === undefined) return '';
  const rows = without.clusters.map((runs) => {
    const { mean, halfInterval } = getDifference(runs, 'HPTS', 'HEFT');
    return `${runs.cluster.name} ${mean.toFixed(0)} +- ${halfInterval.toFixed(0)} s`;
  });
  return `Without overlap HPTS takes longer than HEFT, which overlaps, by ${rows.join(', ')} (below 0: less).`;
}

function seedTable({ clusters }: ReadingRuns): string {
  return table(
    [
      'table',
      'cluster',
      'algorithm',
      'mean, seed',
      'mean, here',
      'draws below the seed',
      'sd, seed',
      'sd, here',
      'draws below the seed',
    ],
    clusters.flatMap((runs) => {
      const { hpts, heft, alone, table: number } = getSeedRow(runs.cluster);
      const below = (values: readonly number[], limit: number): string =>
        `${((100 * values.filter((value) => value < limit).length) / values.length).toFixed(0)} %`;
      const rows = (
        [
          ['HPTS', hpts],
          ['HEFT', heft],
        ] as const
      ).map(([algorithm, seed]) => {
        const { means, deviations } = getSpread(runs, algorithm);
        return [
          number,
          runs.cluster.name,
          algorithm,
          String(seed.mean),
          shown(means),
          below(means, seed.mean),
          String(seed.deviation),
          shown(deviations),
          below(deviations, seed.deviation),
        ];
      });
      const ones = listMakespans(runs, '1J-1P');
      return [
        ...rows,
        [number, runs.cluster.name, '1J-1P', String(alone), shown(ones), below(ones, alone), '0', '0', '-'],
      ];
    }),
  );
}

function clusterPart(runs: ClusterRuns, images: string): string[] {
  const { cluster } = runs;
  const { figure } = getSeedRow(cluster);
  const rows = [...runs.runs]
    .filter(([name]) => !name.endsWith('immediate'))
    .map(([name, measures]) => [
      name,
      shown(measures.map(({ makespan }) => makespan)),
      shown(
        measures.map(({ utilisation }) => 100 * utilisation),
        1,
      ),
      shown(measures.map(({ wait }) => wait)),
    ]);
  return [
    `![Figure ${figure}: makespan on ${cluster.name}](${images}/figure-${figure}.svg)`,
    table(
      [
        `${cluster.name} (Figure ${figure})`,
        'makespan, s',
        'processors in use, %',
        'wait of a job for its first task, s',
      ],
      rows,
    ),
  ];
}

/** Maps of the first draw that the page shows. */
const maps = [
  {
    name: 'homogeneous-10-HEFT',
    says: 'homogeneous-10, HEFT in batch mode: a colour for each job, jobs mixed on all processors.',
  },
  {
    name: 'homogeneous-10-HEFT10P',
    says: 'homogeneous-10, HEFT with all ten processors reserved for one job at a time: most of them idle.',
  },
  {
    name: 'homogeneous-20-HPTS',
    says: 'homogeneous-20, HPTS in batch mode: a task on several processors is a box on each.',
  },
  { name: 'C3-auto', says: 'C3, auto in batch mode.' },
] as const;

const single = ['HEFT', 'CPOP', 'iHPTS', 'HPTS'] as const;

/** The algorithm with the least mean makespan, and how much `auto` takes more. */
function bestBeside(runs: ClusterRuns, mode: 'batch' | 'immediate') {
  const suffix = mode === 'batch' ? '' : ' immediate';
  const mean = (name: string): number => summarize(listMakespans(runs, `${name}${suffix}`)).mean;
  const best = single.reduce((least, name) => (mean(name) < mean(least) ? name : least));
  return {
    best,
    more: getDifference(runs, `auto${suffix}`, `${best}${suffix}`),
    value: listMakespans(runs, `${best}${suffix}`),
    own: listMakespans(runs, `auto${suffix}`),
  };
}

function autoTable({ clusters }: ReadingRuns, mode: 'batch' | 'immediate'): string {
  return table(
    [
      `${mode} mode`,
      'best single algorithm',
      'its makespan, s',
      'auto, s',
      'auto takes more, s',
      'above by more than the interval',
    ],
    clusters.map((runs) => {
      const { best, more, value, own } = bestBeside(runs, mode);
      return [
        runs.cluster.name,
        best,
        shown(value),
        shown(own),
        `${more.mean.toFixed(1)} +- ${more.halfInterval.toFixed(1)}`,
        more.mean > more.halfInterval ? '**yes**' : 'no',
      ];
    }),
  );
}

function autoNote({ clusters }: ReadingRuns): string {
  const worse = clusters.filter((runs) => {
    const { mean, halfInterval } = bestBeside(runs, 'batch').more;
    return mean > halfInterval;
  });
  const disposition =
    worse.length === 0
      ? "In batch mode, which is the seed's, the mean of `auto` is on no cluster above that of the best single " +
        'algorithm by more than the interval'
      : `In batch mode the mean of \`auto\` is above that of the best single algorithm by more than the interval ` +
        `on ${worse.map(({ cluster }) => cluster.name).join(', ')}`;
  return (
    `${disposition}. What it chooses among is HEFT, CPOP, iHPTS and HPTS, by the end of what is planned, again ` +
    'with each ' +
    'arrival; a plan that ends first need not do so once the next job has arrived.'
  );
}

function immediateTable({ clusters }: ReadingRuns): string {
  return table(
    ['immediate mode takes more, % of batch', 'HPTS', 'iHPTS', 'HEFT', 'CPOP', 'auto'],
    clusters.map((runs) => [
      runs.cluster.name,
      ...(['HPTS', 'iHPTS', 'HEFT', 'CPOP', 'auto'] as const).map((name) => {
        const batch = listRuns(runs, name);
        return shown(
          listRuns(runs, `${name} immediate`).map(
            ({ makespan }, draw) => 100 * (makespan / (batch[draw]?.makespan ?? NaN) - 1),
          ),
          1,
        );
      }),
    ]),
  );
}

const claimNote = `*Held* is a mean difference above 0 by more than its 95 % interval, in each of the comparisons; equality is held within 1 %. The intervals are not corrected for how many comparisons there are.
"In N percent of the draws" is how often somebody with one draw, as the seed had, would have found it.`;

const readingNote = `Where the seed leaves a choice the tables take the first column. *Without overlap*: processors that wait for data are idle meanwhile, which is the seed's model of HPTS (3.2.2.1) and not ours; HEFT overlaps in both.
*Twenty times the exchange*: the processors of a task send each other twenty times as much, so that wide tasks gain less, as the seed's standard deviations suggest.`;

const seedNote = `Mean and standard deviation (of a sample) of the strategies that use an algorithm: dynamic and fixed reservations of 5, 10 and, where there are as many, 20 processors; iHPTS is left out, as in the seed.
*Draws below the seed*: how many of our draws have less than its one draw; near 0 or 100 % that draw is unlikely to be one of them.`;

const immediateNote = `Immediate mode is not what the seed proposes. There \`auto\` takes what ends the newcomer first, often HPTS on many processors, and what that wastes is missing when the next job comes:
the least plan at each decision, which is what \`auto\` promises, is not the least in the end.`;

const assumptions = `- Capacity 1 is 33.1 Mflop/s, so that the longest task of Table 5.3 (209 s) is a correlation (4 n^3 operations) of a matrix of 1200, the largest; in C3 and C4 it is 1.98 times as much, since Table 5.4 has the same tasks in 35.6 s that take 70.4 s in Table 5.3.
  Nothing else was fitted: neither the makespans nor 1J-1P.
- Jobs: one to four entry and exit tasks each; all ways to divide the inner tasks that make 200 in all are equally likely, at least two a job. Edges go from lower to higher ids, to one of all that come into question with equal likelihood, until each task has two to
  five, in and out together; drawn again until all do. Operations are equally likely, matrices uniform from 200 to 1200.
- An edge costs 30 % of the time that its sender takes where it runs, nothing on the same processors. Processors of one task exchange n^2 numbers of 8 bytes times the operation's share (Table 5.5) in each of r + c - 2 steps on 1 Gbit/s, after 0.1 ms: the seed prints the cost of the matrix product only.
- What a task sends is sent when it has ended, to where its receiver is planned then; when an arrival moves the receiver, it is sent to the new place from then on. The seed does not say.
- Tasks take what was foreseen. A schedule takes no time. Fixed reservations are first come, first served: the processors that are free first, of equal ones the fastest.
- The jobs' critical paths decide HEFT with a fixed reservation, and thereby most of its mean; how long they are follows from how edges are drawn, of which the seed says little: that its HEFT means are below ours is probably of shorter paths. Its text has no values of single
  strategies; its mean and deviation of the four HEFT values on homogeneous-20, if they stand to each other as here, fit about 2,900 s for HEFT20P: paths shorter by a quarter or so.`;
