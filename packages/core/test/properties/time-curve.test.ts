import test from 'ava';
import fc from 'fast-check';
import {
  getBin,
  compareRun,
  expectedTotalOn,
  longestOfBin,
  slownessFactor,
  TimeCurve,
  timeMax,
  unknownSlowness,
} from '@mutirao/core/times';
import { runs } from '@mutirao/testkit';

interface Run {
  readonly time: number;
  readonly isCensored: boolean;
}

/** Times of every size, many of them near to one another. */
const time = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 5000 }),
  fc.integer({ min: 900, max: 1100 }),
  fc.integer({ min: 0, max: 10 ** 12 }),
);
const someRuns: fc.Arbitrary<Run[]> = fc.array(fc.record({ time, isCensored: fc.constantFrom(false, false, true) }), {
  minLength: 1,
  maxLength: 60,
});

function getCurve(all: readonly Run[]): TimeCurve {
  const curve = new TimeCurve();
  for (const run of all) {
    if (run.isCensored) curve.addCensored(run.time);
    else curve.add(run.time);
  }
  curve.check();
  return curve;
}

/** The product-limit estimate, the long way: the share of runs that last longer than `limit`. */
function lastingBeyond(all: readonly Run[], limit: number): number {
  let share = 1;
  for (const end of new Set(
    all
      .filter((run) => !run.isCensored && run.time <= limit)
      .map((run) => run.time)
      .toSorted((a, b) => a - b),
  )) {
    const atRisk = all.filter((run) => run.time >= end).length;
    const ended = all.filter((run) => !run.isCensored && run.time === end).length;
    share *= (atRisk - ended) / atRisk;
  }
  return share;
}

/** The first instant at which no more than so many of the runs that lasted beyond `elapsed` still last. */
function getQuantile(all: readonly Run[], share: number, elapsed: number): number | undefined {
  const left = elapsed === 0 ? 1 : lastingBeyond(all, elapsed);
  if (left === 0) return undefined;
  const ends = all
    .filter((run) => !run.isCensored && (elapsed === 0 || run.time > elapsed))
    .map((run) => run.time)
    .toSorted((a, b) => a - b);
  return ends.find((end) => lastingBeyond(all, end) <= (1 - share) * left + 1e-9 * left);
}

/** What the bins make of runs: ends at the longest time of their bin, before those that were cut off in it. */
function inBins(all: readonly Run[]): Run[] {
  const longest = Math.max(0, ...all.filter((run) => !run.isCensored).map((run) => run.time));
  return all.map(({ time: at, isCensored }) => {
    const edge = longestOfBin(getBin(at));
    return { isCensored, time: isCensored ? edge : Math.min(edge, longest) };
  });
}

test('a bin holds its own times, and is at most a sixteenth longer than the shortest of them', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: timeMax }), (at) => {
      const bin = getBin(at);
      const edge = longestOfBin(bin);
      return (
        edge >= at &&
        edge <= at + Math.floor(at / 16) &&
        getBin(edge) === bin &&
        getBin(Math.min(timeMax, edge + 1)) >= bin &&
        (bin === 0 || longestOfBin(bin - 1) < at)
      );
    }),
    runs(20_261_201, 2000),
  );
  t.true(getBin(timeMax) < 700);
});

test('quantiles are those of the product-limit estimate over the times that the bins make of them', (t) => {
  fc.assert(
    fc.property(someRuns, fc.double({ min: 0.01, max: 1, noNaN: true }), time, (all, share, elapsed) => {
      const curve = getCurve(all);
      const rounded = inBins(all);
      for (const from of [0, elapsed, all[0]?.time ?? 0]) {
        const [found, wanted] = [curve.quantile(share, from), getQuantile(rounded, share, from)];
        if (found !== wanted) throw new Error(`quantile ${share} beyond ${from}: ${found}, and the long way ${wanted}`);
      }
    }),
    runs(20_261_202, 1500),
  );
  t.pass();
});

test('no quantile is shorter than that of the exact times, and what is known of the bins alone bounds it from above', (t) => {
  fc.assert(
    fc.property(someRuns, fc.double({ min: 0.01, max: 1, noNaN: true }), (all, share) => {
      const exact = getQuantile(all, share, 0);
      const found = getCurve(all).quantile(share);
      if (exact === undefined) return;
      // The share was reached by the exact times: with all that a bin hides it may be reached a bin's width later or
      // never, not before.
      if (found !== undefined && found < exact) throw new Error(`${found} is less than ${exact}`);
      const isUncensored = all.every((run) => !run.isCensored);
      if (isUncensored && (found === undefined || found > exact + Math.floor(exact / 16)))
        throw new Error(`${found} is far beyond ${exact}`);
    }),
    runs(20_261_203, 1500),
  );
  t.pass();
});

