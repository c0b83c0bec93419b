import test from 'ava';
import { drawScenario, runWorld } from '../../src/index.ts';

test('whatever goes wrong in a hundred worlds, nothing wrong is done in them and all comes to its end', (t) => {
  for (let seed = 0; seed < 100; seed += 1) {
    const { failure } = runWorld(drawScenario(String(seed)));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});

test('the same scenario gives the same turns', (t) => {
  const scenario = drawScenario('3');
  t.deepEqual(runWorld(scenario), runWorld(scenario));
});
