import test from 'ava';
import { Prng } from '../../../src/shared/index.ts';
import { LoadedRows, OrderedTree } from '../../../src/shared/ordered-tree.ts';

/** A tree beside a plain map, asked the same. */
class Pair {
  readonly tree = new OrderedTree();
  readonly rows = new Map<string, { readonly first: number; readonly second: number; readonly value: number }>();

  load(count: number): void {
    const rows = new LoadedRows(count);
    for (let index = 0; index < count; index += 1) {
      const row = { first: Math.floor(index / 500), second: 10 * (index % 500), value: index };
      rows.push(row.first, row.second, row.value);
      this.rows.set(`${row.first} ${row.second}`, row);
    }
    this.tree.load(rows);
  }

  set(first: number, second: number, value: number): void {
    this.tree.set(first, second, value);
    this.rows.set(`${first} ${second}`, { first, second, value });
  }

  /** Whether both had it. */
  remove(first: number, second: number): boolean {
    return this.tree.remove(first, second) === this.rows.delete(`${first} ${second}`);
  }

  /** What both have, in order. */
  lists(): [unknown[], unknown[]] {
    const found: unknown[] = [];
    this.tree.visit(-Infinity, -Infinity, (first, second, value) => found.push({ first, second, value }) > 0);
    return [found, [...this.rows.values()].sort((one, other) => one.first - other.first || one.second - other.second)];
  }

  findUpTo(first: number, second: number): { readonly second: number; readonly value: number } | undefined {
    let found: { second: number; value: number } | undefined;
    for (const row of this.rows.values())
      if (row.first === first && row.second <= second && row.second > (found?.second ?? -1))
        found = { second: row.second, value: row.value };
    return found;
  }
}

test('whatever is looked up, set and removed in any order, a tree has what a plain map has', (t) => {
  const pair = new Pair();
  pair.load(3000);
  const random = new Prng('ordered-tree');
  const draw = (limit: number): number => Math.floor(random.fraction() * limit);
  for (let round = 0; round < 400; round += 1) {
    // More go than come for a while, so that leaves are joined, and then the other way, so that they are cut.
    const [first, near, isShrinking] = [draw(6), draw(5000), round % 200 < 120];
    t.deepEqual(pair.tree.findUpTo(first, near), pair.findUpTo(first, near));
    for (let step = 0; step < 30; step += 1) {
      const second = near + draw(300) - 150;
      if (random.fraction() < (isShrinking ? 0.95 : 0.1))
        t.true(pair.remove(first, second - (second % 10)), `${first} ${second}`);
      else pair.set(first, second, round);
      if (step % 10 === 0) t.is(pair.tree.find(first, second), pair.rows.get(`${first} ${second}`)?.value);
    }
    t.is(pair.tree.size, pair.rows.size);
  }
  pair.tree.checkInvariants();
  const [found, wanted] = pair.lists();
  t.deepEqual(found, wanted);
});

test('a tree that is loaded again has nothing of what it had', (t) => {
  const tree = new OrderedTree();
  tree.set(1, 1, 5);
  t.is(tree.find(1, 1), 5);
  const rows = new LoadedRows(1);
  rows.push(1, 1, 7);
  tree.load(rows);
  t.is(tree.find(1, 1), 7);
});

test('a value that is set in a leaf that was searched before, and joined with another since, is not lost', (t) => {
  const tree = new OrderedTree();
  const rows = new LoadedRows(96);
  for (let second = 0; second < 96; second += 1) rows.push(1, second, second);
  tree.load(rows);
  // Two leaves of 48 rows: 17 and 16 are left of them, one more than are joined.
  for (let second = 0; second < 80; second += 1) if (second < 31 || second > 47) tree.remove(1, second);
  t.is(tree.find(1, 90), 90);
  tree.remove(1, 40);
  tree.set(1, 85.5, -1);
  const found: number[] = [];
  tree.visit(1, 80, (_first, second) => found.push(second) < 7);
  t.deepEqual(found, [80, 81, 82, 83, 84, 85, 85.5]);
  tree.checkInvariants();
});