test('the expected remaining time of a run is the integral of the estimate, and as long again beyond the observed times', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ time: fc.integer({ min: 0, max: 300 }), isCensored: fc.boolean() }), {
        minLength: 1,
        maxLength: 20,
      }),
      fc.integer({ min: 0, max: 400 }),
      (all, elapsed) => {
        const curve = getCurve(all);
        const rounded = inBins(all);
        const end = Math.max(...all.map((run) => run.time));
        const left = lastingBeyond(rounded, elapsed);
        let wanted = elapsed;
        if (left > 0 && elapsed < end) {
          let area = 0;
          for (let at = elapsed; at < end; at++) area += lastingBeyond(rounded, at);
          wanted = (area + lastingBeyond(rounded, end) * end) / left;
        }
        const found = curve.expectedRemaining(elapsed) ?? -1;
        if (Math.abs(found - wanted) > 1 + 1e-6 * wanted) throw new Error(`${found}, and the long way ${wanted}`);
      },
    ),
    runs(20_261_204, 800),
  );
  t.pass();
});

test('a curve is the same in whatever order runs come, as the sum of two, and once saved and read', (t) => {
  fc.assert(
    fc.property(someRuns, fc.nat({ max: 60 }), (all, at) => {
      const curve = getCurve(all);
      const sum = getCurve(all.slice(at));
      sum.addAll(getCurve(all.slice(0, at)));
      sum.check();
      const again = TimeCurve.restore(JSON.parse(JSON.stringify(curve.save())) as ReturnType<TimeCurve['save']>);
      again.check();
      const saved = JSON.stringify(curve.save());
      for (const other of [getCurve(all.toReversed()), sum, again])
        if (JSON.stringify(other.save()) !== saved) throw new Error(`${JSON.stringify(other.save())} is not ${saved}`);
      for (const share of [0.5, 0.9, 1])
        if (again.quantile(share) !== curve.quantile(share)) throw new Error('quantiles differ once read');
    }),
    runs(20_261_205, 500),
  );
  t.pass();
});

test('a curve from sums alone agrees with them', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10 ** 9 }), { maxLength: 30 }), (times) => {
      const sums = {
        count: times.length,
        sum: times.reduce((sum, one) => sum + one, 0),
        longest: Math.max(0, ...times),
      };
      const curve = TimeCurve.fromSums(sums);
      curve.check();
      return (
        curve.count === sums.count &&
        curve.sum === sums.sum &&
        curve.longest === sums.longest &&
        (sums.count === 0 || curve.quantile(1) === sums.longest)
      );
    }),
    runs(20_261_206, 500),
  );
  t.pass();
});

test('a machine at par stays near it however often its runs are cut off, and one three times as slow is found out', (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 3),
      fc.double({ min: 0.2, max: 4, noNaN: true }),
      fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 400, maxLength: 400 }),
      (factor, cut, draws) => {
        const usual = new TimeCurve();
        for (const draw of draws) usual.add(500 + draw);
        let slowness = unknownSlowness;
        for (const draw of draws.slice(0, 60)) {
          const time = (500 + draw) * factor;
          const limit = cut * 1000;
          slowness = compareRun(
            slowness,
            time > limit ? { time: limit, isCensored: true } : { time, isCensored: false },
            usual,
          );
        }
        const found = slownessFactor(slowness);
        if (factor === 1 && (found < 0.8 || found > 1.25)) throw new Error(`a machine at par, cut at ${cut}: ${found}`);
        if (factor === 3 && cut > 2 && found < 1.5) throw new Error(`a slow machine, cut at ${cut}: ${found}`);
      },
    ),
    runs(20_261_207, 100),
  );
  t.pass();
});

test('the longer a run lasts, the longer it is expected to last in all, on a machine of any slowness', (t) => {
  const instants = fc.array(fc.integer({ min: 0, max: 6000 }), { minLength: 2, maxLength: 20 });
  fc.assert(
    fc.property(someRuns, instants, fc.constantFrom(0.3, 1, 1.7, 40), (all, drawn, ratio) => {
      const curve = getCurve(all);
      const slowness = { sum: ratio * 60, count: 60 };
      let before = 0;
      for (const elapsed of drawn.toSorted((a, b) => a - b)) {
        const total = expectedTotalOn(curve, slowness, elapsed) ?? -1;
        if (total < before || total < elapsed)
          throw new Error(`${total} in all after ${elapsed}, and ${before} before`);
        before = total;
      }
    }),
    runs(20_261_208, 500),
  );
  t.pass();
});
