import test from 'ava';
import { drawScenario, runWorld, type Scenario } from '../../src/index.ts';

/** Clocks are right or wrong by up to hours, and are set again and again while processes run. */
function stepping(scenario: Scenario, skewMax: number): Scenario {
  return { ...scenario, faults: { ...scenario.faults, skewMax, clockStepsPerHour: 30 } };
}

test('while clocks are set by minutes no result is lost, no promise broken, nothing waits for ever, and all comes to its end', (t) => {
  let runCount = 0;
  for (let seed = 0; seed < 8; seed += 1) {
    const { failure, runCount: runs } = runWorld(stepping(drawScenario(`clocks ${seed}`), 600_000));
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
    runCount += runs;
  }
  t.true(runCount > 100, `${runCount} runs`);
});
