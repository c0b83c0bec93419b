import { grouped, percent, section, show, table } from '../costa2005/markdown.ts';
import type { Comparison } from './compare.ts';
import { drawFigure } from './figure.ts';
import {
  dataPolicies,
  policies,
  listRuns,
  type EagerScenario,
  type EagerSettings,
  type NamedPolicy,
} from './scenarios.ts';

/** A study as a page and its figure. */
export interface EagerReport {
  /** In Markdown; the figure is named by the path that was given. */
  readonly page: string;
  readonly svg: string;
}

/** Worse by more than this, and better by less than that where speeds differ, misses the aim. */
const worseMax = 1.02;
const betterMin = 0.8;

/** Writes up the study. The same comparisons, the same text. @param figurePath from the page. */
export function reportEager(
  settings: EagerSettings,
  comparisons: readonly Comparison[],
  figurePath: string,
): EagerReport {
  const runCount = comparisons.length * listRuns(settings);
  const page = [
    introduction(settings, runCount),
    section('Result', judge(comparisons), `![Mean makespan over that of a workqueue](${figurePath})`),
    section(
      'Makespan',
      makespanTable(comparisons, policies, false),
      'Mean makespan over that of workqueue, with half of the 95 % interval of the paired runs (delta method). ' +
        '`wqr` has two replicas of a task at most and no cap.',
    ),
    section(
      'Extra cycles',
      extraTable(comparisons, policies, false),
      'Processor-time of losers over that of accepted replicas, all runs together. What leaving machines killed ' +
        'is in the CSV.',
    ),
    section(
      'Caps',
      capTable(comparisons),
      'The greatest share that losers had in any single run, and what the cap allows. Where a cap is tight, ' +
        'the last tasks get no replica, since what their sibling ran would be lost.',
    ),
    section('Large files', makespanTable(comparisons, dataPolicies, true), dataNote(comparisons)),
    section('How it was simulated', assumptions),
    section('What else was tried', tried),
  ].join('\n');
  return { page, svg: drawFigure(comparisons) };
}

function introduction({ isQuick, seed }: EagerSettings, runCount: number): string {
  return `# Eager scheduling: replication against a workqueue

Written by \`mutirao sim study eager${isQuick ? ' --quick' : ''} --seed ${seed} --out DIR\`; only the figures of the last section, and the bounds below the result, are from elsewhere. ${grouped(runCount)} runs, ${listRuns({ isQuick, seed })} for each policy in each
scenario, all policies with the same machines, the same rng of each, and the same tasks. Every run is a line of \`eager-runs.csv\`, every mean one of \`eager-scheduling.csv\`.
The schedulers, the choice of what is replicated where, the caps and the estimates are the broker's own code.`;
}

function judge(comparisons: readonly Comparison[]): string {
  const wqr = comparisons.filter(({ policy, scenario }) => policy.name === 'wqr' && !scenario.hasData);
  const worst = wqr.reduce((most, one) => (one.makespan.value > most.makespan.value ? one : most));
  const differing = wqr.filter(({ scenario }) => scenario.setup.speedMax > 1);
  const reached = differing.filter(({ makespan }) => makespan.value <= betterMin);
  const missed = differing.filter(({ makespan }) => makespan.value > betterMin);
  return [
    '- Never worse than a workqueue by more than 2 %: ' +
      `${worst.makespan.value <= worseMax ? 'reached' : '**missed**'}. The worst of ${wqr.length} scenarios is ` +
      `${nameOf(worst.scenario)} with ${show(worst.makespan)}.`,
    `- Better by 20 % where speeds differ: reached in ${reached.length} of ${differing.length} ` +
      `scenarios${missed.length === 0 ? '' : `; **missed** in ${missed.map(({ scenario, makespan }) => `${nameOf(scenario)} (${show(makespan)})`).join(', ')}`}.`,
    '- Replication can shorten only the last wave of a bag: the more tasks there are for each machine, the ' +
      'smaller a part that is. The gain is large where tasks are about as many as machines or fewer.',
    alike,
    bounds,
  ].join('\n');
}

function nameOf({ setup }: EagerScenario): string {
  const ratio = setup.taskCount / setup.machineCount;
  return (
    `${ratio} ${ratio === 1 ? 'task' : 'tasks'} for each machine, ` +
    `${setup.speedMax === 1 ? 'equal speeds' : `speeds 1 to ${setup.speedMax}`}, up ${setup.upTime.mean / 60_000} ` +
    'min'
  );
}

function makespanTable(comparisons: readonly Comparison[], shown: readonly NamedPolicy[], hasData: boolean): string {
  const cell = ({ makespan, makespanMean, policy }: Comparison): string =>
    policy.name === 'workqueue' ? `${(makespanMean / 60_000).toFixed(1)} min` : show(makespan);
  return scenarioTable(comparisons, shown, hasData, cell);
}

