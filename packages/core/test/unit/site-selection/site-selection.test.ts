import test from 'ava';
import {
  AdmissibleSets,
  AdaptiveAdmissibility,
  explainChoice,
  findSiteSelectionStrategy,
  siteSelectionStrategies,
  SiteSelectionTable,
  readSiteSelectionChoice,
  QueueModel,
  type SiteSelectionDecision,
  type SiteSelectionResource,
} from '@mutirao/core/site-selection';
import { InvariantError, Prng } from '@mutirao/core/shared';

const task = { width: 2, walltime: 10, submittedAt: 0 };

function table(sizes: readonly number[], facts: Partial<SiteSelectionResource> = {}): SiteSelectionTable {
  return new SiteSelectionTable(
    sizes.map((size, index) => ({
      name: `c${index}`,
      book: new QueueModel(size),
      level: 4,
      receivedAt: Infinity,
      ...facts,
    })),
  );
}

function getRules(
  name: string,
  admissibility = 1,
): { strategy: NonNullable<ReturnType<typeof findSiteSelectionStrategy>>; admissibility: number; staleAfter: number } {
  return { strategy: findSiteSelectionStrategy(name)!, admissibility, staleAfter: 60 };
}

test('of equal values the smaller resource wins, of equal ones the first that was given', (t) => {
  const resources = table([16, 4, 4, 8]);
  t.deepEqual(
    resources.resources.map(({ name }) => name),
    ['c1', 'c2', 'c3', 'c0'],
  );
  for (const { name } of siteSelectionStrategies.filter(({ level }) => level > 2)) {
    // On idle resources a task ends at the same instant everywhere, and only sums per processor tell them apart.
    const decision = resources.decide(getRules(name), task, 0, new Prng('ties'));
    t.is(decision.kind === 'assigned' && decision.index, name === 'min-lb' || name === 'min-u' ? 3 : 0, name);
  }
});

test('a queue that is reported in sums never looks earlier: processors that come free one after the other are reported with the time of the last', (t) => {
  const book = new QueueModel(100);
  for (let id = 0; id < 100; id += 1) book.add(id, { width: 1, walltime: 10 * (id + 1), submittedAt: 0 }, 0);
  const summary = book.summarize(0);
  t.is(summary.free.length, 25);
  t.is(
    summary.free.reduce((sum, { processors }) => sum + processors, 0),
    100,
  );
  t.deepEqual(summary.free[0], { at: 40, processors: 4 });
  t.is(
    new QueueModel(100, 'unfinished', { known: summary, by: 0 }).foresee({ width: 1, walltime: 5, submittedAt: 0 }, 0)
      .endsAt,
    45,
  );
});

test('a queue that is read later is over by the same amount', (t) => {
  const book = new QueueModel(4);
  book.add(1, { width: 4, walltime: 100, submittedAt: 0 }, 0);
  const summaryAfter = (time: number): object =>
    new QueueModel(4, 'unfinished', { known: book.summarize(0), by: -time }).summarize(0);
  t.like(summaryAfter(30), {
    count: 1,
    lastEnd: 70,
    weightedEnds: 280,
    turnarounds: 100,
    free: [{ at: 70, processors: 4 }],
  });
  t.like(summaryAfter(130), { lastEnd: 0, weightedEnds: 0, free: [{ at: 0, processors: 4 }] });
});

function explain(decision: SiteSelectionDecision, names: readonly string[]): unknown {
  return decision.kind === 'too-wide' ? decision : explainChoice(decision, names);
}

test('a task that is wider than every resource is refused with the widest there is', (t) => {
  const decision = table([4, 8]).decide(getRules('min-ct'), { ...task, width: 9 }, 0, new Prng('wide'));
  t.deepEqual(decision, { kind: 'too-wide', width: 9, widest: 8 });
  t.deepEqual(table([]).decide(getRules('random'), task, 0, new Prng('none')), {
    kind: 'too-wide',
    width: 2,
    widest: 0,
  });
});

test('an admissibility out of 0..1 is invalid', (t) => {
  for (const a of [-0.1, 1.1, NaN])
    t.throws(() => table([4]).decide(getRules('min-ct', a), task, 0, new Prng('a')), { instanceOf: InvariantError });
});

