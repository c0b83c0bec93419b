import test from 'ava';
import type { ProviderChange } from '@mutirao/core/machines/provider';
import { cautiousScenario, drawScenario, readScenario, runWorld } from '../../src/index.ts';

test('first requests are kept small and grow as tasks outlast them, and all comes to its end, in fourteen worlds of faults', (t) => {
  let [first, next] = [0, 0];
  for (let seed = 0; seed < 14; seed += 1) {
    const { failure } = runWorld(cautiousScenario(drawScenario(String(seed))), ({ process, changes }) => {
      if (!process.startsWith('provider')) return;
      for (const change of changes as readonly ProviderChange[]) {
        const [reason] = change.kind === 'RequestDrafted' ? change.reasons : [];
        if (reason?.code !== 'first-request') continue;
        if (reason.outlastedMs > 0) next += 1;
        else first += 1;
      }
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.true(first >= 24, `${first} first requests`);
  t.true(next >= 6, `${next} larger ones`);
});

test('a world whose first requests are kept small survives being written down', (t) => {
  const scenario = cautiousScenario(drawScenario('7'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
