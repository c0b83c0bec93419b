import test from 'ava';
import { doubtfulScenario, drawScenario, forgetfulScenario, gentleScenario, racingScenario, regretfulScenario, runWorld } from '../../src/index.ts';

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

test('where calls get lost and the manager lies, fifty worlds come to their end all the same', (t) => {
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

test('where the broker\'s journal is lost again and again, nothing that ran for a former one counts for the next, and twelve worlds come to their end', (t) => {
  let lostCount = 0;
  for (let seed = 0; seed < 12; seed += 1) {
    const { failure } = runWorld(forgetfulScenario(drawScenario(String(seed))), undefined, ({ kind }) => { if (kind === 'JournalLost') lostCount += 1; });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.true(lostCount > 100, `${lostCount} journals lost`);
});
