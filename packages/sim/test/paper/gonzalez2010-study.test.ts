// gonzalez2010, section 5: what the study's runs must show whatever the workload.
import test from 'ava';
import { getBound, findSiteSelectionStrategy, measurePlacement } from '@mutirao/core/site-selection';
import { firstComeFirstServed, type TracedRequest } from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { runSiteSelection } from '@mutirao/sim';
import {
  allProcessors,
  clusterSizes,
  measurePart,
  mixes,
  getTheoremRatio,
  type SiteSelectionPart,
} from '@mutirao/sim/gonzalez2010';

function drawLog(): TracedRequest[] {
  const prng = new Prng('gonzalez2010');
  let submittedAt = 0;
  return Array.from({ length: 37_000 }, () => {
    submittedAt += prng.below(60_000);
    const walltime = 1000 * (1 + prng.below(7200));
    return {
      submittedAt,
      width: 1 + prng.below(prng.below(4) === 0 ? 32 : 4),
      walltime,
      runTime: 1 + prng.below(walltime),
    };
  });
}

test('Table III: m6 is m11, and a too small an a lengthens the schedule', (t) => {
  const part: SiteSelectionPart = {
    id: 'x',
    mix: mixes.logs,
    experiment: 0,
    load: 0.7,
    strategy: 'min-pl',
    isQuick: true,
  };
  const { cases, facts } = measurePart(part, [drawLog()], '1');
  const at = (a: number | 'adaptive'): readonly number[] =>
    cases.find(({ admissibility, counted }) => admissibility === a && counted === 'unfinished')!.metrics;
  t.true(at(0)[1]! > at(0.6)[1]!);
  for (const { metrics, theoremRatio, meanAdmissibility } of cases) {
    t.is(metrics[5], metrics[10]);
    t.true(
      metrics[0]! >= 1 && theoremRatio > 0 && theoremRatio <= 1 && meanAdmissibility >= 0 && meanAdmissibility <= 1,
    );
  }
  t.is(facts.taskCount, 36_770);
  t.true(Math.abs(facts.taskShares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
});

test('Theorem 1: d is the last task of the cluster that ends last, b the narrowest that ran where d could', (t) => {
  const getRatio = (tasks: readonly (readonly [width: number, endedAt: number, cluster: number])[]): number =>
    getTheoremRatio({
      finished: tasks.map(([width, endedAt]) => ({ submittedAt: 0, width, runTime: 1, endedAt })),
      clusters: tasks.map(([, , cluster]) => cluster),
      meanAdmissibility: 1,
    });
  // The tenth cluster ends last, its last task is of 17: m(10, 11) = 64. A task of 1 ran on the eleventh: m(1, 11) =
  // 136.
  t.is(
    getRatio([
      [20, 99, 9],
      [17, 50, 9],
      [1, 10, 10],
    ]),
    64 / 136,
  );
  // The task of 1 ran where d could not, the narrowest of the others is of 9: m(8, 11) = 96.
  t.is(
    getRatio([
      [20, 99, 9],
      [17, 50, 9],
      [1, 10, 8],
      [9, 10, 10],
    ]),
    64 / 96,
  );
  // d is of 4, though the task that ends last is of 20: m(1, 11) of m(1, 11).
  t.is(
    getRatio([
      [20, 99, 9],
      [4, 50, 9],
      [1, 98, 0],
    ]),
    1,
  );
});

test('Theorem 1: under its conditions, tasks of one processor with stated times, Min_LB stays within the bound', (t) => {
  const prng = new Prng('Theorem 1');
  for (let run = 0; run < 60; run += 1) {
    const gap = prng.below(3) * 20;
    let submittedAt = 0;
    const stream = Array.from({ length: 1 + prng.below(400) }, () => {
      submittedAt += gap === 0 ? 0 : prng.below(gap);
      const walltime = 1 + prng.below(prng.below(5) === 0 ? 3000 : 100);
      return { submittedAt, width: 1, walltime, runTime: walltime };
    });
    // First come, first served is list scheduling for them, which is (2 - 1/m)-competitive.
    const admissibility = (1 + prng.below(10)) / 10;
    const { finished } = runSiteSelection(
      {
        sizes: clusterSizes,
        policy: firstComeFirstServed,
        strategy: findSiteSelectionStrategy('min-lb')!,
        admissibility,
        seed: '1',
      },
      stream,
    );
    const factor = measurePlacement(finished, allProcessors)[0]!;
    t.true(factor >= 1 && factor <= getBound(admissibility).below, `${factor} at a = ${admissibility}`);
  }
});
