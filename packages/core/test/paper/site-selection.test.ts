// gonzalez2010: admissible allocation, the 14 strategies and Theorem 1, computed by hand.
import test from 'ava';
import {
  AdmissibleSets,
  getBound,
  findSiteSelectionStrategy,
  measurePlacement,
  SiteSelectionTable,
  QueueModel,
  type AssignedResource,
} from '@mutirao/core/site-selection';
import { Prng } from '@mutirao/core/shared';

const seedSizes = [4, 4, 4, 4, 8, 8, 8, 16, 16, 32, 32];

test('section 3: admissible are f(j)..r(j), the least r whose sum is a of the sum of all that are available', (t) => {
  const sets = new AdmissibleSets(seedSizes);
  const getRange = (width: number, a: number): string => {
    const { first, last } = sets.getRange(width, a)!;
    return `${first + 1}..${last + 1}`;
  };
  // m(1, 11) = 136, half of it is 68: 16 + 24 + 16 = 56 is too little, 72 is enough.
  t.is(getRange(1, 0.5), '1..9');
  t.is(getRange(4, 0.5), '1..9');
  // m(5, 11) = 120: 24 + 32 = 56 is less than 60.
  t.is(getRange(5, 0.5), '5..10');
  // m(8, 11) = 96: 16 + 16 = 32, with the first of 32 it is 64.
  t.is(getRange(9, 0.5), '8..10');
  // m(10, 11) = 64: the first alone is half of it.
  t.is(getRange(17, 0.5), '10..10');
  t.is(getRange(17, 0.6), '10..11');
  t.is(getRange(1, 0.6), '1..10');
  for (const width of [1, 5, 9, 17]) t.is(getRange(width, 1).split('..')[1], '11', 'a = 1 restricts nothing');
  for (const width of [1, 5, 9, 17])
    t.is(getRange(width, 0.8), getRange(width, 1), 'from 104/136 on nothing is restricted');
  t.is(getRange(5, 0), '5..5', 'a = 0 leaves f(j)');
  t.is(sets.getRange(33, 1), undefined);
});

test('Theorem 1: 1 + 4/a^2 and 1 + 4/(a(1 - a)), 17 at a = 0.5', (t) => {
  t.deepEqual(getBound(0.5), { below: 17, above: 17, worst: 17 });
  t.deepEqual(getBound(1), { below: 5, above: Infinity, worst: Infinity });
  t.is(getBound(0).worst, Infinity);
});

/**
 * Resources of 4 and 8 processors at 10. On the first runs one of 2 from 0 to 20 (r = 0), and one of 4 x 10 waits (r =
 * 5): it starts at 20, ends at 30.
 * On the second runs one of 8 from 0 to 24 (r = 0). The new task is 2 x 6, r = 10: on the first it starts at 30 and
 * ends at 36, on the second at 24 and 30.
 */
function decide(strategy: string): AssignedResource {
  const [small, large] = [new QueueModel(4), new QueueModel(8)];
  small.add(1, { width: 2, walltime: 20, submittedAt: 0 }, 0);
  small.start(1, 0);
  large.add(2, { width: 8, walltime: 24, submittedAt: 0 }, 0);
  large.start(2, 0);
  small.add(3, { width: 4, walltime: 10, submittedAt: 5 }, 5);
  const table = new SiteSelectionTable([
    { name: 'small', book: small, level: 4, receivedAt: 10 },
    { name: 'large', book: large, level: 4, receivedAt: 10 },
  ]);
  const rules = { strategy: findSiteSelectionStrategy(strategy)!, admissibility: 1, staleAfter: 0 };
  const decision = table.decide(rules, { width: 2, walltime: 6, submittedAt: 10 }, 10, new Prng('paper'));
  if (decision.kind !== 'assigned') throw new Error('not placed');
  return decision;
}

const byHand: readonly (readonly [strategy: string, equation: number, small: number, large: number])[] = [
  ['min-lp', 3, 3 / 4, 2 / 8],
  ['min-pl', 4, 8 / 4, 10 / 8],
  // On the small one 8/4 and 8/8, mean 1.5; on the large one 6/4 and 10/8, mean 1.375.
  ['min-lbal', 5, Math.sqrt((0.25 + 0.25) / 2), Math.sqrt((0.125 ** 2 + 0.125 ** 2) / 2)],
  ['min-lb', 6, (40 + 40 + 12) / 4, (192 + 12) / 8],
  ['min-ct', 7, 36, 30],
  ['min-swct', 8, 2 * 20 + 4 * 30 + 2 * 36, 8 * 24 + 2 * 30],
  ['min-wt', 9, (0 + 15 + 20) / 3, (0 + 14) / 2],
  ['min-wwt', 10, (0 + 15 * 4 + 20 * 2) / 3, (0 + 14 * 2) / 2],
  ['min-u', 11, 92 / (36 * 4), 204 / (30 * 8)],
  ['min-st', 12, 26, 20],
  ['min-ta', 13, (20 + 25 + 26) / 3, (24 + 20) / 2],
  ['min-wta', 14, (20 * 2 + 25 * 4 + 26 * 2) / 3, (24 * 8 + 20 * 2) / 2],
  ['min-wwota', 15, (20 * 40 + 25 * 40 + 26 * 12) / 3, (24 * 192 + 20 * 12) / 2],
];

for (const [strategy, equation, small, large] of byHand) {
  test(`Eq. ${equation}: ${strategy} compares what was computed by hand`, (t) => {
    const decision = decide(strategy);
    t.deepEqual(decision.values, [small, large]);
    t.is(decision.index, small <= large ? 0 : 1);
    t.is(decision.strategy, strategy);
  });
}

test('Eq. 2: Random takes each admissible resource about equally often', (t) => {
  const table = new SiteSelectionTable(
    seedSizes.map((size, index) => ({ name: `c${index}`, book: new QueueModel(size), level: 0, receivedAt: 0 })),
  );
  const prng = new Prng('random');
  const counts = new Array<number>(11).fill(0);
  const rules = { strategy: findSiteSelectionStrategy('random')!, admissibility: 0.5, staleAfter: 0 };
  for (let run = 0; run < 9000; run += 1) {
    const decision = table.decide(rules, { width: 1, walltime: 1, submittedAt: 0 }, 0, prng);
    if (decision.kind === 'assigned') counts[decision.index]! += 1;
  }
  t.deepEqual(counts.slice(9), [0, 0]);
  for (const count of counts.slice(0, 9)) t.true(count > 850 && count < 1150, `${count} of 9000`);
});

test('m1 to m14 of three tasks on 4 processors, by hand', (t) => {
  // Submitted at 0, 0 and 10; the second waits for the first, the third for nobody.
  const tasks = [
    { submittedAt: 0, width: 4, runTime: 20, endedAt: 20 },
    { submittedAt: 0, width: 2, runTime: 40, endedAt: 60 },
    { submittedAt: 10, width: 1, runTime: 10, endedAt: 30 },
  ];
  t.deepEqual(measurePlacement(tasks, 4), [
    60 / (170 / 4),
    60,
    170 / 240,
    70,
    3 / 60,
    100 / 3,
    (80 + 120 + 20) / 3,
    (1600 + 4800 + 200) / 3,
    30 / 3,
    (40 + 10) / 3,
    100 / 3,
    (1 + 1.5 + 2) / 3,
    1,
    100 / 70,
  ]);
  // No schedule ends before a task that was submitted late has run.
  t.is(measurePlacement([{ submittedAt: 50, width: 1, runTime: 10, endedAt: 60 }], 4)[0], 1);
});
