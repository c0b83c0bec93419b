import test from 'ava';
import { runTrustBag, studyTrust, type TrustCase } from '@mutirao/sim/trust';

const usual: TrustCase = {
  verification: { kind: 'none' },
  machineCount: 40,
  taskCount: 400,
  saboteurShare: 0.1,
  errorRate: 0.5,
  colludes: false,
  honestUntil: 0,
};

test('without verification as many results are wrong as saboteurs make so, and each task runs once', (t) => {
  const { wrongCount, runCount, takenCount } = runTrustBag(usual, 'a');
  t.true(wrongCount > 8 && wrongCount < 36);
  t.deepEqual([runCount, takenCount], [400, 400]);
});

test('votes take no result of a saboteur that errs alone, and credibility takes fewer runs for it', (t) => {
  const vote = runTrustBag({ ...usual, verification: { kind: 'vote', count: 3 } }, 'a');
  const credibility = runTrustBag({ ...usual, verification: { kind: 'credibility', threshold: 0.99 } }, 'a');
  t.is(vote.wrongCount, 0);
  t.true(credibility.wrongCount <= 4);
  t.true(credibility.runCount < vote.runCount);
  t.deepEqual([vote.quarantinedHonest, credibility.quarantinedHonest], [0, 0]);
});

test('honest machines alone are never caught, and each task is taken', (t) => {
  const { quarantinedHonest, wrongCount, takenCount, hungCount } = runTrustBag(
    { ...usual, saboteurShare: 0, verification: { kind: 'credibility', threshold: 0.99 } },
    'b',
  );
  t.deepEqual([quarantinedHonest, wrongCount, takenCount, hungCount], [0, 0, 400, 0]);
});

test('the same seed, the same bag, and a report of each kind of saboteurs with its picture', (t) => {
  t.deepEqual(runTrustBag(usual, 'c'), runTrustBag(usual, 'c'));
  const { markdown, svg, partCount, runCount } = studyTrust({ bagCount: 1, taskCount: 5, seed: 'x' });
  t.is(markdown.match(/^## Saboteurs/gm)?.length, 6);
  t.deepEqual([partCount, runCount], [42, 42]);
  t.true(svg.startsWith('<svg'));
});
