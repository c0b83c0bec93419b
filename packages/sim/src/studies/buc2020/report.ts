import { summarize } from '../../summarize.ts';
import { grouped, section, table } from '../costa2005/markdown.ts';
import { bucClaims, listChanges, findScores, showChange } from './claims.ts';
import { drawWaits, type BucFigure } from './figures.ts';
import { listWaits, type BucMeasured } from './measure.ts';
import { families, injectedCount, getInjections, type BucSettings } from './setups.ts';

/** A page and its figures. */
export interface BucReport {
  readonly page: string;
  readonly figures: readonly BucFigure[];
}

const hour = 3_600_000;

/** Writes up the study. The same measurements, the same text. @param images where figures are, relative to the page. */
export function reportBuc(settings: BucSettings, all: readonly BucMeasured[], images: string): BucReport {
  const [seeds, bounded, easy] = families.map((family) => all.filter((measured) => measured.family === family)) as [
    BucMeasured[],
    BucMeasured[],
    BucMeasured[],
  ];
  const figures = seeds.flatMap(drawWaits);
  const page = [
    introduction(settings, all),
    section('Compared with the seed', claimTable(seeds), claimText),
    section('Scores', scoreTable(seeds), scoreText),
    ...seeds.map((measured) =>
      section(
        `Figure 1: ${nameOf(measured)}`,
        ...drawWaits(measured).map(({ name }) => `![${name}](${images}/${name})`),
        waitTable(measured),
      ),
    ),
    section('What it costs the others', everybodyTable(all), everybodyText),
    section('With the bound of the live cluster', boundText, claimTable(bounded)),
    section(
      'With EASY backfilling, which the seed does not have',
      claimTable(easy),
      ...easy.map((measured) => `**${nameOf(measured)}**\n\n${waitTable(measured)}`),
    ),
    section('How it was simulated', assumptions(all)),
  ].join('\n');
  return { page, figures };
}

/** Every run as CSV, a line for each user that is watched and one for all. */
export function bucCsv(all: readonly BucMeasured[]): string {
  const lines = all.flatMap(({ trace, loadFactor, family, watched, runs }) =>
    family.services.flatMap(({ name }, service) =>
      (runs[service] ?? []).flatMap((run, injection) => {
        const head = [trace.log.id, loadFactor, name, injection];
        const users = watched.map(({ userId, title }) => {
          const { jobCount = 0, waitSum = 0, meanScore = 0, meanScoreAtSubmission = 0 } = run.users.get(userId) ?? {};
          return [...head, title, jobCount, waitSum, meanScore.toFixed(4), meanScoreAtSubmission.toFixed(4)].join(',');
        });
        return [...users, [...head, 'all', run.requestCount, run.waitSum, '', ''].join(',')];
      }),
    ),
  );
  return `${['log,load_factor,service,injection,user,jobs,wait_sum_ms,mean_score,mean_score_at_submission', ...lines].join('\n')}\n`;
}

function nameOf({ trace: { log }, loadFactor }: BucMeasured): string {
  return `${log.title}, submissions x ${loadFactor}`;
}

function introduction(settings: BucSettings, all: readonly BucMeasured[]): string {
  const injections = getInjections(settings);
  const runs = all.reduce((sum, measured) => sum + measured.runs.length * injections, 0);
  return `# buc2020: the queue that has users first who estimate well

Written by \`mutirao sim study buc2020${settings.isQuick ? ' --quick' : ''} --seed ${settings.seed} --out DIR\` with the logs. ${grouped(runs)} replays of whole logs: ${injections} injections of each log and load, every one under each service;
every user of every run is a line of \`buc2020-runs.csv\`. Figures are means over the injections with half of their 95 % interval (Student's t). The order is the live one (\`core/queue/buc\`).

The seed's log, Grid'5000 Lille of 2019, is not available, and the heights of its Figure 1 are not in its text. Instead: SDSC SP2 and DAS-2 fs1, as they are and with submissions x 0.7, which is more load. In each, as in the
seed, three users of ${injectedCount} jobs are injected, with walltimes of 3600 s of which they use 0, 50 and 100 %, and three real users are looked at, a careless, a middling and a conscious one of those with many jobs.`;
}

function claimTable(all: readonly BucMeasured[]): string {
  const found = bucClaims.map(({ says, test }) => ({ says, findings: all.map(test) }));
  const together = all.map((_, setup) =>
    verdicts
      .flatMap((verdict) => {
        const count = found.filter(({ findings }) => findings[setup]?.verdict === verdict).length;
        return count === 0 ? [] : [`${count} ${verdict}`];
      })
      .join(', '),
  );
  return table(
    ['the seed, or what follows from it', ...all.map(nameOf)],
    [
      ...found.map(({ says, findings }) => [
        says,
        ...findings.map(({ verdict, evidence }) => `${verdict}: ${evidence}`),
      ]),
      ['**together**', ...together],
    ],
  );
}

const verdicts = ['held', 'not held', 'no difference', 'not testable'] as const;

const claimText = `Each is the change of that user's sum of waiting times, in percent of the mean of what it is compared with, injection by injection: *held* or *not held* where the 95 % interval is on one side of nothing,
*no difference* where it is not. Real users have the same jobs in every injection, so their intervals show only the effect of the injected ones. One log has one careless user, and says nothing about another.

| the seed | here |
|---|---|
| the mean scores of the three injected users are 4.8, 96.14 and 99 | the rule is fitted to them: see *Scores* |
| the heights of Figure 1 | not testable: they are not in the text |
| a better walltime makes forecasts and algorithms possible that save energy | not testable here; named as future work |`;

