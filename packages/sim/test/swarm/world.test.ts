import test from 'ava';
import { drawScenario, runWorld } from '../../src/index.ts';

const worldsPerTest = 50;

for (let from = 0; from < 250; from += worldsPerTest) {
  test(`under all faults in the worlds of seeds ${from} to ${from + worldsPerTest - 1}, nothing wrong is done in them and all comes to its end`, (t) => {
    for (let seed = from; seed < from + worldsPerTest; seed += 1) {
      const { failure } = runWorld(drawScenario(String(seed)));
      t.is(failure, undefined, `mutirao sim swarm --seeds 1 --from ${seed}: ${failure?.message ?? ''}`);
    }
  });
}

test('the same scenario gives the same turns', (t) => {
  const scenario = drawScenario('3');
  t.deepEqual(runWorld(scenario), runWorld(scenario));
});
