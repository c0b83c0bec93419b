// gonzalez2010, section 5: what the study's runs must show whatever the workload.
import test from 'ava';
import type { TracedRequest } from '@mutirao/core/queue';
import { Prng } from '@mutirao/core/shared';
import { measurePart, mixes, type PlacementPart } from '@mutirao/sim/gonzalez2010';

function drawLog(): TracedRequest[] {
  const prng = new Prng('gonzalez2010');
  let submittedAt = 0;
  return Array.from({ length: 37_000 }, () => {
    submittedAt += prng.below(60_000);
    const walltime = 1000 * (1 + prng.below(7200));
    return { submittedAt, width: 1 + prng.below(prng.below(4) === 0 ? 32 : 4), walltime, runTime: 1 + prng.below(walltime) };
  });
}

test('Table III: m6 is m11, and a too small an a lengthens the schedule', (t) => {
  const part: PlacementPart = { id: 'x', mix: mixes.logs, experiment: 0, load: 0.7, strategy: 'min-pl', isQuick: true };
  const { cases, facts } = measurePart(part, [drawLog()], '1');
  const at = (a: number | 'adaptive'): readonly number[] => cases.find(({ admissibility, counted }) => admissibility === a && counted === 'unfinished')!.metrics;
  t.true(at(0)[1]! > at(0.6)[1]!);
  for (const { metrics, theoremRatio, meanAdmissibility } of cases) {
    t.is(metrics[5], metrics[10]);
    t.true(metrics[0]! >= 1 && theoremRatio > 0 && theoremRatio <= 1 && meanAdmissibility >= 0 && meanAdmissibility <= 1);
  }
  t.is(facts.taskCount, 36_770);
  t.true(Math.abs(facts.taskShares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
});