test('a stale queue is believed as to what was assigned, and all are compared by Min_LB', (t) => {
  const [fresh, stale] = [new QueueModel(4), new QueueModel(4)];
  fresh.add(1, { width: 4, walltime: 100, submittedAt: 0 }, 0);
  const resources = new SiteSelectionTable([
    { name: 'fresh', book: fresh, level: 4, receivedAt: 1000 },
    { name: 'stale', book: stale, level: 4, receivedAt: 900 },
  ]);
  const decision = resources.decide(getRules('min-st'), task, 1000, new Prng('stale'));
  t.like(decision, { kind: 'assigned', index: 1, strategy: 'min-lb', lacking: [{ index: 1, level: 3, why: 'stale' }] });
  t.like(explain(decision, ['fresh', 'stale']), {
    strategy: 'min-lb',
    admissibility: 1,
    comparedSites: ['fresh=105', 'stale=5'],
    unknownSites: [],
    staleSites: ['stale'],
  });
});

test('with a resource known by size alone all are compared by chance, but only if it is admissible', (t) => {
  const resources = new SiteSelectionTable([
    { name: 'small', book: new QueueModel(4), level: 4, receivedAt: Infinity },
    { name: 'large', book: new QueueModel(64), level: 0, receivedAt: 0 },
  ]);
  t.like(resources.decide(getRules('min-ct'), task, 0, new Prng('x')), {
    strategy: 'random',
    lacking: [{ index: 1, level: 0, why: 'unknown' }],
  });
  t.like(resources.decide(getRules('min-ct', 0), task, 0, new Prng('x')), {
    strategy: 'min-ct',
    index: 0,
    lacking: [],
  });
  t.like(resources.decide(getRules('random'), task, 0, new Prng('x')), { strategy: 'random', lacking: [] });
});

test('where one resource alone is admissible, nothing is compared', (t) => {
  const decision = table([4, 8]).decide(getRules('min-ct'), { ...task, width: 5 }, 0, new Prng('x'));
  t.like(decision, { index: 1, values: [], lacking: [] });
  t.like(explain(decision, ['small', 'large']), { admissibility: 1, comparedSites: [], furtherSites: 0 });
});

test('an a that is a fraction of processors is printed with four digits', (t) => {
  const decision = table([4, 8, 11]).decide(getRules('min-ct', 12 / 23), task, 0, new Prng('x'));
  t.like(explain(decision, ['small', 'medium', 'large']), { strategy: 'min-ct', admissibility: 0.5217 });
});

test('levels between fall back to the strategy of theirs', (t) => {
  for (const [level, strategy] of [
    [1, 'min-lp'],
    [2, 'min-pl'],
    [3, 'min-lb'],
  ] as const) {
    t.like(table([4, 8], { level }).decide(getRules('min-wt'), task, 0, new Prng('x')), { strategy });
  }
});

test('a user names a strategy and a, and a fault of either is reported', (t) => {
  t.deepEqual(readSiteSelectionChoice('min-ct:0.5'), {
    strategy: findSiteSelectionStrategy('min-ct')!,
    admissibility: 0.5,
  });
  t.like(readSiteSelectionChoice('min-lb'), { admissibility: 1 });
  t.like(readSiteSelectionChoice('min-lb:adaptive'), { admissibility: 'adaptive' });
  for (const bad of ['min-lb:1.5', 'min-lb:-0.1', 'min-lb:', 'min-lb:x', 'min-lb:0.5:1', 'best:0.5', ''])
    t.true('fault' in readSiteSelectionChoice(bad), bad);
  t.deepEqual(readSiteSelectionChoice('min-lb:2'), {
    fault: { code: 'site-selection-admissibility-invalid', text: 'min-lb:2', admissibility: '2' },
  });
});

test('a task that runs beyond its walltime is expected to end at once, and delays waiting ones', (t) => {
  const book = new QueueModel(4);
  book.add(1, { width: 4, walltime: 10, submittedAt: 0 }, 0);
  book.start(1, 0);
  book.add(2, { width: 4, walltime: 10, submittedAt: 0 }, 0);
  t.is(book.foresee(task, 5).endsAt, 30);
  t.is(book.foresee(task, 15).endsAt, 35);
});

