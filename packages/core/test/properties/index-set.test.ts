import test from 'ava';
import fc from 'fast-check';
import { IndexSet } from '@mutirao/core/shared';
import { runs } from '@mutirao/testkit';

/** Indexes around the seams of words and chunks, and a few far out. */
const index = fc.oneof(
  fc.nat({ max: 40 }),
  fc.nat({ max: 9000 }),
  fc.constantFrom(31, 32, 4095, 4096, 4097, 8191, 8192, 100_000),
);
const operation = fc.oneof(
  fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), index, count: fc.constant(1) }),
  fc.record({
    kind: fc.constant('range' as const),
    index,
    count: fc.oneof(fc.nat({ max: 70 }), fc.nat({ max: 9000 })),
  }),
  fc.record({ kind: fc.constant('empty' as const), index, count: fc.nat({ max: 9000 }) }),
);

test('a set of indexes does what a Set does', (t) => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 25 }), fc.array(index, { maxLength: 10 }), (operations, probes) => {
      const set = new IndexSet();
      const reference = new Set<number>();
      for (const done of operations) {
        if (done.kind === 'add') same(set.add(done.index), !reference.has(done.index), reference.add(done.index));
        else if (done.kind === 'delete') same(set.delete(done.index), reference.delete(done.index));
        else if (done.kind === 'range') {
          set.addRange(done.index, done.count);
          for (let offset = 0; offset < done.count; offset++) reference.add(done.index + offset);
        } else {
          for (let offset = 0; offset < done.count; offset++)
            same(set.delete(done.index + offset), reference.delete(done.index + offset));
        }
        same(
          set.findFrom(0),
          [...reference].reduce<number | undefined>((least, each) => Math.min(least ?? each, each), undefined),
        );
      }
      const sorted = [...reference].sort((one, other) => one - other);
      same(set.size, reference.size);
      same(JSON.stringify([...set.values()]), JSON.stringify(sorted));
      for (const probe of probes) {
        same(set.has(probe), reference.has(probe));
        same(
          set.findFrom(probe),
          sorted.find((each) => each >= probe),
        );
      }
      const other = IndexSet.fromRanges(probes.map((first) => ({ first, count: 5000 })));
      same(JSON.stringify([...set.valuesIn(other)]), JSON.stringify(sorted.filter((each) => other.has(each))));
      same(JSON.stringify([...other.valuesIn(set)]), JSON.stringify([...set.valuesIn(other)]));
      const again = IndexSet.fromRanges([...set.ranges()]);
      same(JSON.stringify([...again.ranges()]), JSON.stringify([...set.ranges()]));
      same(again.size, set.size);
    }),
    runs(7, 300),
  );
  t.pass();
});

function same(actual: unknown, expected: unknown, _effect?: unknown): void {
  if (actual !== expected) throw new Error(`found ${String(actual)}, expected ${String(expected)}`);
}

test('ranges do not touch, and cost nothing where a million indexes are members', (t) => {
  const set = new IndexSet();
  set.addRange(0, 1_000_000);
  t.true(set.delete(500_000));
  t.deepEqual(
    [...set.ranges()],
    [
      { first: 0, count: 500_000 },
      { first: 500_001, count: 499_999 },
    ],
  );
  t.true(set.add(500_000));
  t.deepEqual([...set.ranges()], [{ first: 0, count: 1_000_000 }]);
  set.clear();
  t.is(set.findFrom(0), undefined);
});

test('the greatest index that a task may have fits', (t) => {
  const set = new IndexSet();
  set.add(2 ** 31 - 1);
  t.true(set.has(2 ** 31 - 1));
  t.is(set.findFrom(5), 2 ** 31 - 1);
  t.deepEqual([...set.ranges()], [{ first: 2 ** 31 - 1, count: 1 }]);
});
