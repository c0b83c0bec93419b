import test from 'ava';
import {
  getCredibilityMax,
  credibilityOfGroups,
  credibilityOfMachine,
  decideByCredibility,
  defaultCredibilityRules,
  isSpotCheck,
} from '@mutirao/core/trust';

const rules = { faultyShareMax: 0.2, quarantines: true, votesMax: 15 };
const near = (value: number) => Math.round(value * 1e6) / 1e6;
const decide = (votes: readonly (readonly [string, string, number])[], threshold: number, votesMin = 1) => {
  const passes = new Map(votes.map(([voter, _digest, count]) => [voter, count]));
  return decideByCredibility(
    votes.map(([voter, digest]) => ({ voter, digest })),
    { threshold, votesMin },
    {
      rules,
      getCredibility: (voter) => credibilityOfMachine(passes.get(voter) ?? 0, rules),
    },
  );
};

test('Sarmenta 2002: a worker that passed k checks is believed to 1 - f/((1-f)ke) with a blacklist and to 1 - f/k without', (t) => {
  t.is(credibilityOfMachine(0, rules), 0.8);
  t.is(near(credibilityOfMachine(10, rules)), near(1 - 0.2 / (0.8 * 10 * Math.E)));
  t.is(credibilityOfMachine(20, { ...rules, quarantines: false }), 0.99);
  t.is(credibilityOfMachine(1, { ...rules, quarantines: false }), 0.8);
});

test('Sarmenta 2002: two results that agree are believed more than each, and one against them less', (t) => {
  const groups = [
    { digest: 'a', voters: ['x', 'y'] },
    { digest: 'b', voters: ['z'] },
  ];
  const [agreed = 0, alone = 0] = credibilityOfGroups(groups, () => 0.8);
  // 0.64 x 0.2, 0.8 x 0.04 and 0.04 x 0.2 where all are wrong.
  t.is(near(agreed), near(0.128 / (0.128 + 0.032 + 0.008)));
  t.is(near(alone), near(0.032 / (0.128 + 0.032 + 0.008)));
  t.is(near(credibilityOfGroups([{ digest: 'a', voters: ['x'] }], () => 0.8)[0] ?? 0), 0.8);
});

test('a machine that is trusted enough costs no further run', (t) => {
  t.deepEqual(decide([['x', 'a', 10]], 0.99), { kind: 'accepted', digest: 'a' });
  t.deepEqual(decide([['x', 'a', 9]], 0.99), { kind: 'open', votesMissing: 1 });
});

test('unknown machines need as many equal results as the threshold takes', (t) => {
  t.deepEqual(decide([], 0.99), { kind: 'open', votesMissing: 1 });
  t.deepEqual(decide([['x', 'a', 0]], 0.99), { kind: 'open', votesMissing: 3 });
  t.deepEqual(
    decide(
      [
        ['x', 'a', 0],
        ['y', 'a', 0],
        ['z', 'a', 0],
      ],
      0.99,
    ),
    { kind: 'open', votesMissing: 1 },
  );
  t.deepEqual(
    decide(
      [
        ['x', 'a', 0],
        ['y', 'a', 0],
        ['z', 'a', 0],
        ['w', 'a', 0],
      ],
      0.99,
    ),
    { kind: 'accepted', digest: 'a' },
  );
});

test('a contradiction costs a trusted result its credibility until others agree with it', (t) => {
  t.is(
    decide(
      [
        ['x', 'a', 10],
        ['y', 'b', 0],
      ],
      0.99,
    ).kind,
    'open',
  );
  t.deepEqual(
    decide(
      [
        ['x', 'a', 10],
        ['y', 'b', 0],
        ['z', 'a', 10],
      ],
      0.99,
    ),
    { kind: 'accepted', digest: 'a' },
  );
});

test('a spot check is held for a second vote, however trusted the first was', (t) => {
  t.deepEqual(decide([['x', 'a', 1000]], 0.99, 2), { kind: 'open', votesMissing: 1 });
  t.deepEqual(
    decide(
      [
        ['x', 'a', 1000],
        ['y', 'a', 0],
      ],
      0.99,
      2,
    ),
    { kind: 'accepted', digest: 'a' },
  );
});

test('a task whose results never agree is given up', (t) => {
  const votes = Array.from(
    { length: defaultCredibilityRules.votesMax },
    (_, index) => [`m${index}`, `d${index}`, 0] as const,
  );
  t.deepEqual(decide(votes, 0.99), { kind: 'deadlocked' });
  t.is(decide(votes.slice(1), 0.99).kind, 'open');
});

test('the greatest threshold is reached when all unknown machines agree, and no greater one', (t) => {
  const agreed = Array.from({ length: rules.votesMax }, (_, index) => [`m${index}`, 'same', 0] as const);
  const most = getCredibilityMax(rules);
  t.is(near(most), 1);
  t.deepEqual(decide(agreed, most), { kind: 'accepted', digest: 'same' });
  t.deepEqual(decide(agreed, (1 + most) / 2), { kind: 'deadlocked' });
});

test('the share of tasks that are spot checks is the configured one, and without the secret they cannot be predicted', (t) => {
  const chosen = (secret: string) =>
    Array.from({ length: 4000 }, (_, taskIndex) => isSpotCheck({ jobId: 1, taskIndex }, { rate: 0.1, secret }));
  const [one, other] = [chosen('one'), chosen('other')];
  const count = one.filter(Boolean).length;
  t.true(count > 300 && count < 500);
  const both = one.filter((isChosen, index) => isChosen && other[index]).length;
  t.true(both < 100);
});