test('the variant that counts ended tasks keeps them in its sums, with the end that they had', (t) => {
  const book = new QueueModel(4, 'all');
  book.add(1, { width: 4, walltime: 10, submittedAt: 0 }, 0);
  book.start(1, 0);
  book.end(1, 6);
  t.like(book.foresee({ width: 2, walltime: 10, submittedAt: 6 }, 6), {
    taskCount: 2,
    widthSum: 6,
    workSum: 60,
    lastEnd: 16,
    turnarounds: 16,
    walltimes: 20,
    endsAt: 16,
  });
  book.add(2, { width: 1, walltime: 5, submittedAt: 7 }, 7);
  book.end(2, 8);
  t.is(book.countWith(1, 1).taskCount, 2, 'a task withdrawn before it began does not count as ended');
});

test('adaptive a restricts nothing while the load is low, and keeps narrow tasks off large resources where these are wanted', (t) => {
  const sizes = [4, 4, 4, 4, 8, 8, 8, 16, 16, 32, 32];
  const feed = (gap: number, widths: readonly number[]): number => {
    const adaptive = new AdaptiveAdmissibility(new AdmissibleSets(sizes));
    for (let arrival = 0; arrival < 2000; arrival += 1) {
      const width = widths[arrival % widths.length]!;
      adaptive.noteArrival(width, arrival * gap);
      adaptive.noteEnd(width, 1000);
    }
    return adaptive.value;
  };
  t.is(feed(1000, [1, 32]), 1);
  const wide = feed(250, [1, 32]);
  const sets = new AdmissibleSets(sizes);
  t.deepEqual(sets.getRange(32, wide), { first: 9, last: 10 }, `a = ${wide}`);
  t.true(sets.getRange(1, wide)!.last < 9, `a = ${wide}`);
  t.is(feed(5, [1]), 1, 'where nobody needs large resources, all are used');
  const adaptive = new AdaptiveAdmissibility(new AdmissibleSets([4]));
  adaptive.noteArrival(5, 0);
  adaptive.noteEnd(5, 10);
  t.is(adaptive.value, 1);
});

test('the busiest resource is as busy as tasks make it that are spread as evenly as their sets allow', (t) => {
  const adaptive = new AdaptiveAdmissibility(new AdmissibleSets([4, 8]));
  for (let arrival = 0; arrival < 8000; arrival += 1) {
    const width = arrival % 4 === 3 ? 8 : 4;
    adaptive.noteArrival(width, 100 * arrival);
    adaptive.noteEnd(width, 200);
  }
  const near = (value: number, wanted: number): void => {
    t.true(Math.abs(value - wanted) < 0.01 * wanted, `${value}; expected about ${wanted}`);
  };
  // In 400 ms come 3 x 4 x 200 of narrow work and 8 x 200 of wide: 6 and 4 processors are busy with it.
  near(adaptive.peakLoadAt(1), 10 / 12);
  near(adaptive.peakLoadAt(0), 6 / 4);
});

test('an a that follows the load keeps what it learnt when resources change, except for tasks too wide for all', (t) => {
  const learn = (sizes: readonly number[]): AdaptiveAdmissibility => {
    const adaptive = new AdaptiveAdmissibility(new AdmissibleSets(sizes));
    for (let now = 1; now <= 400; now += 1) {
      adaptive.noteArrival(now % 4 === 0 ? 8 : 4, now);
      adaptive.noteEnd(now % 4 === 0 ? 8 : 4, 2);
    }
    return adaptive;
  };
  const adaptive = learn([4, 8, 16]);
  const same = adaptive.over(new AdmissibleSets([4, 8, 16]));
  for (const a of [0, 0.5, 1]) t.is(same.peakLoadAt(a), adaptive.peakLoadAt(a));
  t.is(same.value, adaptive.value);
  // All that comes is wanted of the one that is left, and is twice as much for it as for two alike.
  t.is(
    adaptive.over(new AdmissibleSets([16])).peakLoadAt(1),
    2 * adaptive.over(new AdmissibleSets([16, 16])).peakLoadAt(1),
  );
  t.true(
    adaptive.over(new AdmissibleSets([4])).peakLoadAt(1) <
      (adaptive.over(new AdmissibleSets([4, 8])).peakLoadAt(1) * 12) / 4,
  );
  t.is(adaptive.over(new AdmissibleSets([2])).peakLoadAt(1), 0);
});
