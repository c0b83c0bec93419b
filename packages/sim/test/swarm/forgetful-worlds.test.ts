import test from 'ava';
import { drawScenario, forgetfulScenario, runWorld } from '../../src/index.ts';

test("if the broker's journal is lost again and again, no replica of a former one counts for the next, and twelve worlds come to their end", (t) => {
  let lostCount = 0;
  for (let seed = 0; seed < 12; seed += 1) {
    const { failure } = runWorld(forgetfulScenario(drawScenario(String(seed))), undefined, ({ kind }) => {
      if (kind === 'JournalLost') lostCount += 1;
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.true(lostCount > 100, `${lostCount} journals lost`);
});
