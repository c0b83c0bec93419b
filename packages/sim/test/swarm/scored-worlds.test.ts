import test from 'ava';
import type { ClusterChange } from '@mutirao/core/machines/cluster';
import { drawScenario, readScenario, runWorld, type Scenario } from '../../src/index.ts';

/** The same world where queues are by scores, which are worth minutes, or hours. */
function byScores(scenario: Scenario, seed: number): Scenario {
  const weight = [10, 300][seed % 2] ?? 0;
  const busy = { localPerHour: 60, requestsMax: 6 };
  return {
    ...scenario,
    clusters: scenario.clusters.map((cluster) => ({
      ...cluster,
      ...busy,
      order: { weight, leadMax: 100_000 * weight },
    })),
  };
}

test('under faults a queue by scores loses nothing, and providers that forecast by it bring their jobs to an end', (t) => {
  const counts = new Map<string, number>();
  for (let seed = 0; seed < 12; seed += 1) {
    const { failure } = runWorld(byScores(drawScenario(String(seed)), seed), ({ changes }) => {
      for (const { kind } of changes as readonly ClusterChange[]) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  for (const [kind, least] of [
    ['ScoreChanged', 60],
    ['RequestDisplaced', 100],
  ] as const)
    t.true((counts.get(kind) ?? 0) >= least, `${kind}: ${counts.get(kind)}`);
});

test('a world of queues by scores survives being written down', (t) => {
  const scenario = byScores(drawScenario('7'), 7);
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