function extraTable(comparisons: readonly Comparison[], shown: readonly NamedPolicy[], hasData: boolean): string {
  return scenarioTable(
    comparisons,
    shown.filter(({ replicasMax }) => replicasMax > 1),
    hasData,
    ({ extra }) => percent(extra),
  );
}

function scenarioTable(
  comparisons: readonly Comparison[],
  shown: readonly NamedPolicy[],
  hasData: boolean,
  cell: (comparison: Comparison) => string,
): string {
  const scenarios = [...new Set(comparisons.map(({ scenario }) => scenario))].filter(
    (scenario) => scenario.hasData === hasData,
  );
  const rows = scenarios.map((scenario) => [
    nameOf(scenario),
    ...shown.map(({ name }) =>
      comparisons
        .filter((one) => one.scenario === scenario && one.policy.name === name)
        .map(cell)
        .join(''),
    ),
  ]);
  return table(['scenario', ...shown.map(({ name }) => name)], rows);
}

function capTable(comparisons: readonly Comparison[]): string {
  const names = ['wqr', 'wqr, idle', 'wqr, 20%', 'wqr, 5%'];
  const rows = names.map((name) => {
    const found = comparisons.filter(({ policy, scenario }) => policy.name === name && !scenario.hasData);
    const mean = found.reduce((sum, { makespan }) => sum + makespan.value, 0) / found.length;
    return [
      name,
      mean.toFixed(3),
      percent(found.reduce((sum, { extra }) => sum + extra, 0) / found.length),
      percent(Math.max(...found.map(({ extraMax }) => extraMax))),
    ];
  });
  return table(['policy', 'mean of the makespan ratios', 'mean of the extra cycles', 'most in a run'], rows);
}

function dataNote(comparisons: readonly Comparison[]): string {
  const brought = (name: string): string => {
    const found = comparisons.filter(({ policy, scenario }) => policy.name === name && scenario.hasData);
    return (found.reduce((sum, { transfers }) => sum + transfers, 0) / found.length).toFixed(0);
  };
  return `Each of 100 tasks of 5 min reads one of 20 files, which takes 5 min to bring to a machine that does not hold it. Files brought on average: workqueue ${brought('workqueue')}, wqr ${brought('wqr')},
storage-affinity ${brought('storage-affinity')}.`;
}

const assumptions = `- 20 machines of one processor. Each is up for a time drawn from a Weibull distribution of shape 0.5 and away for one drawn from an exponential distribution of
  mean 30 min; it has come and gone for long when the job is submitted. What runs on a machine that leaves is lost, and the broker notices it at once: a delay would favour replication.
- Speeds are 1, or uniform from 1 to 4. A task takes 20 min at speed 1 on average, uniform from 10 to 30. The broker knows neither; it learns from the runs that end and that are cut off.
- There is no latency and no limit on what home sends at once. A file that a machine holds outlives its absences.
- One stream of rng for each machine and one for the tasks, so that a decision changes nobody's rng. The jobs are ours to choose: 0.5 to 5 tasks for each machine.`;

const alike =
  '- `sufferage` and `min-min` are one algorithm here: all tasks of a job have the same estimate, so both map ' +
  'whichever comes first to the machine that ends it first. Their columns say nothing of how they compare in ' +
  'the literature.';

/**
 * Of the 200 setups of seed 1: all work over the speed of all machines that are up, and no task shorter than the
 * fastest machine makes it.
 */
const bounds = `- Less can be gained in some scenarios. If work could be cut at will and none were ever lost, makespans where speeds differ would be 0.43, 0.56, 0.69 and 0.79 of a workqueue's with
  0.5, 1, 2 and 5 tasks for each machine up 30 min, and 0.40, 0.44, 0.64 and 0.80 up 4 h: with five tasks for each machine 20 % is all that there is, and real tasks cannot be cut.
  A workqueue that begins nothing twice is already good there. With one and two tasks for each machine there is more to gain than \`wqr\` does: it knows neither speeds nor lengths beforehand.`;

const tried = `The policy of \`wqr\` was chosen among these by the same simulation; each number is a mean makespan over workqueue's with speeds from 1 to 4, up 4 h, and one or two tasks for each machine.

- The eldest task first, on the first idle machine, as the broker did before: 0.83 and 0.91. The last to end first: 0.83 and 0.90. With the fastest idle machine as well, as it is now: 0.82 and 0.89.
- Giving siblings up for a task that is ready again: 0.82 and 0.89, no gain. It is what the cap \`idle\` does.
- Exchanging the slower of two replicas for a faster machine that idles: 0.83 to 0.85 and 0.90 to 0.97, worse: what ran is lost, and estimates are wrong.
- Ready tasks to the fastest machines first: 0.83 and 0.90 of a workqueue that does the same.
- Three and four replicas of a task: 0.80 and 0.88 at best.`;
