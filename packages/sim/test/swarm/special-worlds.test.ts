import test from 'ava';
import {
  doubtfulScenario,
  drawScenario,
  gentleScenario,
  racingScenario,
  regretfulScenario,
  runWorld,
} from '../../src/index.ts';

test('where only connections break, and often, nothing is lost in fifty worlds', (t) => {
  for (let seed = 0; seed < 50; seed += 1) {
    const { failure } = runWorld(gentleScenario(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});

test('where many run the same task and half of them lie, each task of fifty worlds gets one true result or a reason', (t) => {
  for (let seed = 0; seed < 50; seed += 1) {
    const { failure } = runWorld(racingScenario(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});

test('with lost calls and a lying manager, fifty worlds come to their end nevertheless', (t) => {
  for (let seed = 0; seed < 50; seed += 1) {
    const { failure } = runWorld(doubtfulScenario(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});

test('where jobs are cancelled while they run and retried at once, all tasks of twenty worlds go on', (t) => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { failure } = runWorld(regretfulScenario(drawScenario(String(seed))));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
});
