// The tree is what a sorted array would be, and stays as low as its weights promise.
import test from 'ava';
import fc from 'fast-check';
import { runs } from '@mutirao/testkit';
import { OrderTree } from '../../../src/queue/order-tree.ts';
import { goesBefore, PlanEntry } from '../../../src/queue/request-list.ts';

const anyChange = fc.record({
  isAdded: fc.boolean(),
  pick: fc.nat(),
  rank: fc.integer({ min: 0, max: 12 }),
  walltime: fc.integer({ min: 1, max: 9 }),
  place: fc.constantFrom(Infinity, 3, 7),
});

test('a tree has at every time what a sorted list has, and finds the same', (t) => {
  fc.assert(
    fc.property(fc.array(anyChange, { maxLength: 80 }), (changes) => {
      const tree = new OrderTree();
      let list: PlanEntry[] = [];
      changes.forEach(({ isAdded, pick, rank, walltime, place }, order) => {
        const entry = new PlanEntry(order, rank, { id: order, width: 2, walltime });
        entry.place = place;
        const gone = list[pick % Math.max(1, list.length)];
        if (isAdded || gone === undefined) {
          t.is(tree.findLastBefore(entry), list.filter((one) => goesBefore(one, entry)).at(-1));
          tree.add(entry);
          list = [...list, entry].sort((one, other) => (goesBefore(one, other) ? -1 : 1));
        } else {
          tree.remove(gone);
          list = list.filter((one) => one !== gone);
        }
        const ahead = list.filter((one) => one.rank <= rank);
        t.deepEqual(tree.sumProvisioning(rank), {
          count: ahead.length,
          work: ahead.reduce((sum, one) => sum + 2 * one.walltime, 0),
        });
        t.is(
          tree.findFirst(walltime - 1, 3),
          list.find((one) => one.walltime <= walltime - 1 || one.place <= 3),
        );
        t.is(tree.leastWalltime, Math.min(...list.map((one) => one.walltime)));
        t.is(tree.leastPlace, Math.min(...list.map((one) => one.place)));
        t.is(tree.size, list.length);
      });
    }),
    runs(20_261_123, 200),
  );
});

test('an entry that is not in stays out, also one of the same rank', (t) => {
  const tree = new OrderTree();
  const [one, other] = [0, 1].map((order) => new PlanEntry(order, 5, { id: order, width: 1, walltime: 1 })) as [
    PlanEntry,
    PlanEntry,
  ];
  tree.add(one);
  tree.remove(other);
  t.is(tree.size, 1);
});

test('entries that come sorted are compared with few others: the tree does not become a list', (t) => {
  for (const sign of [1, -1]) {
    const tree = new OrderTree();
    for (let order = 0; order < 20_000; order += 1)
      tree.add(new PlanEntry(order, sign * order, { id: order, width: 1, walltime: 1 }));
    let readCount = 0;
    const probe = new PlanEntry(30_000, 30_000, { id: 0, width: 1, walltime: 1 });
    Object.defineProperty(probe, 'rank', {
      get: () => {
        readCount += 1;
        return 9999.5;
      },
    });
    tree.findLastBefore(probe);
    // 2.41 x log2(20,000) levels at most, at each of which the rank is read twice.
    t.true(readCount <= 2 * 2.41 * Math.log2(20_000) && readCount > 10, `read ${readCount} times`);
  }
});
