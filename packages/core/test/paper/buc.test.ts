import test from 'ava';
import {
  bucRank,
  bucWeights,
  conservativeBackfilling,
  countPrecision,
  easyBackfilling,
  firstComeFirstServed,
  getLead,
  newcomer,
  findPrecision,
  replayByScores,
  RequestPlan,
  ResourceReplay,
  usualLeadMax,
  type BucOrder,
  type QueuePolicy,
} from '@mutirao/core/queue';

const formula = (weight: number): BucOrder => ({ weight, leadMax: Infinity });

/** The scores that 100 jobs of one precision meet. */
function meanScore(precision: number): number {
  let user = newcomer;
  let sum = 0;
  for (let job = 0; job < 100; job += 1) {
    sum += user.score;
    user = countPrecision(user, precision);
  }
  return sum / 100;
}

test('buc2020, the three injected users: the fitted rule gives their mean scores as the paper prints them', (t) => {
  t.is(meanScore(0), 4.8);
  t.is(meanScore(0.5), 96.140625);
  t.is(meanScore(1), 99);
});

test('buc2020, the three real users: their mean scores lie within the range of the rule', (t) => {
  let user = newcomer;
  let sum = 0;
  for (let job = 0; job < 178; job += 1) {
    sum += user.score;
    user = countPrecision(user, 0);
  }
  t.is((sum / 178).toFixed(1), '2.7');
  for (const wanted of [45.93, 68.22])
    t.true(meanScore(0.3) < wanted && wanted < meanScore(0.4), `${meanScore(0.3)} to ${meanScore(0.4)}`);
});

test('buc2020, Eq. 1: R is the lead plus the time waited, and the larger R goes first at every instant', (t) => {
  // S = 50, W = 3600 s: 40 + 5.555... points.
  t.is(Math.round(getLead(formula(1440), 50, 3_600_000)), 65_600_000);
  t.is(Math.round(getLead(formula(10_800), 50, 3_600_000)), 492_000_000);
  const requests = [
    { score: 3, walltime: 60_000, submittedAt: 5000 },
    { score: 96, walltime: 3_600_000, submittedAt: 90_000_000 },
    { score: 60, walltime: 600_000, submittedAt: 1 },
  ];
  for (const weight of bucWeights) {
    const order = formula(weight);
    const byRank = [...requests].sort((one, other) => bucRank(order, one) - bucRank(order, other));
    for (const now of [1e8, 1e9, 1e12]) {
      const worth = ({ score, walltime, submittedAt }: (typeof requests)[number]): number =>
        (score * 0.8 + (1 / (walltime / 1000 / 100_000)) * 0.2) * weight + (now - submittedAt) / 1000;
      t.deepEqual(
        [...requests].sort((one, other) => worth(other) - worth(one)),
        byRank,
      );
    }
  }
});

test('buc2020, Eq. 2: precision is run time over walltime, and jobs that overran are discarded', (t) => {
  t.is(findPrecision(900, 3600), 0.25);
  t.is(findPrecision(3600, 3600), 1);
  t.is(findPrecision(0, 3600), 0);
  t.is(findPrecision(3601, 3600), undefined);
  t.throws(() => findPrecision(1, 0), { message: /walltime is 0/ });
  t.throws(() => getLead(formula(1440), 1, 0), { message: /walltime is 0/ });
});

test('a score stays within 0 and 100, and a precision within 0 and 1 is what it was made of', (t) => {
  t.deepEqual(countPrecision({ score: 99, countedCount: 1, precisionMean: 0.5 }, 1), {
    score: 100,
    countedCount: 2,
    precisionMean: 0.75,
  });
  t.is(countPrecision({ score: 1, countedCount: 1, precisionMean: 0.5 }, 0).score, 0);
});

test('the usual bound is the lead of the best score with a walltime of 1000 s', (t) => {
  for (const weight of bucWeights) t.is(usualLeadMax(weight), getLead(formula(weight), 100, 1_000_000));
  t.is(getLead({ weight: 1440, leadMax: 7 }, 100, 1), 7);
});

test('a user who estimated well goes before an earlier one, by the score of the submission; overruns change no score', (t) => {
  const one = { width: 1, walltime: 100_000, runTime: 100_000, hasOverrun: false };
  const trace = [
    { ...one, userId: 'exact', submittedAt: 0 },
    { ...one, userId: 'careless', submittedAt: 0, runTime: 1000 },
    { ...one, userId: 'overrun', submittedAt: 0, hasOverrun: true },
    { ...one, userId: 'careless', submittedAt: 250_000 },
    { ...one, userId: 'overrun', submittedAt: 250_000 },
    { ...one, userId: 'exact', submittedAt: 250_001 },
  ];
  const { requests, scores } = replayByScores(firstComeFirstServed, formula(1440), 1, [
    ...trace.slice(0, 3),
    { ...one, userId: 'blocks', submittedAt: 200_000 },
    ...trace.slice(3),
  ]);
  t.deepEqual([scores.get('exact')?.countedCount, scores.get('overrun')?.countedCount], [2, 1]);
  t.is(requests[4]?.scoreAtSubmission, 60 + -4 + 0.01 * (10.75 + 0.01 * 3.25));
  t.is(requests[5]?.scoreAtSubmission, 60);
  t.is(requests[6]?.scoreAtSubmission, 70);
  const startOf = (index: number): number => requests[index]?.startedAt ?? -1;
  t.true(startOf(6) < startOf(5) && startOf(5) < startOf(4));
});

// On 4 processors A (2, for 10) runs. Then come B (3, for 10), C (4, for 10), D (1, for 30) and E (1, for 25), whose
// ranks have D go before C, C before B and B before E.
test('buc2020, the order under each local policy, worked out by hand', (t) => {
  const requests = [
    [2, 10, 0],
    [3, 10, 3],
    [4, 10, 2],
    [1, 30, 1],
    [1, 25, 4],
  ] as const;
  const startsUnder = (policy: QueuePolicy): number[] => {
    const resource = new ResourceReplay(policy, new RequestPlan(4, 0));
    const starts: number[] = [];
    requests.forEach(([width, walltime, rank], id) => {
      resource.submit({ id, width, walltime, runTime: walltime, rank }, 0);
    });
    for (let now = 0; now < Infinity; now = resource.nextInstant) {
      resource.endDue(now);
      for (const { id } of resource.startDue(now)) starts[id] = now;
    }
    return starts;
  };
  // D is the head when it comes and starts beside A. C is the next, and wants the whole machine: nobody passes it until
  // D ends.
  t.deepEqual(startsUnder(firstComeFirstServed), [0, 40, 30, 0, 40]);
  // E would end before C can start, and is let in; that leaves B too little at 10.
  t.deepEqual(startsUnder(easyBackfilling), [0, 40, 30, 0, 0]);
  // B has its place at 10, in front of C, and E may not be in its way.
  for (const compression of ['start-now', 'reinsert'] as const)
    t.deepEqual(startsUnder(conservativeBackfilling(compression)), [0, 10, 30, 0, 40]);
});