function scoreTable(all: readonly BucMeasured[]): string {
  const [first] = all;
  if (first === undefined) return '';
  const titles = [
    'injected user',
    'the seed',
    'met by ends, each log and load',
    ...all.map((measured) => `met by submissions, K = 1440: ${nameOf(measured)}`),
  ];
  const ends = all.flatMap((measured) => [0, 1, 2].map((service) => findScores(measured, service)));
  return table(
    titles,
    findScores(first, 1).map(({ userId, seedScore }, index) => {
      const met = ends.map((scores) => (scores[index]?.atEnd ?? NaN).toFixed(2));
      return [
        userId,
        String(seedScore),
        [...new Set(met)].join(' to '),
        ...all.map((measured) => (findScores(measured, 1)[index]?.atSubmission ?? NaN).toFixed(2)),
      ];
    }),
  );
}

const scoreText = `*Met by ends* is the mean of the scores that a user's jobs found when they ended, which is what the rule is fitted to: as long as the user's jobs have one precision it is the same in every log. *Met by submissions* is what
ranked them: where jobs wait for long, many are queued before the first has ended, with the newcomer's 60.`;

function waitTable(measured: BucMeasured): string {
  const { family, watched, runs } = measured;
  const [base, ...others] = family.services;
  const titles = [
    'user',
    'jobs',
    'mean score',
    `${base.name}, hours`,
    ...others.flatMap(({ name }) => [`${name}, hours`, 'change']),
  ];
  return table(
    titles,
    watched.map(({ userId, title }) => {
      const [first] = runs[0] ?? [];
      const { jobCount = 0, meanScore = 0 } = first?.users.get(userId) ?? {};
      const cells = others.flatMap((_, index) => [
        hours(listWaits(measured, index + 1, userId)),
        showChange(listChanges(measured, userId, [0, index + 1])),
      ]);
      return [
        `${title} (${userId})`,
        grouped(jobCount),
        meanScore.toFixed(1),
        hours(listWaits(measured, 0, userId)),
        ...cells,
      ];
    }),
  );
}

function hours(waits: readonly number[]): string {
  const { mean, halfInterval } = summarize(waits.map((wait) => wait / hour));
  const digits = mean < 100 ? 1 : 0;
  const show = (value: number): string => (digits === 0 ? grouped(Math.round(value)) : value.toFixed(digits));
  return Number.isFinite(halfInterval) ? `${show(mean)} +- ${show(halfInterval)}` : show(mean);
}

function everybodyTable(all: readonly BucMeasured[]): string {
  const rows = all.flatMap((measured) =>
    measured.family.services.flatMap(({ name }, service) => {
      // The order of arrival is the same with a bound as without.
      if (service === 0 && measured.family.id === 'bounded') return [];
      const found = measured.runs[service] ?? [];
      const mean = summarize(found.map(({ waitSum, requestCount }) => waitSum / requestCount / hour));
      const longest = Math.max(...found.map(({ longestWait }) => longestWait)) / hour;
      return [
        [
          nameOf(measured),
          name,
          mean.mean.toFixed(2),
          service === 0 ? '' : showChange(listChanges(measured, undefined, [0, service])),
          longest.toFixed(0),
        ],
      ];
    }),
  );
  return table(['log', 'service', 'mean wait of a job, hours', 'change', 'longest wait of a job, hours'], rows);
}

const everybodyText = `All jobs of the log and the injected ones. The longest wait is that of the worst injection. *Bounded* is with a lead of at most 100 K seconds, as the live cluster has it (\`--buc-lead-max\`); the others are the
seed's formula as it stands.`;

const boundText =
  'Leads of at most 100 K seconds, which is what the best score has with a walltime of 1000 s: shorter walltimes ' +
  'gain nothing more.';

function assumptions(all: readonly BucMeasured[]): string {
  const logs = [...new Set(all.map(({ trace }) => trace))].map(
    ({ log, requests, untimedCount, overrunCount, medianWidth }) =>
      `${log.title}: ${grouped(requests.length)} jobs on ${log.processors} processors, ` +
      (`${grouped(untimedCount)} without requested time left out, ${grouped(overrunCount)} ran longer than ` +
        `requested, median width ${medianWidth}`),
  );
  return `- ${logs.join('. ')}.
- A job's walltime is what was requested, or its run time where that was longer, since these machines did not always kill; such jobs count for no score, by the seed's rule. Nobody sends another walltime because of a score: the seed's users do not react either.
- The seed says neither when the injected jobs come nor how wide they are: here at instants drawn evenly over the log's time, each user's own, the same share of it at every load and under every service, and of the log's median width.
  One of precision 0 runs for a second.
- Real 1 to 3 are, of the ten users with most jobs, the one whose jobs meet the lowest mean score (in the log alone, in the order of arrival), the one nearest to the middle between lowest and highest, and the highest. The seed's have 2.7, 45.93 and 68.22.
- A score begins with 60; the rule and its fit are in \`core/queue/buc/user-score.ts\`. A job is ranked by its user's score at its submission.`;
}
