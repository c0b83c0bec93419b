import test from 'ava';
import {
  credibilityOfMachine,
  defaultConvictionRules,
  defaultCredibilityRules,
  isConvicted,
  judgeOutvoted,
} from '@mutirao/core/trust';

const judge = (digests: string, passes = 0) =>
  judgeOutvoted(
    [...digests].map((digest, index) => ({ voter: `m${index}`, digest })),
    'a',
    {
      rules: defaultConvictionRules,
      getCredibility: () => credibilityOfMachine(passes, defaultCredibilityRules),
    },
  );

test('Sarmenta 2002: three unknown machines are right against one with 0.9275, which convicts none; four are with 0.98, five with 0.995', (t) => {
  t.is(Math.round(judge('aaab').certainty * 1e4), 9275);
  t.false(judge('aaab').isCertain);
  t.false(judge('aaaab').isCertain);
  t.true(judge('aaaaab').isCertain);
});

test('two machines with a record are enough, and one is not, however much it is believed', (t) => {
  t.true(judge('aab', 10).isCertain);
  t.true(judge('a', 1000).certainty > defaultConvictionRules.certainty);
  t.false(judge('a', 1000).isCertain);
});

test('evidence that is weak convicts when there is enough of it, and certain evidence at once', (t) => {
  t.deepEqual(
    [1, 2, 3, 4].map((evidenceCount) => isConvicted({ isCertain: false, evidenceCount }, defaultConvictionRules)),
    [false, false, true, true],
  );
  t.true(isConvicted({ isCertain: true, evidenceCount: 1 }, defaultConvictionRules));
});
