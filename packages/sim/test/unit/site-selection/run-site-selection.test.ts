import test from 'ava';
import { findSiteSelectionStrategy, siteSelectionStrategies } from '@mutirao/core/site-selection';
import {
  conservativeBackfilling,
  easyBackfilling,
  firstComeFirstServed,
  replayRequests,
  type TracedRequest,
} from '@mutirao/core/queue';
import { InvariantError, Prng } from '@mutirao/core/shared';
import { runSiteSelection } from '@mutirao/sim';

const policies = [firstComeFirstServed, easyBackfilling, conservativeBackfilling('start-now')];

function drawStream(seed: string, count: number, widthMax: number): TracedRequest[] {
  const prng = new Prng(seed);
  let submittedAt = 0;
  return Array.from({ length: count }, () => {
    submittedAt += prng.below(12);
    const walltime = 1 + prng.below(60);
    return { submittedAt, width: 1 + prng.below(widthMax), walltime, runTime: 1 + prng.below(walltime) };
  });
}

for (const policy of policies) {
  test(`on one cluster, placing is replaying, under ${policy.name}`, (t) => {
    const stream = drawStream('one', 120, 8);
    const starts = replayRequests(policy, 8, stream).map(({ startedAt }) => startedAt);
    for (const strategy of siteSelectionStrategies) {
      const { finished } = runSiteSelection({ sizes: [8], policy, strategy, admissibility: 1, seed: '1' }, stream);
      t.deepEqual(
        finished.map(({ endedAt, runTime }) => endedAt - runTime),
        starts,
        strategy.name,
      );
    }
  });

  test(`on several clusters each runs what was placed on it, under ${policy.name}`, (t) => {
    const sizes = [4, 4, 8, 16];
    const stream = drawStream('several', 160, 16);
    for (const strategy of siteSelectionStrategies) {
      const { finished, clusters, meanAdmissibility } = runSiteSelection(
        { sizes, policy, strategy, admissibility: 0.5, seed: '1' },
        stream,
      );
      t.is(meanAdmissibility, 0.5);
      sizes.forEach((size, index) => {
        const ids = stream.flatMap((_, id) => (clusters[id] === index ? [id] : []));
        const starts = replayRequests(
          policy,
          size,
          ids.map((id) => stream[id]!),
        ).map(({ startedAt }) => startedAt);
        t.deepEqual(
          ids.map((id) => finished[id]!.endedAt - stream[id]!.runTime),
          starts,
          strategy.name,
        );
      });
    }
  });
}

test('the same setup gives the same run, also with an a that moves', (t) => {
  const stream = drawStream('same', 2000, 16);
  const run = (seed: string): readonly number[] =>
    runSiteSelection(
      {
        sizes: [4, 4, 8, 16],
        policy: firstComeFirstServed,
        strategy: findSiteSelectionStrategy('random')!,
        admissibility: 'adaptive',
        seed,
      },
      stream,
    ).clusters;
  t.deepEqual(run('1'), run('1'));
  t.notDeepEqual(run('1'), run('2'));
});

test('Min_ST starts a task at once where some cluster is free', (t) => {
  const stream = [0, 0, 0].map((submittedAt) => ({ submittedAt, width: 4, walltime: 10, runTime: 10 }));
  const { clusters } = runSiteSelection(
    {
      sizes: [4, 4, 8],
      policy: firstComeFirstServed,
      strategy: findSiteSelectionStrategy('min-st')!,
      admissibility: 1,
      seed: '1',
    },
    stream,
  );
  t.deepEqual(clusters, [0, 1, 2]);
});

test('an a out of 0..1 stops the simulation at its first task', (t) => {
  const stream = [{ submittedAt: 0, width: 1, walltime: 1, runTime: 1 }];
  for (const admissibility of [-0.1, 1.1, NaN]) {
    const setup = {
      sizes: [4, 8],
      policy: firstComeFirstServed,
      strategy: findSiteSelectionStrategy('min-st')!,
      admissibility,
      seed: '1',
    };
    t.throws(() => runSiteSelection(setup, stream), {
      instanceOf: InvariantError,
      message: `admissibility is ${admissibility}; expected 0..1`,
    });
  }
});

test('a task that is wider than every cluster stops the simulation', (t) => {
  const setup = {
    sizes: [4],
    policy: firstComeFirstServed,
    strategy: findSiteSelectionStrategy('min-st')!,
    admissibility: 1,
    seed: '1',
  };
  t.throws(() => runSiteSelection(setup, [{ submittedAt: 0, width: 5, walltime: 1, runTime: 1 }]), {
    instanceOf: InvariantError,
    message: /5 processors.*\(4\)/,
  });
});
