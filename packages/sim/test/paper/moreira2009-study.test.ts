// moreira2009, chapter 5. Few draws; docs/studies/moreira2009.md has all.
import test from 'ava';
import { findScheduleFault, freshProblem, platformCosts } from '@mutirao/core/workflow';
import {
  getDifference,
  drawOf,
  getHeterogeneity,
  listOtherStrategies,
  listSeedStrategies,
  listMakespans,
  measureCluster,
  getPlatform,
  readings,
  reportWorkflows,
  runStrategy,
  getSpread,
  studyClusters,
  type ClusterRuns,
  type ReadingRuns,
} from '@mutirao/sim/moreira2009';

const quick = { isQuick: true, seed: 'paper' };

function runsOn(name: string, ...strategies: readonly string[]): ClusterRuns {
  const cluster = studyClusters.find((each) => each.name === name);
  if (cluster === undefined) throw new Error(`no cluster ${name}`);
  return measureCluster(cluster, quick, 2, (strategy) => strategies.includes(strategy));
}

test('5.1.1: the heterogeneity of C1 and C2 is 0.3, of C3 and C4 0.9', (t) => {
  t.deepEqual(
    studyClusters.map((cluster) => getHeterogeneity(cluster).toFixed(1)),
    ['0.0', '0.0', '0.3', '0.3', '0.9', '0.9'],
  );
});

test('Tabelas 5.3 and 5.4: the longest task takes 209 s on capacity 1 of C1, and 105.5 s on that of C3', (t) => {
  const times = ['C1', 'C3'].map((name) => {
    const { processors } = getPlatform(runsOn(name).cluster);
    return (4 * 1200 ** 3) / 1e6 / (processors[0]?.speed ?? NaN);
  });
  t.deepEqual(
    times.map((time) => Math.round(time)),
    [209, 105],
  );
});

test('5.3.1: HEFT is ahead of HPTS on 10 processors and behind it on 20', (t) => {
  const ten = getDifference(runsOn('homogeneous-10', 'HPTS', 'HEFT'), 'HPTS', 'HEFT');
  t.true(ten.mean > ten.halfInterval);
  const twenty = getDifference(runsOn('homogeneous-20', 'HPTS', 'HEFT'), 'HEFT', 'HPTS');
  t.true(twenty.mean > twenty.halfInterval);
});

test('5.3.1: the dynamic method does better than a reservation of all processors for each job, and than one processor for each', (t) => {
  const slowerOnes = ['HEFT10P', 'HEFT5P', '1J-1P'];
  const runs = runsOn('homogeneous-10', 'HEFT', ...slowerOnes);
  for (const slower of slowerOnes) {
    const { mean, halfInterval } = getDifference(runs, slower, 'HEFT');
    t.true(mean > halfInterval, slower);
  }
});

test('Tabela 5.6: over all approaches HPTS is more regular than HEFT', (t) => {
  const runs = runsOn('homogeneous-10', 'HEFT', 'HEFT5P', 'HEFT10P', 'HPTS', 'HPTS5P', 'HPTS10P');
  const [wide, narrow] = [getSpread(runs, 'HEFT'), getSpread(runs, 'HPTS')];
  t.true(narrow.deviations.every((deviation, draw) => deviation < (wide.deviations[draw] as number)));
  t.true(narrow.means.every((mean, draw) => mean < (wide.means[draw] as number)));
});

test('5.3: no run of the study starts a task before its job, its data or its processors', (t) => {
  for (const cluster of studyClusters) {
    const arrivals = drawOf(quick, readings[0], 0);
    for (const strategy of [...listSeedStrategies(cluster.capacities.length, true), ...listOtherStrategies()]) {
      const { workflow, schedule } = runStrategy(strategy, cluster, arrivals);
      const releasedAt = arrivals.flatMap((arrival) => arrival.workflow.tasks.map(() => arrival.at));
      const problem = {
        ...freshProblem(workflow, platformCosts(workflow, getPlatform(cluster)), cluster.capacities.length),
        releasedAt,
      };
      t.is(findScheduleFault(problem, schedule), undefined, `${strategy.name} on ${cluster.name}`);
    }
  }
});

test('the same measurements, the same page, with a figure for each cluster and a verdict for each claim', (t) => {
  const clusters = studyClusters.map(
    (cluster): ClusterRuns => ({
      cluster,
      runs: new Map(
        [...listSeedStrategies(cluster.capacities.length, true), ...listOtherStrategies()].map(({ name }, place) => [
          name,
          [1, 2, 3].map((draw) => ({ makespan: 100 * (place + 1) + draw, utilisation: 0.5, wait: 1 })),
        ]),
      ),
    }),
  );
  const study: [ReadingRuns] = [{ reading: readings[0], clusters }];
  const { page, figures } = reportWorkflows(quick, study, 'moreira2009');
  t.is(page, reportWorkflows(quick, study, 'moreira2009').page);
  t.deepEqual(
    [...figures.keys()],
    ['5.1', '5.2', '5.3', '5.4', '5.5', '5.6'].map((number) => `figure-${number}.svg`),
  );
  t.regex(
    page,
    /\| 5\.3\.1 \| 10 processors: HEFT slightly ahead of HPTS \| \*\*not held\*\* \| not in 1 of 1: HEFT under HPTS on homogeneous-10: -66\./,
  );
  t.regex(page, /\| 5\.3\.1 \| 20 processors: HPTS ahead of HEFT \| held \|/);
  t.false(/NaN|undefined|Infinity/.test(page));
  t.deepEqual(listMakespans(clusters[0]!, 'HPTS'), [101, 102, 103]);
});
